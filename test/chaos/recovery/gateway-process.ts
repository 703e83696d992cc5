/** One gateway process of the chaos with retries: started, heard, and killed with SIGKILL. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import type { Reply } from '../../../src/index.ts';
import { compiledEnvironment } from '../../support/compile-cache.ts';
import type { ChildLine } from '../kill-child.ts';
import type { Orders, Payment } from './recovery-orders.ts';

export interface GatewayProcess {
  isOpened(): boolean;
  /** Resolves when it is gone, and everything that it said was heard. */
  kill(): Promise<void>;
}

export interface Hears<Asked extends Payment> {
  asked(payment: Asked): void;
  answered(payment: Asked, reply: Reply): void;
  ended(why: string): void;
}

/** `program`: beside this file. */
export function startGateway<Asked extends Payment = Payment>(
  t: TestContext,
  orders: Orders,
  hears: Hears<Asked>,
  program = 'recovery-child.ts',
): GatewayProcess {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, program), JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: compiledEnvironment(),
  });
  t.after(() => child.kill('SIGKILL'));
  const payments = new Map<number, Asked>();
  let [opened, killed, said] = [false, false, ''];
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = readLine<Asked>(text);
    if (line?.line === 'opened') opened = true;
    if (line?.line === 'asked') {
      payments.set(line.number, line.request);
      hears.asked(line.request);
    }
    const payment = line?.line === 'answered' ? payments.get(line.number) : undefined;
    if (line?.line === 'answered' && payment !== undefined) hears.answered(payment, line.reply);
  });
  const closed = once(child, 'close');
  void closed.then(() => (killed ? undefined : hears.ended(`a gateway ended by itself: ${said}`)));
  return {
    isOpened: () => opened,
    async kill() {
      killed = true;
      child.kill('SIGKILL');
      await closed;
    },
  };
}

/** The last line may be torn by the kill; it was never said. */
function readLine<Asked>(text: string): ChildLine<Asked> | null {
  try {
    return JSON.parse(text) as ChildLine<Asked>;
  } catch {
    return null;
  }
}
