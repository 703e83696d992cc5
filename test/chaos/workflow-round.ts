/** One round: a process that owns the store and walks workflows, killed with SIGKILL at a moment that the seed chose. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Reply } from '../../src/index.ts';
import { compiledEnvironment } from '../support/compile-cache.ts';
import type { Moment } from './chaos-round.ts';

export interface StepRequest {
  readonly session: string;
  readonly action: string;
  readonly inputs: { readonly mark: string };
  readonly key?: string;
}

export interface StepOrders {
  readonly file: string;
  readonly log: string;
  readonly seed: number;
  readonly round: number;
  readonly sessions: readonly string[];
}

export type StepLine =
  | { readonly line: 'opened'; readonly role: string }
  | { readonly line: 'asked'; readonly number: number; readonly request: StepRequest }
  | { readonly line: 'answered'; readonly number: number; readonly reply: Reply };

/** What the processes had said when they died, by mark. */
export interface Heard {
  readonly asked: Map<string, StepRequest>;
  readonly answered: Map<string, Reply>;
}

const program = path.join(import.meta.dirname, 'workflow-child.ts');

/** Adds to what was heard before; true if the process had opened the store. */
export async function walkAndKill(orders: StepOrders, moment: Moment, heard: Heard): Promise<boolean> {
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: compiledEnvironment(),
  });
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
    if (line.line === 'asked') heard.asked.set(line.request.inputs.mark, line.request);
    else if (line.line === 'answered') heard.answered.set(`r${orders.round}-${line.number}`, line.reply);
    else {
      opened = true;
      if (line.role !== 'owner') throw new Error(`the process is a ${line.role}`);
      if (moment.after === 'opened') killLater();
    }
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (!killed) throw new Error(`round ${orders.round}: the process ended by itself with ${code}`);
  return opened;
}

function readLine(text: string): StepLine | null {
  try {
    return JSON.parse(text) as StepLine;
  } catch {
    return null;
  }
}
