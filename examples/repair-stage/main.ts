/**
 * A step that fails is routed to a repair, and then tried again. The stage `ship` books a parcel and prints its label;
 * the address is wrong, so it leads to `repairing`; after the repair the same step succeeds. Nothing is booked twice.
 * The same workflow in YAML is in recourse.yaml. Exits 1 if that is not what happens.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setup } from 'xstate';
import { z } from 'zod';
import { createGateway, isRefusal, isSuccess, mount, type StepError, tool } from '../../src/index.ts';
import { startCarrier } from './carrier.ts';

const carrier = await startCarrier();

const book = tool({
  name: 'book',
  description: 'Books a parcel.',
  input: z.object({ address: z.string() }),
  run: async ({ address }, ctx) => {
    const { status, body } = await carrier.post('/parcels', { address });
    if (status === 422) return ctx.fail('ToolTerminal', 'NotFound', body.problem, { effect: 'none' });
    return { parcel: body.parcel };
  },
});
const label = tool({
  name: 'label',
  description: 'Prints the label of a parcel.',
  input: z.object({ parcel: z.string() }),
  run: async ({ parcel }) => {
    const { body } = await carrier.post('/labels', { parcel });
    return { label: body.label };
  },
});

const machine = setup({
  types: {
    context: {} as { address: string; tries: number; problem: string | null },
    events: {} as
      | { type: 'ship'; inputs: object }
      | { type: 'repair'; inputs: { address: string } }
      | { type: 'ship.needs_repair' | 'ship.failed'; error: StepError },
  },
}).createMachine({
  id: 'shipping',
  initial: 'open',
  context: { address: 'nowhere', tries: 0, problem: null },
  states: {
    open: { on: { ship: 'shipped', 'ship.needs_repair': 'repairing', 'ship.failed': 'lost' } },
    repairing: { on: { repair: 'open' } },
    shipped: { type: 'final' },
    lost: { type: 'final' },
  },
});

const shipping = mount(machine, {
  actions: {
    ship: {
      description: 'Books a parcel and prints its label.',
      stage: {
        calls: ['book', 'label'],
        setup: ({ context }) => ({ tries: context.tries + 1 }),
        act: async ({ call, context }) => {
          const booked = await call('book', { address: context.address });
          const { parcel } = booked.result as { parcel: string };
          const printed = await call('label', { parcel });
          return { parcel, ...(printed.result as { label: string }) };
        },
        assert: (_ctx, acted) => (acted as { label?: string }).label !== undefined || 'there is no label',
        events: ['needs_repair'],
        next: (_ctx, { error }) => (error?.code === 'NotFound' ? { event: 'needs_repair' } : null),
        unrecoverable: { retry_later: '1h' },
      },
    },
    repair: {
      description: 'Corrects the address.',
      input: z.object({ address: z.string() }),
      run: async ({ address }) => ({ address }),
      update: ({ inputs }) => ({ address: inputs.address }),
    },
  },
});

const folder = mkdtempSync(path.join(tmpdir(), 'repair-stage-'));
const file = path.join(folder, 'recourse.db');
const gateway = await createGateway({ tools: [book, label], workflows: [shipping], file });

const first = await gateway.step({ action: 'ship' });
const { session } = first;
if (session === null) throw new Error('no session was opened');
const isRouted = isRefusal(first) && first.code === 'NotFound' && first.valid_next_actions.join() === 'repair';
if (isRefusal(first))
  console.log(`ship → ${first.code}, effect ${first.effect}; next: ${first.valid_next_actions.join()}`);

await gateway.step({ action: 'repair', inputs: { address: '7 Pier Road' }, session });
const second = await gateway.step({ action: 'ship', session });
if (isSuccess(second)) console.log(`ship → ${JSON.stringify(second.result)}, done: ${String(second.done)}`);

await gateway.close();
await carrier.close();
rmSync(folder, { recursive: true, force: true });

const isShipped = isSuccess(second) && second.done === true && carrier.booked() === 1 && carrier.printed() === 1;
console.log(`the carrier booked ${carrier.booked()} parcel and printed ${carrier.printed()} label`);
console.log(isRouted && isShipped ? '\nrepaired, and shipped once.' : '\nthe promise was broken.');
process.exitCode = isRouted && isShipped ? 0 : 1;
