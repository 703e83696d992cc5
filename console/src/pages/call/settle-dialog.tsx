/** Says what became of a call in doubt. A no during quarantine must be confirmed on its own. */
import { useState } from 'preact/hooks';
import type { CallStoryView } from '../../../../src/core/http/look/call-look.ts';
import { Act } from '../../parts/act.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { post } from '../../state/api.ts';

type Happened = 'yes' | 'no' | 'unknown';

const choices: readonly (readonly [Happened, string, string])[] = [
  ['yes', 'It happened', 'The effect is there. The call succeeds, and an equal step of its workflow takes its result.'],
  ['no', 'It did not happen', 'Nothing changed. The call fails without effect, and may be asked for again.'],
  ['unknown', 'Nobody can tell', 'The call is closed as unknown. What it held of budgets stays spent.'],
];

interface SettleDialogProps {
  readonly story: CallStoryView;
  readonly close: () => void;
  readonly done: () => void;
}

export function SettleDialog({ story, close, done }: SettleDialogProps) {
  const [happened, setHappened] = useState<Happened | null>(null);
  const [force, setForce] = useState(false);
  const path = `/v1/calls/${encodeURIComponent(story.call.call_id)}/settle`;
  return (
    <Dialog title="Settle the doubt" close={close}>
      <p>Look at the upstream first: what is said here goes on record with your name, and is final.</p>
      <fieldset class="choices">
        <legend class="only-heard">What became of it</legend>
        {choices.map(([value, name, says]) => (
          <label key={value} class="choice">
            <input
              type="radio"
              name="happened"
              value={value}
              checked={happened === value}
              onChange={() => setHappened(value)}
            />
            <span>
              <strong>{name}</strong>
              <span class="quiet">{says}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {happened === 'no' && (
        <label class="choice">
          <input type="checkbox" checked={force} onChange={(event) => setForce(event.currentTarget.checked)} />
          <span>
            <strong>Even if the upstream may still carry it out</strong>
            <span class="quiet">Needed before the quarantine is over; on record.</span>
          </span>
        </label>
      )}
      <Act
        needs="administer"
        kind="main"
        disabled={happened === null}
        run={() => post(path, { happened, ...(force && happened === 'no' ? { force: true } : {}) })}
        done={() => {
          done();
          close();
        }}
      >
        Settle
      </Act>
    </Dialog>
  );
}
