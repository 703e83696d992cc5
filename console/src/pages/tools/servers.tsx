/** The servers and providers behind the tools: whether they are there, and whether something is held back from them. */
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Card } from '../../parts/card.tsx';
import { Foreign } from '../../parts/foreign.tsx';
import { lengthOf } from '../../state/time.ts';

export interface Status {
  readonly ready: boolean;
  readonly in_flight: number;
  readonly store: string;
  readonly uptime_seconds: number;
  readonly version: string;
  readonly role: string;
  readonly mode: 'enforce' | 'audit' | null;
  readonly upstreams: readonly {
    readonly name: string;
    readonly state: string;
    readonly tools: number;
    readonly problem: string | null;
  }[];
  readonly recovery: readonly {
    readonly upstream: string;
    readonly breaker: 'closed' | 'open' | 'half_open';
    readonly retries: number;
    readonly tokens: number;
  }[];
  readonly models: readonly { readonly name: string; readonly state: string; readonly problem: string | null }[];
  readonly credentials: readonly {
    readonly name: string;
    readonly provider: string;
    readonly state: string;
    readonly reason: string | null;
  }[];
  readonly drift: readonly string[];
  readonly warnings: readonly { readonly file: string; readonly line: number; readonly message: string }[];
}

const stateTones: Readonly<Record<string, Tone>> = {
  connected: 'good',
  connecting: 'busy',
  waiting: 'bad',
  closed: 'quiet',
  ok: 'good',
  failing: 'bad',
  not_fetched: 'quiet',
};
const breakerTones = { closed: 'good', half_open: 'held', open: 'bad' } as const;
const breakerWords = { closed: 'closed', half_open: 'trying again', open: 'open: nothing is sent' } as const;

export function Servers({ status }: { readonly status: Status }) {
  const health = new Map(status.recovery.map((each) => [each.upstream, each]));
  const named = new Set(status.upstreams.map(({ name }) => name));
  const others = status.recovery.filter(({ upstream }) => !named.has(upstream));
  return (
    <Card
      title="Servers"
      extra={
        <span class="quiet number">
          version {status.version}, {status.role} of the store, up {lengthOf(status.uptime_seconds * 1_000)},{' '}
          {status.in_flight} under way
        </span>
      }
    >
      {status.mode === 'audit' && (
        <p class="problem">Audit mode: what policy denies is not stopped, it only goes on record.</p>
      )}
      <div class="wide">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Server</th>
              <th scope="col">State</th>
              <th scope="col">Breaker</th>
              <th scope="col" class="right">
                Retries
              </th>
              <th scope="col" class="right">
                Tools
              </th>
              <th scope="col">Problem</th>
            </tr>
          </thead>
          <tbody>
            {status.upstreams.map(({ name, state, tools, problem }) => (
              <ServerRow key={name} {...{ name, state, tools, problem }} health={health.get(name)} />
            ))}
            {others.map((each) => (
              <ServerRow
                key={each.upstream}
                name={each.upstream}
                state={null}
                tools={null}
                problem={null}
                health={each}
              />
            ))}
            {[...status.models, ...status.credentials.map((each) => ({ ...each, problem: each.reason }))].map(
              ({ name, state, problem }) => (
                <ServerRow key={name + state} {...{ name, state, problem }} tools={null} health={undefined} />
              ),
            )}
          </tbody>
        </table>
      </div>
      {status.upstreams.length + others.length === 0 && <p class="quiet">No server is configured.</p>}
      <Notes status={status} />
    </Card>
  );
}

interface ServerRowProps {
  readonly name: string;
  readonly state: string | null;
  readonly tools: number | null;
  readonly problem: string | null;
  readonly health: Status['recovery'][number] | undefined;
}

function ServerRow({ name, state, tools, problem, health }: ServerRowProps) {
  return (
    <tr>
      <th scope="row">
        <Foreign text={name} max={60} />
      </th>
      <td>{state === null ? '' : <Badge tone={stateTones[state] ?? 'quiet'}>{state.replaceAll('_', ' ')}</Badge>}</td>
      <td>
        {health === undefined ? (
          <span class="quiet">–</span>
        ) : (
          <Badge tone={breakerTones[health.breaker]}>{breakerWords[health.breaker]}</Badge>
        )}
      </td>
      <td class="number right">{health?.retries ?? ''}</td>
      <td class="number right">{tools ?? ''}</td>
      <td>{problem === null ? '' : <Foreign text={problem} max={200} />}</td>
    </tr>
  );
}

function Notes({ status: { drift, warnings } }: { readonly status: Status }) {
  if (drift.length + warnings.length === 0) return null;
  return (
    <ul class="notes">
      {drift.map((line) => (
        <li key={line}>
          <Badge tone="held">drift</Badge> <Foreign text={line} max={300} />
        </li>
      ))}
      {warnings.map(({ file, line, message }) => (
        <li key={`${file}:${line}:${message}`}>
          <Badge tone="held">warning</Badge> {file}:{line} <Foreign text={message} max={300} />
        </li>
      ))}
    </ul>
  );
}
