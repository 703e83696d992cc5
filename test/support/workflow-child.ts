/**
 * A process with a gateway on a shared file, which increments one session of a counter when it is told to. Its bodies
 * write a line for each execution, or hang after it. Prints line by line what happens.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { createMachine } from 'xstate';
import { createGateway, mount } from '../../src/index.ts';
import type { CountOrder, CountEvent, CountOrders } from './workflow-processes.ts';

const { file, log, hangs } = JSON.parse(process.argv[2] ?? '{}') as CountOrders;
const say = (event: CountEvent) => process.stdout.write(`${JSON.stringify(event)}\n`);
const tries = 200;

const counter = mount(
  createMachine({
    id: 'counter',
    initial: 'counting',
    context: { count: 0 },
    states: { counting: { on: { increment: 'counting' } } },
  }),
  {
    actions: {
      increment: {
        run: async (_inputs: unknown, { call_id }: { call_id: string }) => {
          appendFileSync(log, `${call_id}\n`);
          say({ event: 'began', callId: call_id });
          return hangs ? new Promise(() => undefined) : {};
        },
        update: ({ context }: { context: { count: number } }) => ({ count: context.count + 1 }),
      },
    },
  } as never,
);

const gateway = await createGateway({
  file,
  workflows: [counter],
  limits: { sweepEveryMs: 50 },
  onNotice: () => undefined,
});
say({ event: 'opened', role: gateway.role });

/** Whoever is told to wait waits, and asks again. */
async function increment(session: string): Promise<void> {
  for (let asked = 0; asked < tries; asked++) {
    const reply = await gateway.handleStep({ action: 'increment', inputs: {}, session });
    if (!('error' in reply) || reply.effect !== 'none' || reply.error === 'fenced') {
      say({ event: 'replied', reply });
      return;
    }
    say({ event: 'waited', error: reply.error });
    await pause(20);
  }
}

/** With a breath in between, in which the turn is free for the other process. */
async function walk(session: string, steps: number): Promise<void> {
  for (let n = 0; n < steps; n++) {
    await increment(session);
    await pause(5 + ((n * 7) % 30));
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { session, atOnce, oneByOne } = JSON.parse(line) as CountOrder;
    for (let n = 0; n < atOnce; n++) void increment(session);
    void walk(session, oneByOne);
  })
  .on('close', () => void gateway.close({ drain_seconds: 0 }).then(() => process.exit(0)));
