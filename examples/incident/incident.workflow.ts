/**
 * An incident: it is mended and talked about at the same time, it may be handed to somebody senior and come back, and
 * it is over only when both sides are. Statecharts say this in a page; a list of steps cannot.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { setup, stateIn } from 'xstate';
import { mount } from '../../src/index.ts';

/** How long customers are left without news. Short, so that the example does not take long. */
const remindAfterMs = 500;
const rolloutMs = 800;

const machine = setup({
  types: {
    context: {} as { cause: string | null; updates: number },
    events: {} as {
      type:
        | 'declare'
        | 'find_cause'
        | 'roll_out_fix'
        | 'confirm'
        | 'post_update'
        | 'announce_end'
        | 'escalate'
        | 'hand_back';
    },
  },
  delays: { remind: remindAfterMs },
  guards: { 'it is mended': stateIn({ handling: { mitigation: 'mended' } }) },
}).createMachine({
  id: 'incident',
  initial: 'reported',
  context: { cause: null, updates: 0 },
  states: {
    reported: { on: { declare: 'handling' } },
    handling: {
      type: 'parallel',
      on: { escalate: 'escalated' },
      onDone: 'closed', // when both regions have come to their end
      states: {
        mitigation: {
          initial: 'searching',
          states: {
            searching: { on: { find_cause: 'fixing' } },
            fixing: { on: { roll_out_fix: 'watching' } },
            watching: { on: { confirm: 'mended' } },
            mended: { type: 'final' },
          },
        },
        communication: {
          initial: 'silent',
          states: {
            silent: { on: { post_update: 'informed' } },
            informed: {
              after: { remind: 'overdue' },
              on: {
                post_update: { target: 'informed', reenter: true }, // begins the wait anew
                announce_end: { target: 'told', guard: 'it is mended' },
              },
            },
            overdue: { on: { post_update: 'informed' } },
            told: { type: 'final' },
          },
        },
        before: { type: 'history', history: 'deep' },
      },
    },
    escalated: { on: { hand_back: 'handling.before' } }, // both sides go on where they were
    closed: { type: 'final' },
  },
});

export const workflow = mount(machine, {
  description: 'Handles one incident.',
  actions: {
    declare: { description: 'Says that there is an incident.', run: async () => ({}) },
    post_update: {
      description: 'Tells customers how it stands.',
      run: async (_inputs, ctx) => ({ posted: `the cause is ${ctx.context.cause ?? 'not known yet'}` }),
      update: ({ context }) => ({ updates: context.updates + 1 }),
    },
    find_cause: {
      description: 'Looks for the cause.',
      effect: 'pure',
      run: async () => ({ cause: 'a full disk' }),
      update: ({ result }) => ({ cause: (result as { cause: string }).cause }),
    },
    escalate: { description: 'Hands it to somebody senior.', run: async () => ({}) },
    hand_back: { description: 'Gives it back.', run: async () => ({}) },
    roll_out_fix: {
      description: 'Rolls the fix out. Takes a while.',
      run: async () => {
        await pause(rolloutMs);
        return { rolled_out: true };
      },
    },
    confirm: { description: 'Confirms that it works again.', run: async () => ({}) },
    announce_end: { description: 'Tells customers that it is over.', run: async () => ({}) },
  },
});
