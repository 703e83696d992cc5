/** Starts processes with keyrings (keyring-child.ts), orders things of them, and kills them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { KeyEntry } from '../../src/ports/keyring.ts';
import type { KeyringOrder } from './keyring-child.ts';

export interface Shown {
  readonly entry: KeyEntry;
  readonly key: string;
}

export interface Answer {
  readonly value?: unknown;
  readonly reason?: string;
  readonly message?: string;
}

export interface KeyringProcess {
  /** What it said when it had opened the file, or why it had not. */
  readonly opened: Readonly<Record<string, unknown>>;
  ask(order: KeyringOrder): Promise<Answer>;
  /** The next line that answers nothing; null when it is gone. */
  line(): Promise<Shown | null>;
  /** SIGKILL, and gone when this resolves. */
  kill(): Promise<void>;
}

const program = path.join(import.meta.dirname, 'keyring-child.ts');

export interface KeyringProcessOptions {
  readonly mode?: 'serve' | 'flood';
  readonly uid?: number;
  /** A command that runs the rest of its line. */
  readonly within?: readonly string[];
}

export async function startKeyring(
  t: TestContext,
  store: string,
  { mode = 'serve', uid, within = [] }: KeyringProcessOptions = {},
): Promise<KeyringProcess> {
  const [command = '', ...line] = [...within, process.execPath, program, mode, store];
  const user = uid === undefined ? {} : { uid, gid: uid };
  const child = spawn(command, line, { stdio: ['pipe', 'pipe', 'inherit'], ...user });
  const waiting = new Map<number, (answer: Answer) => void>();
  const lines: Shown[] = [];
  const gone = once(child, 'close');
  const first = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  let stir = Promise.withResolvers<void>();
  let ended = false;
  let asked = 0;
  const wake = () => {
    stir.resolve();
    stir = Promise.withResolvers<void>();
  };
  createInterface({ input: child.stdout }).on('line', (text) => {
    const said = JSON.parse(text) as { at?: number; kind?: string } & Answer;
    if (said.kind !== undefined && said.at === undefined) return first.resolve(said as never);
    if (said.at === undefined) lines.push(said as never);
    else waiting.get(said.at)?.(said);
    wake();
  });
  void gone.then(() => {
    ended = true;
    first.resolve({ kind: 'gone' });
    for (const answer of waiting.values()) answer({ reason: 'gone' });
    wake();
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  t.after(kill);
  return {
    opened: await first.promise,
    ask(order) {
      const at = ++asked;
      const answered = new Promise<Answer>((resolve) => waiting.set(at, resolve));
      child.stdin.write(`${JSON.stringify({ at, order })}\n`);
      return answered;
    },
    async line() {
      while (lines.length === 0 && !ended) await stir.promise;
      return lines.shift() ?? null;
    },
    kill,
  };
}
