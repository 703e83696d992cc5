/** `tools/call` through the gateway to an HTTP server, beside the same call direct and through another gateway. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openCeiling, templateOf } from './ceiling.ts';
import { type Child, startChild } from './child.ts';
import { connectClient } from './mcp-clients.ts';
import { drive, median, type Row } from './measure.ts';
import { inputs } from './ring.ts';

const rounds = 7;
const runs = 150;

export async function benchMcpTools(folder: string): Promise<readonly Row[]> {
  const upstream = await startChild('./mcp-bare-child.ts', 'echo');
  const file = path.join(folder, 'tools.db');
  const ours = await startChild('./mcp-gateway-child.ts', 'tools', file, upstream.url);
  const peer = await startPeer(folder, upstream.url);
  const direct = await connectClient(upstream.url);
  const through = await connectClient(ours.url);
  const theirs = await connectClient(peer.url);
  const call = (client: typeof direct, name: string) => async () => {
    const result = await client.callTool({ name, arguments: inputs });
    if (result.isError === true) throw new Error(`the bench met ${JSON.stringify(result)}`);
  };
  await call(through, 'up/step')();
  const ceiling = await openCeiling(path.join(folder, 'ceiling.db'), templateOf(file));
  const sides = {
    direct: call(direct, 'step'),
    ours: call(through, 'up/step'),
    peer: call(theirs, 'step'),
    commits: () => ceiling.call(),
  };
  type Side = keyof typeof sides;
  const seen: Record<Side, number[]> = { direct: [], ours: [], peer: [], commits: [] };
  for (let round = -1; round < rounds; round++)
    for (const side of Object.keys(sides) as Side[]) {
      const { p50Ms } = await drive(1, runs, sides[side]);
      if (round >= 0) seen[side].push(p50Ms);
    }
  await Promise.all([direct, through, theirs].map((client) => client.close()));
  await ceiling.close();
  for (const child of [ours, peer, upstream]) await child.stop();

  const p50 = (side: Side) => median(seen[side]);
  const allowed = 2 * p50('direct') + p50('commits');
  const ms = (value: number) => `${value.toFixed(2)} ms`;
  return [
    {
      what: 'tools/call through the gateway: p50, of twice the direct call plus the two commits',
      ratio: p50('ours') / allowed,
      bar: { atMost: 1 },
      detail: `${ms(p50('ours'))} of 2 × ${ms(p50('direct'))} + ${ms(p50('commits'))}`,
    },
    {
      what: 'tools/call through the gateway: p50, of @fiberplane/mcp-gateway 0.7.1',
      ratio: p50('ours') / p50('peer'),
      bar: { atMost: 1 },
      detail: `${ms(p50('ours'))} of ${ms(p50('peer'))}`,
    },
  ];
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
