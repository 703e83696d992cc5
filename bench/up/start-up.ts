/** `recourse up` for a benchmark, as a user runs it: a process of its own, the key of an agent and that of an operator. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openKeysOf } from '../../src/compose/state/key-files.ts';
import type { Child } from '../child.ts';

const bin = path.join(import.meta.dirname, '../../bin/recourse.js');
const startsWithinMs = 60_000;

export interface Up extends Child {
  /** Of the agent `bench`. */
  readonly key: string;
  /** Opens the console once. */
  readonly link: string;
}

/** `yaml` is the configuration without its `runtime`. */
export async function startUp(home: string, yaml: string): Promise<Up> {
  mkdirSync(path.join(home, 'store'), { mode: 0o700, recursive: true });
  writeFileSync(path.join(home, 'recourse.yaml'), `runtime: { store: store/recourse.db }\n${yaml}`);
  const words = [bin, 'up', '--listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, words, { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const until = performance.now() + startsWithinMs;
  const isReady = async (url: string) => (await fetch(`${url}/readyz`, { headers: { connection: 'close' } })).ok;
  let url = '';
  while (url === '' || !(await isReady(url))) {
    if (child.exitCode !== null || performance.now() > until) throw new Error(`recourse up did not start: ${said}`);
    url = /recourse is starting at (http:\S+)/.exec(said)?.[1] ?? '';
    await pause(20);
  }
  const keys = await openKeysOf(path.join(home, 'store/recourse.db'));
  if (keys.kind === 'refused') throw new Error(keys.message);
  const holder = { tenant: 'default', role: 'agent', name: 'bench', createdBy: 'bench', expiresAtMs: null } as const;
  const { key } = await keys.keyring.add(holder, Date.now());
  await keys.keyring.close();
  return {
    url,
    key,
    link: /http:\S+#\/signin\/\S+/.exec(said)?.[0] ?? '',
    pid: child.pid ?? 0,
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}
