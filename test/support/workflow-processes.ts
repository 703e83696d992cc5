/** Starts processes that share a file and count in one workflow session, and listens to them until the test is over. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { Reply } from '../../src/index.ts';
import { compiledEnvironment } from './compile-cache.ts';
import { eventually } from './eventually.ts';

export interface CountOrders {
  readonly file: string;
  readonly log: string;
  /** Bodies never come back. */
  readonly hangs: boolean;
}

export interface CountOrder {
  readonly session: string;
  /** So many at the same moment, and beside them so many one after the other. */
  readonly atOnce: number;
  readonly oneByOne: number;
}

export type CountEvent =
  | { readonly event: 'opened'; readonly role: string }
  | { readonly event: 'began'; readonly callId: string }
  | { readonly event: 'waited'; readonly error: string }
  | { readonly event: 'replied'; readonly reply: Reply };

export interface Counting {
  readonly role: string;
  order(order: CountOrder): void;
  replies(): readonly Reply[];
  began(): readonly string[];
  waited(): number;
  /** SIGKILL, and gone when this resolves. */
  kill(): Promise<void>;
}

const program = path.join(import.meta.dirname, 'workflow-child.ts');

export async function startCounting(t: TestContext, orders: CountOrders): Promise<Counting> {
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: compiledEnvironment(),
  });
  const events: CountEvent[] = [];
  const gone = once(child, 'close');
  createInterface({ input: child.stdout }).on('line', (line) => events.push(JSON.parse(line) as CountEvent));
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  t.after(kill);
  const opened = await eventually('the process has opened the file', async () =>
    events.find((one) => one.event === 'opened'),
  );
  return {
    role: opened.role,
    order: (order) => void child.stdin.write(`${JSON.stringify(order)}\n`),
    replies: () => events.flatMap((one) => (one.event === 'replied' ? [one.reply] : [])),
    began: () => events.flatMap((one) => (one.event === 'began' ? [one.callId] : [])),
    waited: () => events.filter(({ event }) => event === 'waited').length,
    kill,
  };
}
