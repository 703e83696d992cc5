/**
 * A gateway process that is killed: many callers in it spend the budget of one agent after the other, first what an
 * earlier process left open. Prints what is asked and what is answered. Never ends by itself.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createGateway, isPending, type Reply } from '../../../src/index.ts';
import { createRandom } from '../../simulation/random.ts';
import type { ChildLine } from '../kill-child.ts';
import { paymentTools, toolNames } from '../recovery/payment-tools.ts';
import { limits } from '../recovery/recovery-orders.ts';
import { agentOf, aPayment, type BudgetOrders, type BudgetPayment, budgetPolicy, callers } from './budget-world.ts';

const { file, url, seed, name, open, generation: first } = JSON.parse(process.argv[2] ?? '{}') as BudgetOrders;
const random = createRandom(seed, `payments of ${name}`);
const say = (line: ChildLine<BudgetPayment>) => process.stdout.write(`${JSON.stringify(line)}\n`);

const gateway = await createGateway({
  file,
  tools: paymentTools(url),
  policy: budgetPolicy(),
  limits,
  onNotice: () => undefined,
});
say({ line: 'opened', role: gateway.role });

let made = 0;
let generation = first;

/** Codes of replies after which the same key is asked again: nothing was decided, or it is not over. */
const notYet: ReadonlySet<string> = new Set([
  'ActionInFlight',
  'DAEMON_NOT_READY',
  'StoreUnavailable',
  'Busy',
  'RATE_EXCEEDED',
]);
const isOpen = (reply: Reply) => isPending(reply) || ('error' in reply && notYet.has(reply.code));

async function pursue(payment: BudgetPayment, number: number): Promise<Reply> {
  say({ line: 'asked', number, request: payment });
  const { tool, args, key, agent } = payment;
  for (;;) {
    const reply = await gateway.handle({ tool, args, key, wait_seconds: 20 }, { agent });
    if (!isOpen(reply)) {
      say({ line: 'answered', number, reply });
      return reply;
    }
    await pause(random.between(20, 150));
  }
}

const waiting = [...open];
let asked = 0;

async function spend(): Promise<void> {
  for (;;) {
    const own = generation;
    const drawn = () => aPayment(random.pick(toolNames), `${name}-${made++}`, agentOf(own), random.between(1, 5));
    const payment = waiting.shift() ?? drawn();
    const reply = await pursue(payment, asked++);
    const isUsedUp = 'error' in reply && reply.code === 'BUDGET_EXCEEDED' && payment.agent === agentOf(own);
    if (isUsedUp) generation = Math.max(generation, own + 1);
  }
}

await Promise.all(Array.from({ length: callers / 2 }, spend));
