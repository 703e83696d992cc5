/** The bar as an XState machine: which action is legal where, what each one does, and what a wrong input is told. */
import { setTimeout as pause } from 'node:timers/promises';
import { setup } from 'xstate';
import { z } from 'zod';
import { mount } from '../../src/index.ts';

const prices = { espresso: 2.5, latte: 4 };
const modifiers = ['oat', 'soy', 'almond'];

/** The price list hangs when it is asked for the first time. */
const hangsMs = 60_000;
let isFirst = true;

class OutOfStock extends Error {
  override name = 'OutOfStock';
}

const machine = setup({
  types: {
    context: {} as { drink: string | null; price: number; modifiers: string[] },
    events: {} as { type: 'take_order' | 'add_modifier' | 'pay' | 'fulfill' | 'cancel' },
  },
}).createMachine({
  id: 'coffee',
  initial: 'idle',
  context: { drink: null, price: 0, modifiers: [] },
  states: {
    idle: { on: { take_order: 'ordering' } },
    ordering: { on: { add_modifier: 'ordering', pay: 'paid', cancel: 'cancelled' } },
    paid: { on: { fulfill: 'served' } },
    served: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

export const workflow = mount(machine, {
  description: 'Sells one coffee.',
  actionTimeoutSeconds: 1,
  actions: {
    take_order: {
      description: 'Writes a drink down, with its price.',
      input: z.object({ drink: z.enum(['espresso', 'latte']) }),
      effect: 'pure', // it only looks at the price list: asked twice, nothing happens twice
      run: async ({ drink }, ctx) => {
        const wait = isFirst ? hangsMs : 0;
        isFirst = false;
        await pause(wait, undefined, { signal: ctx.signal }); // the signal aborts at the timeout
        return { price: prices[drink] };
      },
      update: ({ inputs, result }) => ({ drink: inputs.drink, price: (result as { price: number }).price }),
    },
    add_modifier: {
      description: 'Adds oat, soy or almond milk to the order, if there is any.',
      input: z.object({ modifier: z.string() }),
      effect: 'pure', // it only looks into the fridge
      run: async ({ modifier }) => {
        if (modifier === 'almond') throw new OutOfStock('almond milk is out; there is oat and soy');
        return { modifier };
      },
      update: ({ context, inputs }) => ({ modifiers: [...context.modifiers, inputs.modifier] }),
    },
    pay: { description: 'Takes the money.', run: async (_inputs, ctx) => ({ paid: ctx.context.price }) },
    fulfill: { description: 'Hands the cup over.', run: async (_inputs, ctx) => ({ served: ctx.context.drink }) },
    cancel: { description: 'Gives the order up.', run: async () => ({}) },
  },
  inputValidators: {
    add_modifier: ({ modifier }) =>
      modifiers.includes(modifier) || {
        field: 'modifier',
        reason: `modifier must be one of: ${modifiers.join(', ')}`,
      },
  },
});
