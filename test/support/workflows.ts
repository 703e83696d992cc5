/** Workflows as tests need them: a coffee bar, a counter, and bodies that end when the test says so. */
import { assign, createMachine, setup } from 'xstate';
import { mount } from '../../src/index.ts';

type Bodies = Readonly<Record<string, (inputs: never, ctx: never) => unknown>>;

export const modifiers = ['oat', 'soy', 'almond'];

export const coffeeMachine = setup({
  types: {
    context: {} as { drink: string | null; modifiers: string[] },
    events: {} as
      | { type: 'take_order'; inputs: { drink: string }; result: { drink: string } }
      | { type: 'add_modifier'; inputs: { modifier: string } }
      | { type: 'pay' }
      | { type: 'fulfill' }
      | { type: 'cancel' },
  },
}).createMachine({
  id: 'coffee',
  initial: 'idle',
  context: { drink: null, modifiers: [] },
  states: {
    idle: {
      on: { take_order: { target: 'ordering', actions: assign({ drink: ({ event }) => event.result.drink }) } },
    },
    ordering: {
      on: {
        add_modifier: {
          guard: function roomForMore({ context }) {
            return context.modifiers.length < 3;
          },
          actions: assign({ modifiers: ({ context, event }) => [...context.modifiers, event.inputs.modifier] }),
        },
        pay: 'paid',
        cancel: 'cancelled',
      },
    },
    paid: { on: { fulfill: 'served' } },
    served: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

export const coffee = (more: object = {}) =>
  mount(coffeeMachine, {
    ...more,
    actions: {
      take_order: {
        input: { type: 'object', properties: { drink: { type: 'string' } }, required: ['drink'] },
        run: async (inputs: { drink: string }) => ({ drink: inputs.drink }),
      },
      add_modifier: { run: async () => ({}) },
      pay: { run: async () => ({ paid: true }) },
      fulfill: { run: async () => ({}) },
      cancel: { run: async () => ({}) },
    },
    inputValidators: {
      add_modifier: (inputs) =>
        modifiers.includes(String((inputs as { modifier?: unknown }).modifier))
          ? undefined
          : { field: 'modifier', reason: `modifier must be one of: ${modifiers.join(', ')}` },
    },
  });

/** One state that stays, and a count that each `increment` raises by the result of its body. */
export const counter = (more: object = {}) =>
  mount(
    createMachine({
      id: 'counter',
      initial: 'counting',
      context: { count: 0 },
      states: { counting: { on: { increment: 'counting', look: 'counting' } } },
    }),
    {
      actions: {
        increment: {
          run: async () => ({}),
          update: ({ context }: { context: { count: number } }) => ({ count: context.count + 1 }),
        },
        look: { effect: 'pure', run: async () => ({}) },
      },
      ...more,
    } as never,
  );

/** `slow` runs until the test lets it go; `other` answers at once. Neither obeys its signal. */
export function createHeld({
  edges = {},
  states = {},
  ...settings
}: {
  readonly effect?: string;
  readonly edges?: object;
  readonly states?: object;
  readonly [more: string]: unknown;
} = {}) {
  const runs: { finish(value: unknown): void; fail(error: unknown): void; signal: AbortSignal }[] = [];
  const body = async (_inputs: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise((resolve, reject) => runs.push({ finish: resolve, fail: reject, signal }));
  const workflow = mount(
    createMachine({
      id: 'held',
      initial: 'open',
      context: { done: [] as string[] },
      states: { open: { on: { slow: 'open', other: 'open', ...edges } }, ...states },
    } as never),
    {
      actions: {
        slow: {
          timeout_seconds: 0.2,
          run: body,
          update: ({ context, result }: { context: { done: string[] }; result: unknown }) => ({
            done: [...context.done, String(result)],
          }),
          ...settings,
        },
        other: { run: async () => 'other' },
      },
    } as never,
  );
  return { workflow, runs };
}

export type { Bodies };
