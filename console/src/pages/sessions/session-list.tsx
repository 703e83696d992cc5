/** The list of sessions, the last used first, with filters that stand in the address. */
import { Foreign } from '../../parts/foreign.tsx';
import { Load } from '../../parts/load.tsx';
import { Empty } from '../../parts/notice.tsx';
import { Age } from '../../parts/time.tsx';
import { get, withQuery } from '../../state/api.ts';
import { useResource } from '../../state/resource.ts';
import { changeQuery, linkTo, route } from '../../state/route.ts';
import { SessionStatusBadge, type SessionStatus, statuses } from './session-status.tsx';

interface ListedSession {
  readonly session: string;
  readonly agent: string;
  readonly workflow: string;
  readonly seq: number;
  readonly status: SessionStatus;
  readonly reason: string | null;
  readonly last_used_at: string;
}

const everyMs = 5_000;
const maxListed = 200;

export function SessionList() {
  const { agent = '', workflow = '', status = '' } = route.value.query;
  const at = withQuery('/v1/sessions', { agent, workflow, status, limit: maxListed });
  const list = useResource(
    (signal) => get<{ readonly sessions: readonly ListedSession[]; readonly complete: boolean }>(at, signal),
    [at],
    everyMs,
  );
  const isFiltered = agent !== '' || workflow !== '' || status !== '';
  return (
    <>
      <form class="row filters" aria-label="Filters" onSubmit={(event) => event.preventDefault()}>
        <Filter name="workflow" value={workflow} />
        <Filter name="agent" value={agent} />
        <div class="field">
          <label for="filter-status">Status</label>
          <select
            id="filter-status"
            value={status}
            onChange={(event) => changeQuery({ status: event.currentTarget.value })}
          >
            <option value="">any</option>
            {statuses.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </div>
      </form>
      <Load of={list}>
        {({ sessions, complete }) =>
          sessions.length === 0 ? (
            <Nothing isFiltered={isFiltered} />
          ) : (
            <div class="card table-scroll">
              <table class="session-table" aria-label="Sessions">
                <thead>
                  <tr>
                    <th scope="col">Session</th>
                    <th scope="col">Workflow</th>
                    <th scope="col">Status</th>
                    <th scope="col">Agent</th>
                    <th scope="col">Steps</th>
                    <th scope="col">Last used</th>
                  </tr>
                </thead>
                <tbody>
                  {sessions.map((session) => (
                    <Row key={session.session} session={session} />
                  ))}
                </tbody>
              </table>
              {!complete && <p class="quiet card-body">There are more: only the newest are listed.</p>}
            </div>
          )
        }
      </Load>
    </>
  );
}

function Row({ session }: { readonly session: ListedSession }) {
  const { session: id, workflow, status, reason, agent, seq, last_used_at: at } = session;
  return (
    <tr>
      <td>
        <a href={linkTo('sessions', id)}>
          <Foreign text={id} code max={40} />
        </a>
      </td>
      <td>
        <Foreign text={workflow} max={60} />
      </td>
      <td>
        <SessionStatusBadge status={status} />{' '}
        {reason !== null && (
          <span class="quiet">
            <Foreign text={reason} max={80} />
          </span>
        )}
      </td>
      <td>
        <Foreign text={agent} max={60} />
      </td>
      <td class="number">{seq}</td>
      <td>
        <Age at={at} />
      </td>
    </tr>
  );
}

function Filter({ name, value }: { readonly name: 'agent' | 'workflow'; readonly value: string }) {
  return (
    <div class="field">
      <label for={`filter-${name}`}>{name === 'agent' ? 'Agent' : 'Workflow'}</label>
      <input
        id={`filter-${name}`}
        type="search"
        placeholder="any"
        value={value}
        onChange={(event) => changeQuery({ [name]: event.currentTarget.value.trim() })}
      />
    </div>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty icon="sessions" title="No session matches">
        <a href={linkTo('sessions')}>Show all of them</a>
      </Empty>
    );
  return (
    <Empty icon="sessions" title="No workflow session yet">
      <p>
        A workflow says which actions are legal in which state. Write one under <code>workflows</code> in recourse.yaml;
        when an agent takes its first step, its session is here with the machine, the path and every refusal.
      </p>
    </Empty>
  );
}
