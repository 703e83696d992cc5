/** `recourse demo` as a process of its own, with a folder for temporary files that only it uses. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { eventually } from '../eventually.ts';
import { bin, folder, root } from '../recourse-process.ts';

export interface DemoEvent {
  readonly event: 'ready' | 'told';
  readonly url: string;
  readonly gateway: string;
  readonly store: string;
  readonly agent: string;
  readonly says: string;
  readonly outcome: string;
  readonly call_id: string | null;
  readonly approval_id?: string;
  readonly ticket_id?: string;
}

export interface RunningDemo {
  readonly child: ChildProcess;
  readonly events: readonly DemoEvent[];
  /** What stood on standard error. */
  complained(): string;
  /** The first that fits; rejects if the demo ends without it. */
  next(what: string, fits: (event: DemoEvent) => boolean | undefined): Promise<DemoEvent>;
  /** Its exit code, or the signal. */
  readonly ended: Promise<number | string>;
  /** The files that it has left where temporary files are. */
  left(): readonly string[];
}

export interface DemoSetting {
  readonly cwd?: string;
  readonly temporary?: string;
  /** The command in place of `recourse demo --json`. */
  readonly command?: readonly [string, ...string[]];
  readonly env?: NodeJS.ProcessEnv;
}

export function startDemo(t: TestContext, words: readonly string[] = [], setting: DemoSetting = {}): RunningDemo {
  const { cwd = root, temporary = path.join(folder(t), 'temporary'), env = process.env } = setting;
  mkdirSync(temporary, { recursive: true });
  const [program, ...before] = setting.command ?? [process.execPath, bin, 'demo', '--json'];
  const child = spawn(program, [...before, ...words], {
    cwd,
    env: { ...env, TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, as a terminal gives it.
    detached: true,
  });
  t.after(() => killGroup(child));
  const events: DemoEvent[] = [];
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('{')) events.push(JSON.parse(line) as DemoEvent);
  });
  const ended = new Promise<number | string>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? String(signal)));
  });
  let isOver = false;
  void ended.then(() => (isOver = true));
  return {
    child,
    events,
    ended,
    complained: () => said,
    left: () => readdirSync(temporary),
    next: (what, fits) =>
      eventually(what, async () => {
        const found = events.find(fits);
        if (found === undefined && isOver) throw new Error(`the demo has ended before ${what}: ${said}`);
        return found;
      }),
  };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
