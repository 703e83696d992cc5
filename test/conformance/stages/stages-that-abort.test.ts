/** A stage that gives its workflow up: what its calls did is undone, the last first. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMachine } from 'xstate';
import { mount, tool, ToolFailure } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorkflow, refusal } from '../../support/open-workflow.ts';

interface Ctx {
  readonly call: (tool: string, args: object) => Promise<unknown>;
}

test('[C6-stage-9] abort-workflow undoes the calls of the stage, and says what it did before', async (t) => {
  const ledger: string[] = [];
  const named = (name: string, more: object = {}) =>
    tool({
      name,
      effect: 'plain',
      input: { type: 'object' },
      run: async (args: { what?: string }) => {
        if (args.what === 'broken') throw new ToolFailure({ kind: '404_not_found', message: 'gone', effect: 'none' });
        ledger.push(`${name} ${String(args.what)}`);
        return { id: args.what };
      },
      ...more,
    } as never);
  const book = named('book', { reverse: { tool: 'unbook', args: { what: 'result.id' }, window_seconds: 3_600 } });
  const flow = mount(
    createMachine({
      id: 'trip',
      initial: 'open',
      states: { open: { on: { travel: 'gone' } }, gone: { type: 'final' } },
    }),
    {
      actions: {
        travel: {
          stage: {
            act: async ({ call }: Ctx) => {
              await call('book', { what: 'flight' });
              await call('book', { what: 'hotel' });
              await call('book', { what: 'broken' });
            },
            unrecoverable: 'abort-workflow',
          },
        },
      },
    } as never,
  );
  const gateway = await openWorkflow(t, [flow], { tools: [book, named('unbook')] });
  const session = await gateway.open();
  const reply = refusal(await gateway.ask('travel', {}, { session }), 'action_error');
  assert.deepEqual([reply.code, reply.effect, reply.valid_next_actions], ['NotFound', 'applied', []]);
  await eventually('it was rolled back', async () => ledger.length === 4);
  assert.deepEqual(ledger, ['book flight', 'book hotel', 'unbook hotel', 'unbook flight']);
  refusal(await gateway.ask('travel', {}, { session }), 'session_error');
});
