/**
 * `tools/call` over HTTP by a raw client: through the gateway, straight to the server behind it, and through another
 * gateway. Reports the median time of a call and the CPU time that the serving process spends on it. Sets no bar.
 */
import path from 'node:path';
import { type Child, startChild } from '../child.ts';
import { cpuTimeMs, drive, median, type Row } from '../measure.ts';
import { startPeer } from './peer.ts';
import { connectRaw, type RawClient, type Revision } from './raw-client.ts';
import { inputs } from './ring.ts';

const rounds = 5;
/** Calls of one round, by the number of connections. */
const runsOf: Readonly<Record<number, number>> = { 1: 300, 16: 1_200, 64: 1_500 };
const connections = Object.keys(runsOf).map(Number);
/** V8 compiles the busy code within the first thousands of calls. */
const warmRuns = 3_000;
const warmConnections = 16;
const warmMaxMs = 30_000;

interface Side {
  readonly name: string;
  readonly server: Pick<Child, 'url' | 'pid'>;
  readonly revision: Revision;
  readonly tool: string;
}

interface Figures {
  readonly p50Ms: number;
  /** User and system time of the process for one call; NaN where the system does not tell. */
  readonly cpuMs: number;
}

export async function benchMcpTools(folder: string): Promise<readonly Row[]> {
  const upstream = await startChild('./mcp/bare-child.ts', 'echo');
  const gateway = await startChild('./mcp/gateway-child.ts', 'tools', path.join(folder, 'tools.db'), upstream.url);
  const peer = await startPeer(folder, upstream.url);
  const sides: readonly Side[] = [
    { name: 'direct, 2026-07-28', server: upstream, revision: '2026-07-28', tool: 'step' },
    { name: 'ours, 2026-07-28', server: gateway, revision: '2026-07-28', tool: 'up/step' },
    { name: 'direct, 2025-11-25', server: upstream, revision: '2025-11-25', tool: 'step' },
    { name: 'ours, 2025-11-25', server: gateway, revision: '2025-11-25', tool: 'up/step' },
    // The other gateway speaks the older revision only.
    { name: 'peer', server: peer, revision: '2025-11-25', tool: 'step' },
  ];
  for (const side of sides) await warm(side);
  const figures = await measureAll(sides);
  for (const child of [gateway, peer, upstream]) await child.stop();

  const rows = (ours: string, other: string, what: string): Row[] =>
    connections.map((count) => compare(`${what} at ${count}`, figures(ours, count), figures(other, count)));
  return [
    ...rows('ours, 2026-07-28', 'direct, 2026-07-28', 'tools/call (2026-07-28), p50 of the direct call'),
    ...rows('ours, 2025-11-25', 'direct, 2025-11-25', 'tools/call (2025-11-25), p50 of the direct call'),
    ...rows('ours, 2025-11-25', 'peer', 'tools/call (2025-11-25), p50 of @fiberplane/mcp-gateway 0.7.1'),
  ];
}

/** Connections are opened for each round: a server closes those that are idle while the other sides have their turn. */
async function withClients<Result>(
  { server, revision, tool }: Side,
  count: number,
  act: (clients: readonly RawClient[]) => Promise<Result>,
): Promise<Result> {
  const opening = Array.from({ length: count }, () => connectRaw(server.url, revision, tool, inputs));
  const clients = await Promise.all(opening);
  try {
    return await act(clients);
  } finally {
    for (const client of clients) client.close();
  }
}

/** The same number of calls for every side, unless one of them takes too long for that. */
async function warm(side: Side): Promise<void> {
  const started = performance.now();
  let made = 0;
  await withClients(side, warmConnections, (clients) =>
    drive(warmConnections, warmRuns, async (_, caller) => {
      if (performance.now() - started >= warmMaxMs) return;
      await clients[caller]?.call();
      made += 1;
    }),
  );
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  process.stderr.write(`warmed ${side.name} by ${made} calls in ${seconds} s\n`);
}

/** Medians over the rounds, of each side at each number of connections. */
async function measureAll(sides: readonly Side[]): Promise<(side: string, count: number) => Figures> {
  const seen = new Map<string, Figures[]>();
  for (let round = 0; round < rounds; round++)
    for (const count of connections)
      for (const side of sides) {
        const name = `${side.name} ${count}`;
        seen.set(name, [...(seen.get(name) ?? []), await measure(side, count)]);
      }
  return (side, count) => {
    const all = seen.get(`${side} ${count}`) ?? [];
    return { p50Ms: median(all.map(({ p50Ms }) => p50Ms)), cpuMs: median(all.map(({ cpuMs }) => cpuMs)) };
  };
}

function measure(side: Side, count: number): Promise<Figures> {
  const runs = runsOf[count] ?? 1_000;
  return withClients(side, count, async (clients) => {
    const before = cpuTimeMs(side.server.pid);
    const { p50Ms } = await drive(count, runs, async (_, caller) => clients[caller]?.call());
    return { p50Ms, cpuMs: (cpuTimeMs(side.server.pid) - before) / runs };
  });
}

const compare = (what: string, ours: Figures, other: Figures): Row => ({
  what: `${what} connection${what.endsWith(' 1') ? '' : 's'}`,
  ratio: ours.p50Ms / other.p50Ms,
  bar: null,
  detail: `${ms(ours.p50Ms)} of ${ms(other.p50Ms)}; CPU of the process ${ms(ours.cpuMs)} and ${ms(other.cpuMs)} a call`,
});

const ms = (value: number): string => (Number.isNaN(value) ? 'not known' : `${value.toFixed(2)} ms`);
