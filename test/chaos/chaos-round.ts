/** One round: a process that owns the store and works, killed with SIGKILL at a moment that the seed chose. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Reply } from '../../src/index.ts';
import { compiledEnvironment } from '../support/compile-cache.ts';

export interface Request {
  readonly tool: string;
  readonly args: { readonly mark?: string };
  readonly key?: string;
  readonly wait_seconds?: number;
}

export interface Orders {
  readonly file: string;
  readonly log: string;
  readonly seed: number;
  readonly round: number;
  /** Calls of earlier rounds, to be asked again. */
  readonly oldKeys: readonly Request[];
}

export type ChildLine =
  | { readonly line: 'opened'; readonly role: string }
  | { readonly line: 'asked'; readonly number: number; readonly request: Request }
  | { readonly line: 'answered'; readonly number: number; readonly reply: Reply };

/** When to kill: so long after the process was started, or after it has opened the store. */
export interface Moment {
  readonly after: 'start' | 'opened';
  readonly delayMs: number;
}

/** What the process had said when it died, by round and number of the call. */
export interface Killed {
  readonly asked: ReadonlyMap<string, Request>;
  readonly answered: ReadonlyMap<string, Reply>;
  readonly opened: boolean;
}

/** Processes that died one after the other, as one. */
export function together(killed: readonly Killed[]): Killed {
  return {
    asked: new Map(killed.flatMap(({ asked }) => [...asked])),
    answered: new Map(killed.flatMap(({ answered }) => [...answered])),
    opened: killed.some(({ opened }) => opened),
  };
}

const program = path.join(import.meta.dirname, 'chaos-child.ts');

export async function runAndKill(orders: Orders, moment: Moment): Promise<Killed> {
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: compiledEnvironment(),
  });
  const asked = new Map<string, Request>();
  const answered = new Map<string, Reply>();
  let opened = false;
  let killed = false;
  const killLater = () =>
    setTimeout(() => {
      killed = true;
      child.kill('SIGKILL');
    }, moment.delayMs);
  if (moment.after === 'start') killLater();
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = readLine(text);
    // The last line may be torn by the kill; it was never said.
    if (line === null) return;
    if (line.line === 'asked') asked.set(`${orders.round}/${line.number}`, line.request);
    else if (line.line === 'answered') answered.set(`${orders.round}/${line.number}`, line.reply);
    else {
      opened = true;
      if (line.role !== 'owner') throw new Error(`the process is a ${line.role}`);
      if (moment.after === 'opened') killLater();
    }
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (!killed) throw new Error(`round ${orders.round}: the process ended by itself with ${code}`);
  return { asked, answered, opened };
}

function readLine(text: string): ChildLine | null {
  try {
    return JSON.parse(text) as ChildLine;
  } catch {
    return null;
  }
}
