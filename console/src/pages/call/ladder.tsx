/** The ladder of gates: what each answered, what it saw, and why. Gates that have nothing to enforce are left out. */
import type { CallStoryView } from '../../../../src/core/http/look/call-look.ts';
import type { Rung } from '../../../../src/core/gates/explain.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Card } from '../../parts/card.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Time } from '../../parts/time.tsx';

const answers: Readonly<Record<Rung['answer'], readonly [Tone, string]>> = {
  passed: ['good', 'Passed'],
  refused: ['bad', 'Refused'],
  held: ['held', 'Held'],
  softened: ['held', 'Let pass'],
  not_asked: ['quiet', 'Not asked'],
  absent: ['quiet', 'Absent'],
};

/** The question that each gate asks, in plain words. */
const questions: Readonly<Record<Rung['gate'], string>> = {
  ready: 'Is the gateway ready?',
  session: 'Is the session open?',
  known: 'Is the tool known?',
  reachable: 'May this step be taken now?',
  input: 'Do the arguments fit?',
  fence: 'Is an equal call in doubt?',
  policy: 'Does policy permit it?',
  model: 'Is the model permitted?',
  egress: 'May the host be reached?',
  rate: 'Is there rate left?',
  budget: 'Is there budget left?',
  approval: 'Has a person approved it?',
  evidence: 'Is what it relies on still true?',
  credential: 'Is its credential there?',
};

export function Ladder({ story }: { readonly story: CallStoryView }) {
  return (
    <Card
      title="Decision"
      extra={
        story.decided !== null && (
          <span class="quiet">
            record {story.decided.record} at <Time at={story.decided.at} />
          </span>
        )
      }
    >
      {story.ladder.length === 0 ? (
        <p class="quiet">No decision of this call is on record.</p>
      ) : (
        <Rungs ladder={story.ladder} />
      )}
    </Card>
  );
}

export function Rungs({ ladder }: { readonly ladder: readonly Rung[] }) {
  const shown = ladder.filter(({ answer }) => answer !== 'absent');
  const absent = ladder.filter(({ answer }) => answer === 'absent').map(({ gate }) => gate);
  return (
    <>
      <ol class="ladder">
        {shown.map((rung) => (
          <RungRow key={rung.gate} rung={rung} />
        ))}
      </ol>
      {absent.length > 0 && <p class="quiet ladder-absent">Nothing to enforce for: {absent.join(', ')}.</p>}
    </>
  );
}

function RungRow({ rung }: { readonly rung: Rung }) {
  const [tone, word] = answers[rung.answer];
  const hasSeen = Object.keys(rung.saw).length > 0;
  return (
    <li class={`rung rung-${rung.answer}`}>
      <div class="rung-line">
        <strong>{rung.gate}</strong>
        <span class="quiet">{questions[rung.gate]}</span>
        <Badge tone={tone}>{word}</Badge>
      </div>
      {rung.why !== null && (
        <p class="rung-why">
          <Foreign text={rung.why} max={600} />
        </p>
      )}
      {rung.change !== null && (
        <p class="quiet">
          To change it: <Foreign text={rung.change} max={600} />
        </p>
      )}
      {hasSeen && (
        <details>
          <summary>What it saw</summary>
          <JsonView value={rung.saw} />
        </details>
      )}
    </li>
  );
}
