/** `tools/call` through the gateway to an HTTP server, beside the same call direct and through another gateway. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openCeiling, templateOf } from './ceiling.ts';
import { type Child, startChild } from './child.ts';
import { connectClient, connectClients } from './mcp-clients.ts';
import { drive, interleave, type Row } from './measure.ts';
import { inputs } from './ring.ts';

const rounds = 15;
/** The other gateway takes five times as long, and is not as close to its bar. */
const peerRounds = 5;
const runs = 150;
/** Every side is as warm as the others before the first round: compiling takes thousands of calls, and not as many for each side. */
const warmRuns = 3_000;
/** Who asks alone is served by other code than a crowd, on our side and on others'. */
const warmLoneRuns = 1_500;
const warmConnections = 16;
const warmMaxMs = 30_000;

type Client = Awaited<ReturnType<typeof connectClient>>;
type Call = () => Promise<void>;
type Sides<Name extends string> = Readonly<Record<Name, Call>>;

export async function benchMcpTools(folder: string): Promise<readonly Row[]> {
  const upstream = await startChild('./mcp-bare-child.ts', 'echo');
  const file = path.join(folder, 'tools.db');
  const gateway = await startChild('./mcp-gateway-child.ts', 'tools', file, upstream.url);
  const clients: Client[] = [];
  const side = async (what: string, url: string, tool: string): Promise<Call> => {
    const many = await connectClients(url, warmConnections);
    const calls = many.map((client) => calling(client, tool));
    await warm(what, calls);
    await Promise.all(many.map((client) => client.close()));
    const one = await connectClient(url);
    clients.push(one);
    return calling(one, tool);
  };
  const direct = await side('direct', upstream.url, 'step');
  const ours = await side('ours', gateway.url, 'up/step');
  const ceiling = await openCeiling(path.join(folder, 'ceiling.db'), templateOf(file));
  const commits = () => ceiling.call();
  await warm('commits', Array<Call>(warmConnections).fill(commits));
  // Told beside the bar: what it adds up, done in the order in which a call does it. Commits in a loop of their own find the disk, the thread and the
  // caches awake: a lone fsync after a pause as long as a call takes twice as long as in a loop, whoever asks for it.
  const all = () => ceiling.call(direct);
  const apart = await inRounds(rounds, { direct, ours, commits, all });

  // In rounds of its own: in one of its rounds everybody else would be asleep for seconds.
  const other = await startPeer(folder, upstream.url);
  const peer = await side('peer', other.url, 'step');
  const beside = await inRounds(peerRounds, { ours, peer });

  await Promise.all(clients.map((client) => client.close()));
  await ceiling.close();
  for (const child of [gateway, other, upstream]) await child.stop();

  const ms = (value: number) => `${value.toFixed(2)} ms`;
  return [
    {
      what: 'tools/call through the gateway: p50, of twice the direct call plus the two commits',
      ratio: apart.ours / (2 * apart.direct + apart.commits),
      bar: { atMost: 1 },
      detail: `${ms(apart.ours)} of 2 × ${ms(apart.direct)} + ${ms(apart.commits)}`,
    },
    {
      what: 'tools/call through the gateway: p50, of two direct calls and the two commits, one after the other',
      ratio: apart.ours / apart.all,
      bar: null,
      detail: `${ms(apart.ours)} of ${ms(apart.all)}`,
    },
    {
      what: 'tools/call through the gateway: p50, of @fiberplane/mcp-gateway 0.7.1',
      ratio: beside.ours / beside.peer,
      bar: { atMost: 1 },
      detail: `${ms(beside.ours)} of ${ms(beside.peer)}`,
    },
  ];
}

function calling(client: Client, name: string): Call {
  return async () => {
    const result = await client.callTool({ name, arguments: inputs });
    if (result.isError === true) throw new Error(`the bench met ${JSON.stringify(result)}`);
  };
}

/** The median of the rounds' medians, of each side. */
async function inRounds<Name extends string>(count: number, sides: Sides<Name>): Promise<Record<Name, number>> {
  for (const [name, once] of Object.entries<Call>(sides)) await warm(`${name}, alone,`, [once], warmLoneRuns);
  const p50 = (once: Call) => async () => (await drive(1, runs, once)).p50Ms;
  const measured = Object.entries<Call>(sides).map(([name, once]) => [name, p50(once)] as const);
  return interleave(count, Object.fromEntries(measured) as Record<Name, () => Promise<number>>);
}

/** The same number of calls for every side, unless one of them takes too long for that; how many it were is said. */
async function warm(side: string, calls: readonly Call[], runs = warmRuns): Promise<void> {
  const started = performance.now();
  let made = 0;
  await drive(calls.length, runs, async (run) => {
    if (performance.now() - started >= warmMaxMs) return;
    await calls[run % calls.length]?.();
    made += 1;
  });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  const cut = made < runs ? ` of ${runs}: the time was over` : '';
  process.stderr.write(`warmed ${side} by ${made} calls in ${seconds} s${cut}\n`);
}

/** Installed in a folder of its own, when it is first measured. */
async function startPeer(folder: string, upstream: string): Promise<Child> {
  const home = fileURLToPath(new URL('./peers/', import.meta.url));
  const command = path.join(home, 'node_modules/@fiberplane/mcp-gateway/bin/mcp-gateway.js');
  if (!existsSync(command)) {
    process.stderr.write('installing @fiberplane/mcp-gateway into bench/peers …\n');
    execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund'], { cwd: home, stdio: 'inherit' });
  }
  const storage = path.join(folder, 'peer');
  mkdirSync(storage);
  writeFileSync(
    path.join(storage, 'mcp.json'),
    JSON.stringify({ mcpServers: { up: { url: upstream, type: 'http' } } }),
  );
  const port = await freePort();
  const given = [command, '--port', String(port), '--storage-dir', storage];
  const child = spawn(process.execPath, given, { stdio: ['ignore', 'ignore', 'ignore'] });
  const url = `http://127.0.0.1:${port}/s/up/mcp`;
  for (let tries = 0; tries < 200 && !(await answers(`http://127.0.0.1:${port}/`)); tries++) await pause(50);
  return {
    url,
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    await fetch(url);
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
