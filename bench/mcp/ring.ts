/** A workflow of twenty states in a ring, each with a guard that holds and one that does not: a large typical step. */
import { createMachine } from 'xstate';
import { mount } from '../../src/index.ts';

const states = 20;
const name = (n: number) => `station_${n % states}`;

const machine = createMachine({
  id: 'ring',
  initial: name(0),
  context: { laps: 0, budget: 1_000_000, orders: ['ord_8841'], customer: 'cus_77' },
  states: Object.fromEntries(
    Array.from({ length: states }, (_, n) => [
      name(n),
      {
        on: {
          advance: [
            { target: name(n + 2), guard: ({ context }: { context: { budget: number } }) => context.budget < 0 },
            { target: name(n + 1), guard: ({ context }: { context: { budget: number } }) => context.budget > 0 },
          ],
          pause: { target: name(n), guard: ({ context }: { context: { laps: number } }) => context.laps > 3 },
          stop: { target: 'stopped', guard: ({ context }: { context: { laps: number } }) => context.laps < 0 },
        },
      },
    ]).concat([['stopped', { type: 'final' }]] as never),
  ),
} as never);

export const inputs = { order: 'ord_8841', amount: 12.5, reason: 'the next station' };

const schema = {
  type: 'object',
  properties: { order: { type: 'string' }, amount: { type: 'number' }, reason: { type: 'string', maxLength: 200 } },
  required: ['order'],
  additionalProperties: false,
} as const;

export const ring = mount(machine, {
  actions: {
    advance: {
      description: 'Goes on to the next station.',
      input: schema,
      run: async () => ({ done: true, reference: 'ref_1' }),
      update: ({ context }: { context: { budget: number } }) => ({ budget: context.budget - 1 }),
    },
    pause: { description: 'Stays.', run: async () => ({}) },
    stop: { description: 'Ends the ride.', run: async () => ({}) },
  },
} as never);
