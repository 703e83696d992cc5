/** How the rollback of a session stands: each call with what became of undoing it. Nothing for a session without one. */
import type { RollbackView } from '../../../../src/core/reversal/reversal-view.ts';
import { Badge } from '../../parts/badge.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { ForeignLink } from '../../parts/foreign-link.tsx';
import { Age } from '../../parts/time.tsx';
import { get } from '../../state/api.ts';
import { useResource } from '../../state/resource.ts';
import { linkTo } from '../../state/route.ts';

const everyMs = 5_000;

/** `asked`: changes whenever somebody did something with the session. */
export function RollbackNote({ session, asked }: { readonly session: string; readonly asked: number }) {
  const at = `/v1/sessions/${encodeURIComponent(session)}/rollback`;
  const rollback = useResource((signal) => get<RollbackView>(at, signal), [at, asked], asked > 0 ? everyMs : undefined);
  const now = rollback.state.value.value;
  // A session that nobody rolls back has none, which is no problem.
  if (now === null) return null;
  return (
    <section class="card" aria-label="Rollback">
      <header class="card-head">
        <h2>Rollback</h2>
        <Badge tone={now.state === 'running' ? 'busy' : 'good'}>{now.state}</Badge>
      </header>
      <div class="card-body stack">
        <p class="quiet">
          By <Foreign text={now.by} max={60} />, <Age at={now.started_at} />: <Foreign text={now.reason} />
        </p>
        <ul class="rollback" aria-label="Calls that are undone">
          {now.steps.map(({ call_id: call, tool, outcome, why }) => (
            <li key={call}>
              <ForeignLink href={linkTo('calls', call)} text={tool} /> <b>{outcome.replaceAll('_', ' ')}</b>{' '}
              {why !== null && <Foreign text={why} />}
            </li>
          ))}
        </ul>
        {now.left > 0 && <p class="quiet">{now.left} calls took effect, or may have, and were not undone.</p>}
      </div>
    </section>
  );
}
