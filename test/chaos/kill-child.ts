/** Starts a process that owns the store, hears what it says, and kills it with SIGKILL at the chosen moment. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Reply } from '../../src/index.ts';
import { compiledEnvironment } from '../support/compile-cache.ts';

/** When to kill: so long after the process was started, after it has opened the store, or after so many replies. */
export interface Moment {
  readonly after: 'start' | 'opened' | number;
  readonly delayMs: number;
}

export type ChildLine<Request> =
  | { readonly line: 'opened'; readonly role: string }
  | { readonly line: 'asked'; readonly number: number; readonly request: Request }
  | { readonly line: 'answered'; readonly number: number; readonly reply: Reply };

export interface Hears<Request> {
  asked(number: number, request: Request): void;
  answered(number: number, reply: Reply): void;
}

/** True if the process had opened the store before it died. */
export async function killChild<Request>(
  program: string,
  orders: { readonly round: number },
  moment: Moment,
  hears: Hears<Request>,
): Promise<boolean> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, program), JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: compiledEnvironment(),
  });
  let opened = false;
  let answers = 0;
  let killed = false;
  const killLater = () =>
    setTimeout(() => {
      killed = true;
      child.kill('SIGKILL');
    }, moment.delayMs);
  if (moment.after === 'start') killLater();
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = readLine<Request>(text);
    // The last line may be torn by the kill; it was never said.
    if (line === null) return;
    if (line.line === 'asked') hears.asked(line.number, line.request);
    else if (line.line === 'answered') {
      hears.answered(line.number, line.reply);
      if (moment.after === ++answers) killLater();
    } else {
      opened = true;
      if (line.role !== 'owner') throw new Error(`the process is a ${line.role}`);
      if (moment.after === 'opened') killLater();
    }
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (!killed) throw new Error(`round ${orders.round}: the process ended by itself with ${code}`);
  return opened;
}

function readLine<Request>(text: string): ChildLine<Request> | null {
  try {
    return JSON.parse(text) as ChildLine<Request>;
  } catch {
    return null;
  }
}
