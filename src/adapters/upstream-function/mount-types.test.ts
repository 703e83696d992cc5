/** What the compiler promises an author. Most of this file is checked by the type check alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as v from 'valibot';
import * as z from 'zod';
import { createMachine, setup } from 'xstate';
import {
  mount,
  WorkflowDefinitionError,
  type ActionsOf,
  type InputsOf,
  type MountedWorkflow,
  type ResultsOf,
} from './workflow/mount.ts';
import { partial } from './tool-failure.ts';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <Claim extends true>(claim?: Claim): unknown => claim;

const machine = setup({
  types: {
    context: {} as { total: number; note: string | null },
    events: {} as { type: 'order' } | { type: 'pay' } | { type: 'tick'; inputs: never },
  },
}).createMachine({
  id: 'shop',
  initial: 'open',
  context: { total: 0, note: null },
  states: { open: { on: { order: '.', pay: '.' }, initial: 'a', states: { a: {} } } },
});

const shop = mount(machine, {
  name: 'shop',
  actions: {
    order: {
      input: z.object({ price: z.coerce.number<string>(), tags: z.array(z.string()).default([]) }),
      run: async (inputs, ctx) => {
        holds<Equal<typeof inputs, { price: number; tags: string[] }>>();
        holds<Equal<typeof ctx.context.total, number>>();
        // @ts-expect-error the schema has no such field
        void inputs.prize;
        return { id: 1 };
      },
      validators: [
        (inputs, { context }) => (inputs.price > context.total ? undefined : 'too cheap'),
        async (inputs) => ({ inputs: { ...inputs, price: '1' } }),
      ],
      operation_key: (inputs) => inputs.tags.join(),
      update: ({ context, inputs, result }) => {
        holds<Equal<typeof result, unknown>>();
        return { total: context.total + inputs.price };
      },
    },
    pay: {
      input: { type: 'object' },
      run: async (inputs: { amount: number }, ctx) =>
        inputs.amount > ctx.context.total ? ctx.fail('ToolTerminal', 'InputInvalid', 'too much') : { paid: true },
    },
  },
  inputValidators: { order: [(inputs) => inputs.price > 0 || 'free'] },
});

test('names and inputs flow from the machine and the schemas', () => {
  holds<Equal<(typeof shop)['name'], 'shop'>>();
  holds<Equal<ActionsOf<typeof shop>, 'order' | 'pay'>>();
  holds<Equal<InputsOf<typeof shop, 'order'>, { price: string; tags?: string[] | undefined }>>();
  holds<Equal<InputsOf<typeof shop, 'pay'>, Record<string, unknown>>>();
  const any: MountedWorkflow = shop;
  holds<Equal<ActionsOf<MountedWorkflow>, string>>();
  assert.equal(any.name, 'shop');
});

test('a missing, extra or wrong action is an error of the compiler, and at once', () => {
  const run = async () => ({});
  const wrong: readonly (() => unknown)[] = [
    // @ts-expect-error order does nothing
    () => mount(machine, { actions: { order: { description: 'Orders.' }, pay: { run } } }),
    // @ts-expect-error order does two things
    () => mount(machine, { actions: { order: { run, tool: 'shop/order' }, pay: { run } } }),
    // @ts-expect-error pay is missing
    () => mount(machine, { actions: { order: { run } } }),
    () =>
      mount(machine, {
        // @ts-expect-error there is no such event
        actions: { order: { run }, pay: { run }, pey: { run } },
      }),
    () =>
      mount(machine, {
        // @ts-expect-error the context has no such field
        actions: { order: { run, update: () => ({ sum: 1 }), isolate: 7 as never }, pay: { run } },
      }),
    () =>
      mount(machine, {
        actions: {
          order: {
            run,
            isolate: 7 as never,
            input: v.object({ n: v.number() }),
            // @ts-expect-error the total is a number
            update: ({ inputs }) => ({ total: String(inputs.n) }),
          },
          pay: { run },
        },
      }),
  ];
  for (const mistake of wrong) assert.throws(mistake, WorkflowDefinitionError);
});

test('an action has a body, a tool or a module', () => {
  const mounted = mount(machine, {
    actions: {
      order: { tool: 'shop/order', input: z.object({ n: z.number() }), update: ({ inputs }) => ({ total: inputs.n }) },
      pay: { isolate: new URL('./workflow/mount.ts', import.meta.url) },
    },
  });
  holds<Equal<InputsOf<typeof mounted, 'order'>, { n: number }>>();
  holds<Equal<(typeof mounted)['name'], 'shop'>>();
  assert.deepEqual(mounted.actions, ['order', 'pay']);
});

test('what a body returns must fit an output schema that has a type', () => {
  const mounted = mount(machine, {
    actions: {
      order: {
        output: z.object({ n: z.number(), kind: z.enum(['a', 'b']) }),
        run: async (_inputs, ctx) => (ctx.context.total === 0 ? { n: 1, kind: 'a' } : partial({ n: 2, kind: 'b' }, [])),
        update: ({ result }) => ({ total: result.n }),
      },
      pay: {
        input: z.object({ n: z.number() }),
        output: { type: 'object' },
        run: async ({ n }, ctx) => (n === 0 ? ctx.fail('ToolTerminal', 'NotFound', 'none') : { any: n }),
      },
    },
  });
  holds<Equal<ResultsOf<typeof mounted, 'order'>, { n: number; kind: 'a' | 'b' }>>();
  holds<Equal<ResultsOf<typeof mounted, 'pay'>, unknown>>();
  const run = async () => ({});
  const text = { output: z.object({ n: z.number() }), run: async () => ({ n: 'text' }) };
  // @ts-expect-error the schema has a number
  mount(machine, { actions: { order: text, pay: { run } } });
  mount(machine, {
    actions: {
      // @ts-expect-error the schema has a number
      order: { output: z.object({ n: z.number() }), run: async () => ({ n: 'text' }) },
      pay: { run },
    },
  });
  mount(machine, {
    actions: {
      order: {
        input: z.object({ n: z.string() }),
        output: z.object({ n: z.number() }),
        // @ts-expect-error the schema has a number
        run: async ({ n }) => ({ n }),
      },
      pay: { run },
    },
  });
});

test('a machine whose events have no types takes any names', () => {
  const untyped = createMachine({ id: 'free', initial: 'a', states: { a: { on: { go: 'a' } } } });
  const free = mount(untyped, { actions: { go: { input: v.object({ n: v.number() }), run: async ({ n }) => n + 1 } } });
  holds<Equal<ActionsOf<typeof free>, 'go'>>();
  holds<Equal<InputsOf<typeof free, 'go'>, { n: number }>>();
  assert.deepEqual(free.actions, ['go']);
});

test('a machine of another release of XState is known by its shape', () => {
  // Before 5.29 machines had no options: such a one is no StateMachine to the compiler.
  const foreign: Omit<typeof machine, 'options'> = machine;
  const run = async () => ({});
  const mounted = mount(foreign, {
    actions: {
      order: {
        input: z.object({ price: z.number() }),
        run: async (_inputs, ctx) => {
          holds<Equal<typeof ctx.context.note, string | null>>();
          return {};
        },
        update: ({ context, inputs }) => ({ total: context.total + inputs.price }),
      },
      pay: { run },
    },
  });
  holds<Equal<(typeof mounted)['name'], 'shop'>>();
  holds<Equal<ActionsOf<typeof mounted>, 'order' | 'pay'>>();
  holds<Equal<InputsOf<typeof mounted, 'order'>, { price: number }>>();
  assert.deepEqual(mounted.actions, ['order', 'pay']);
  // @ts-expect-error there is no such event
  assert.throws(() => mount(foreign, { actions: { order: { run }, pay: { run }, pey: { run } } }));
  // @ts-expect-error that is no machine
  assert.throws(() => mount({ id: 'shop', config: {} }, { actions: { order: { run } } }));

  const untyped: Omit<ReturnType<typeof createMachine>, 'options'> = createMachine({
    id: 'free',
    initial: 'a',
    states: { a: { on: { go: 'a' } } },
  });
  const free = mount(untyped, { actions: { go: { input: v.object({ n: v.number() }), run } } });
  holds<Equal<(typeof free)['name'], string>>();
  holds<Equal<InputsOf<typeof free, 'go'>, { n: number }>>();
});
