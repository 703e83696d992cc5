/**
 * What the compiler promises a caller of `gateway.step`. Most of this file is checked by the type check alone; what it
 * forbids is refused too.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createMachine, setup } from 'xstate';
import * as z from 'zod';
import {
  createGateway,
  isSuccess,
  mount,
  type MountedWorkflow,
  type Reply,
  type StepRequest,
} from '../../src/index.ts';
import { folder } from '../support/recourse-process.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <Claim extends true>(claim?: Claim): unknown => claim;

const order = { input: z.object({ drink: z.string(), cups: z.number().default(1) }), run: async () => ({}) };
const look = { run: async () => ({}) };

const bar = mount(
  setup({ types: { events: {} as { type: 'order' } | { type: 'look' } } }).createMachine({
    id: 'bar',
    initial: 'open',
    states: { open: { on: { order: 'open', look: 'open' } } },
  }),
  { actions: { order, look } },
);
const doors = setup({ types: { events: {} as { type: 'shut' } } }).createMachine({
  id: 'doors',
  initial: 'open',
  states: { open: { on: { shut: 'open' } } },
});
const door = mount(doors, { name: 'door', actions: { shut: { run: async () => ({}) } } });
const plain = mount(createMachine({ id: 'plain', initial: 'a', states: { a: { on: { go: 'a' } } } }), {
  actions: { go: { input: z.object({ far: z.boolean() }), run: async () => ({}) } },
});

async function open<const Workflows extends readonly MountedWorkflow[]>(t: TestContext, workflows: Workflows) {
  const gateway = await createGateway({ workflows, file: join(folder(t), 'recourse.db') });
  t.after(() => gateway.close());
  return gateway;
}

async function eachSucceeds(replies: readonly Promise<Reply>[]): Promise<void> {
  for (const reply of await Promise.all(replies)) assert.ok(isSuccess(reply), JSON.stringify(reply));
}

async function eachIsRefused(replies: readonly Promise<Reply>[]): Promise<void> {
  for (const reply of await Promise.all(replies)) assert.ok(!isSuccess(reply), JSON.stringify(reply));
}

test('a workflow is called by its name, or by the id of a machine that setup made', () => {
  holds<Equal<(typeof bar)['name'], 'bar'>>();
  holds<Equal<(typeof door)['name'], 'door'>>();
  holds<Equal<(typeof plain)['name'], string>>();
  assert.deepEqual([bar.name, door.name, plain.name], ['bar', 'door', 'plain']);
});

test('of several workflows each has its own actions and inputs', async (t) => {
  const gateway = await open(t, [bar, door]);
  await eachSucceeds([
    gateway.step({ workflow: 'bar', action: 'order', inputs: { drink: 'tea' } }),
    gateway.step({ workflow: 'bar', action: 'look' }),
    gateway.step({ workflow: 'door', action: 'shut', inputs: {} }),
  ]);
  await eachIsRefused([
    // @ts-expect-error the door has no such action
    gateway.step({ workflow: 'door', action: 'order', inputs: { drink: 'tea' } }),
    // @ts-expect-error nor has anything
    gateway.step({ workflow: 'bar', action: 'ordr', inputs: { drink: 'tea' } }),
    // @ts-expect-error a drink is a string
    gateway.step({ workflow: 'bar', action: 'order', inputs: { drink: 7 } }),
    // @ts-expect-error it is called drink
    gateway.step({ workflow: 'bar', action: 'order', inputs: { drnk: 'tea' } }),
    // @ts-expect-error a drink is required
    gateway.step({ workflow: 'bar', action: 'order' }),
    // @ts-expect-error there is no such workflow
    gateway.step({ workflow: 'cellar', action: 'look' }),
    // @ts-expect-error there are two, and it must say which
    gateway.step({ action: 'look' }),
  ]);
});

test('the only workflow may go unnamed', async (t) => {
  const gateway = await open(t, [bar]);
  await eachSucceeds([
    gateway.step({ action: 'order', inputs: { drink: 'tea', cups: 2 } }),
    gateway.step({ workflow: 'bar', action: 'look' }),
  ]);
  await eachIsRefused([
    // @ts-expect-error there is no such action
    gateway.step({ action: 'shut' }),
    // @ts-expect-error a drink is required
    gateway.step({ action: 'order', inputs: {} }),
  ]);
});

test('where the compiler knows no name every action of such a workflow is offered, never none', async (t) => {
  const gateway = await open(t, [bar, plain]);
  await eachSucceeds([
    gateway.step({ workflow: 'bar', action: 'order', inputs: { drink: 'tea' } }),
    gateway.step({ workflow: 'plain', action: 'go', inputs: { far: true } }),
  ]);
  await eachIsRefused([
    // @ts-expect-error neither has such an action
    gateway.step({ workflow: 'plain', action: 'shut' }),
    // @ts-expect-error far is a boolean
    gateway.step({ workflow: 'plain', action: 'go', inputs: { far: 'yes' } }),
  ]);
  const list: readonly MountedWorkflow[] = [bar];
  const unknown = await open(t, list);
  await eachSucceeds([unknown.step({ action: 'order', inputs: { drink: 'tea' } })]);
});

test('a request can be put together before it is asked', async (t) => {
  const request: StepRequest<readonly [typeof bar, typeof door]> = { workflow: 'door', action: 'shut', key: 'k1' };
  const gateway = await open(t, [bar, door]);
  await eachSucceeds([gateway.step(request)]);
});

test('a result has the type of its action’s output schema', async (t) => {
  const id = z.object({ id: z.number() });
  const paid = z.object({ receipt: z.string() });
  const machine = setup({
    types: { context: {} as { last: number | null }, events: {} as { type: 'order' | 'pay' | 'look' } },
  }).createMachine({
    id: 'till',
    initial: 'open',
    context: { last: null },
    states: { open: { on: { order: 'open', pay: 'open', look: 'open' } } },
  });
  const till = mount(machine, {
    actions: {
      order: {
        input: z.object({ drink: z.string() }),
        output: id,
        run: async ({ drink }) => ({ id: drink.length }),
        update: ({ result }) => {
          holds<Equal<typeof result, { id: number }>>();
          return { last: result.id };
        },
      },
      pay: { output: paid, run: async () => ({ receipt: 'r7' }) },
      look: { run: async () => 3 },
    },
  });
  const gateway = await open(t, [till, door]);
  const ordered = await gateway.step({ workflow: 'till', action: 'order', inputs: { drink: 'tea' } });
  assert.ok(isSuccess(ordered));
  holds<Equal<typeof ordered.result, { id: number }>>();
  assert.equal(ordered.result.id, 3);
  const looked = await gateway.step({ workflow: 'till', action: 'look' });
  assert.ok(isSuccess(looked));
  holds<Equal<typeof looked.result, unknown>>();
  const alone = await open(t, [till]);
  const receipt = await alone.step({ action: 'pay' });
  assert.ok(isSuccess(receipt));
  holds<Equal<typeof receipt.result, { receipt: string }>>();
  // @ts-expect-error it is called receipt
  void receipt.result.receit;
});
