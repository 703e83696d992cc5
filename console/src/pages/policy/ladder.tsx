/** The ladder of gates about one call: what each answered and why, and what would have to change. */
import type { Explanation, Rung } from '../../../../src/core/gates/explain.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Foreign } from '../../parts/foreign.tsx';

const tones: Readonly<Record<Rung['answer'], Tone>> = {
  passed: 'good',
  refused: 'bad',
  held: 'held',
  softened: 'held',
  not_asked: 'quiet',
  absent: 'quiet',
};

const verdicts = {
  run: ['good', 'It would run'],
  refuse: ['bad', 'It would be refused'],
  hold: ['held', 'It would wait for a person'],
} as const;

export function Ladder({ explained }: { readonly explained: Explanation }) {
  const [tone, says] = verdicts[explained.decision];
  return (
    <div class="ladder" role="status">
      <p class="row">
        <Badge tone={tone}>{says}</Badge>
        {explained.reply !== null && <Foreign text={explained.reply.message} />}
      </p>
      <ol aria-label="Gates">
        {explained.rungs.map(({ gate, answer, why, change }) => (
          <li key={gate} class={`rung rung-${answer}`}>
            <span class="rung-gate">{gate}</span>
            <Badge tone={tones[answer]}>{answer.replaceAll('_', ' ')}</Badge>
            {why !== null && <Foreign text={why} max={300} />}
            {change !== null && (
              <span class="quiet">
                To pass: <Foreign text={change} max={300} />
              </span>
            )}
          </li>
        ))}
      </ol>
      {explained.rules.length > 0 && (
        <details>
          <summary>Rules that were looked at</summary>
          <ul class="rule-list">
            {explained.rules.map(({ ref, result, problem }) => (
              <li key={ref}>
                <Foreign text={ref} code max={80} />
                <span>
                  {result.replaceAll('_', ' ')}
                  {problem !== null && (
                    <>
                      : <Foreign text={problem} />
                    </>
                  )}
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
