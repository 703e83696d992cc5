/** Two `recourse up` on one store, as a user starts them: killed, stopped and started again while clients call. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { openSqliteReader } from '../../src/adapters/store-sqlite/read/open-reader.ts';
import { compiledEnvironment } from '../support/compile-cache.ts';
import { eventually } from '../support/eventually.ts';
import { bin, folder, recourse } from '../support/recourse-process.ts';

export interface Gateway {
  readonly url: string;
  readonly child: ChildProcess;
  /** Resolves when the process is gone, with every connection it had. */
  readonly ended: Promise<unknown>;
  said(): string;
}

export interface Duo {
  /** The store of both. */
  readonly file: string;
  /** Those that serve now. */
  running(): readonly Gateway[];
  keyOf(agent: string): string;
  /** Kills with SIGKILL, and starts another in its place. */
  replace(gateway: Gateway, downMs: number): Promise<void>;
  /**
   * Runs with the gateway stopped, so that nothing it hears is handled until it goes on. False if it could not be
   * stopped.
   */
  whileStopped(gateway: Gateway, act: () => Promise<void>): Promise<boolean>;
  /** What is on record of a payment. */
  storyOf(mark: string): Promise<string>;
  counts(): { readonly kills: number; readonly stalls: number };
  said(): string;
}

const startMs = 60_000;

/** `project`: recourse.yaml but for its store. */
export async function openDuo(t: TestContext, project: string): Promise<Duo> {
  const home = folder(t);
  mkdirSync(path.join(home, 'store'), { mode: 0o700 });
  writeFileSync(path.join(home, 'recourse.yaml'), `runtime: { store: store/recourse.db }\n${project}`);
  const slots: (Gateway | null)[] = [];
  const all: Gateway[] = [];
  const counts = { kills: 0, stalls: 0 };
  const stopped = new Set<Gateway>();

  async function start(slot: number): Promise<void> {
    const gateway = await startUp(t, home);
    all.push(gateway);
    slots[slot] = gateway;
  }
  await start(0);
  await start(1);
  const file = path.join(home, 'store/recourse.db');
  return {
    file,
    running: () => slots.filter((gateway) => gateway !== null),
    keyOf(agent) {
      const { status, stdout, stderr } = recourse(['agents', 'add', agent, '--file', file], { cwd: home });
      if (status !== 0) throw new Error(stderr);
      return stdout.trim();
    },
    async replace(gateway, downMs) {
      const slot = slots.indexOf(gateway);
      // While it is stopped a test waits for what it does next.
      await eventually('it goes on', async () => !stopped.has(gateway), startMs);
      slots[slot] = null;
      gateway.child.kill('SIGKILL');
      counts.kills += 1;
      await gateway.ended;
      await new Promise((resolve) => setTimeout(resolve, downMs));
      await start(slot);
    },
    async whileStopped(gateway, act) {
      if (!slots.includes(gateway) || stopped.size > 0) return false;
      stopped.add(gateway);
      counts.stalls += 1;
      gateway.child.kill('SIGSTOP');
      try {
        await eventually('it stands still', async () => isStopped(gateway.child.pid));
        await act();
        return true;
      } finally {
        gateway.child.kill('SIGCONT');
        stopped.delete(gateway);
      }
    },
    storyOf: (mark) => storyIn(file, mark),
    counts: () => counts,
    said: () => all.flatMap(({ said }) => said().match(/^recourse: .*$/gm) ?? []).join('\n'),
  };
}

async function storyIn(file: string, mark: string): Promise<string> {
  const opened = await openSqliteReader(file);
  if (opened.kind !== 'opened') return opened.message;
  const { reader, close } = opened;
  const lines: string[] = [];
  for (const call of await reader.listCalls({ limit: 100_000 })) {
    const args = await reader.args(call.id);
    if (args.kind !== 'text' || !args.text.includes(`"${mark}"`)) continue;
    lines.push(`${call.id} ${call.state} owner ${call.owner} key ${call.key} left ${call.requesterLeftAtMs}`);
    for (const { kind, timeMs, epoch, seq, body } of await reader.recordsOf(call.id))
      lines.push(`  ${new Date(timeMs).toISOString().slice(14)} ${epoch}/${seq} ${kind} ${body.slice(0, 160)}`);
  }
  close();
  return lines.join('\n');
}

/** The signal is on its way for a moment; every thread must stand. */
function isStopped(pid = 0): boolean {
  const threads = `/proc/${pid}/task`;
  // Where the system does not tell, the signal is taken at its word.
  if (!existsSync(threads)) return true;
  try {
    const stats = readdirSync(threads).map((thread) => readFileSync(`${threads}/${thread}/stat`, 'utf8'));
    return stats.every((stat) => stat.slice(stat.lastIndexOf(')')).startsWith(') T'));
  } catch {
    // A thread ended while it was looked at.
    return false;
  }
}

async function startUp(t: TestContext, home: string): Promise<Gateway> {
  const { RECOURSE_FILE: _, ...env } = compiledEnvironment();
  const child = spawn(process.execPath, [bin, 'up', '--listen', '127.0.0.1:0'], {
    cwd: home,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const ended = once(child, 'close');
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const alive = () => {
    if (child.exitCode !== null) throw new Error(`recourse up has ended: ${said}`);
  };
  const [, url = ''] = await eventually(
    'its address',
    async () => {
      alive();
      return /recourse is starting at (http:\S+)/.exec(said);
    },
    startMs,
  );
  await eventually(
    'it is ready',
    async () => {
      alive();
      return (await fetch(`${url}/readyz`, { headers: { connection: 'close' } })).ok;
    },
    startMs,
  );
  return { url, child, ended, said: () => said };
}
