/** The state of the session after the chosen entry, as the workflow's author shows it. */
import type { PathEntry, SessionState } from '../../../../src/core/workflow/trace/session-graph.ts';
import { Countdown } from '../../parts/countdown.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { Load } from '../../parts/load.tsx';
import { get } from '../../state/api.ts';
import { useResource } from '../../state/resource.ts';

interface StateThenProps {
  readonly session: string;
  readonly seq: number;
  readonly entry: PathEntry | null;
}

export function StateThen({ session, seq, entry }: StateThenProps) {
  const at = `/v1/sessions/${encodeURIComponent(session)}/state?seq=${seq}`;
  const state = useResource((signal) => get<SessionState>(at, signal), [at]);
  return (
    <section class="card" aria-label="State">
      <header class="card-head">
        <h2>State after step {seq}</h2>
      </header>
      <div class="card-body stack">
        {entry !== null && entry.active === null ? (
          <p class="quiet">This state is not kept any more.</p>
        ) : (
          <Load of={state}>
            {({ active, state: shown, done, timers }) => (
              <>
                <p>
                  {active.map((id) => (
                    <Foreign key={id} text={`${id} `} code max={80} />
                  ))}
                  {done && <span class="quiet">(final)</span>}
                </p>
                {shown === null ? (
                  <p class="quiet">The author of the workflow shows nothing of the context.</p>
                ) : (
                  <Foreign text={JSON.stringify(shown, null, 2)} block code />
                )}
                {timers.map(({ id, due_at: due }) => (
                  <p key={id} class="quiet">
                    timer <Foreign text={id} code max={80} />: <Countdown to={due} over="due" />
                  </p>
                ))}
              </>
            )}
          </Load>
        )}
      </div>
    </section>
  );
}
