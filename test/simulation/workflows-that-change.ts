/**
 * Workflows of a simulated world that move by themselves, or change under their sessions from one version to the next.
 */
import { assign, createMachine } from 'xstate';
import { mount } from '../../src/adapters/upstream-function/workflow/mount.ts';
import { served } from './workflow-setting.ts';

/** Late after three seconds. */
export const timed = () =>
  served(
    mount(
      createMachine({
        id: 'timed',
        initial: 'waiting',
        context: { count: 0 },
        states: {
          waiting: { after: { 3_000: 'late' }, on: { increment: 'waiting' } },
          late: { entry: assign({ count: 1 }), on: { increment: 'late' } },
        },
      }),
      { actions: { increment: { tool: 'mail' } } } as never,
    ),
  );

/** The second version counts in tens, and says how to carry over what counted in ones. */
export const versioned = (version: number) =>
  served(
    mount(
      createMachine({
        id: 'versioned',
        initial: 'open',
        context: { count: 0 },
        states: { open: { on: { increment: 'open' } } },
      }),
      {
        version: String(version),
        actions: {
          increment: {
            tool: 'mail',
            update: ({ context }: { context: { count: number } }) => ({ count: context.count + 1 }),
          },
        },
        migrations: {
          '1': ({ value, context }: { value: unknown; context: { count: number } }) => ({
            value,
            context: { count: context.count * 10 },
          }),
        },
      } as never,
    ),
  );

/** The second version begins elsewhere, and waits there; what the first one waited for would count a hundred. */
export const waitingElsewhere = (version: number) =>
  served(
    mount(
      createMachine({
        id: 'elsewhere',
        initial: version === 1 ? 'here' : 'there',
        context: { count: 0 },
        states: {
          here: { after: { 300_000: { actions: assign({ count: 100 }) } }, on: { increment: 'there' } },
          there: { after: { 3_000: 'late' }, on: { increment: 'here' } },
          late: { entry: assign({ count: 1 }), on: { increment: 'late' } },
        },
      }),
      {
        version: String(version),
        actions: { increment: { tool: 'mail' } },
        migrations: { '1': ({ context }: { context: object }) => ({ value: 'there', context }) },
      } as never,
    ),
  );
