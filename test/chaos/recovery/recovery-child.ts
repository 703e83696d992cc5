/**
 * A gateway process that is killed: agents in it ask for payments with keys, each until it is answered, first those
 * that an earlier process left open. Prints what is asked and what is answered. Never ends by itself.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createGateway, isPending, type Reply } from '../../../src/index.ts';
import { createRandom } from '../../simulation/random.ts';
import type { ChildLine } from '../kill-child.ts';
import { paymentTools, toolNames } from './payment-tools.ts';
import { limits, type Orders, type Payment } from './recovery-orders.ts';

const { file, url, seed, name, open, isIdle = false } = JSON.parse(process.argv[2] ?? '{}') as Orders;
const atOnce = 6;
const random = createRandom(seed, `payments of ${name}`);
const say = (line: ChildLine<Payment>) => process.stdout.write(`${JSON.stringify(line)}\n`);

const gateway = await createGateway({
  file,
  tools: paymentTools(url),
  agent: 'chaos',
  limits,
  onNotice: () => undefined,
});
say({ line: 'opened', role: gateway.role });

let made = 0;

function aPayment(): Payment {
  const tool = random.pick(toolNames);
  const order = `${name}-${made++}`;
  const what = tool === 'add_note' ? { text: 'n' } : { amount: 5 };
  return { tool, args: { order, ...what }, key: order };
}

/** Codes of replies after which the same key is asked again: nothing was decided, or it is not over. */
const notYet: ReadonlySet<string> = new Set(['ActionInFlight', 'DAEMON_NOT_READY', 'StoreUnavailable', 'Busy']);
const isOpen = (reply: Reply) => isPending(reply) || ('error' in reply && notYet.has(reply.code));

async function pursue(payment: Payment, number: number): Promise<void> {
  say({ line: 'asked', number, request: payment });
  for (;;) {
    const reply = await gateway.handle({ ...payment, wait_seconds: 20 });
    if (!isOpen(reply)) return void say({ line: 'answered', number, reply });
    await pause(random.between(20, 100));
  }
}

const waiting = [...open];
let asked = 0;

async function work(): Promise<void> {
  while (waiting.length > 0 || !isIdle) await pursue(waiting.shift() ?? aPayment(), asked++);
}

await Promise.all(Array.from({ length: atOnce }, work));
// Only a kill ends it.
setInterval(() => undefined, 60_000);
