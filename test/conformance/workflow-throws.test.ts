/** What a throw of an action's own body proves about its effect. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { createMachine } from 'xstate';
import { mount, tool } from '../../src/index.ts';
import { eventually } from '../support/eventually.ts';
import { openWorkflow, refusal, success } from '../support/open-workflow.ts';
import { createHeld } from '../support/workflows.ts';

interface Asks {
  readonly tools: { call(name: string, args?: unknown): Promise<unknown> };
  readonly elicit: (message: string) => Promise<unknown>;
  readonly fail: (failure: { kind: string; message: string }) => never;
}

const machine = createMachine({ id: 'w', initial: 'a', states: { a: { on: { go: 'a', other: 'a' } } } });

let written = 0;
const tools = [
  tool({ name: 'read', input: {}, effect: 'pure', run: async () => 'read' }),
  tool({ name: 'write', input: {}, run: async () => (written += 1) }),
  tool({ name: 'lost', input: {}, run: async () => Promise.reject(new Error('the line went dead')) }),
  tool({ name: 'picky', input: { type: 'object', required: ['n'] }, run: async () => 'picked' }),
];

async function opened(t: TestContext, action: object) {
  const actions = { go: action, other: { run: async () => ({}) } };
  const gateway = await openWorkflow(t, [mount(machine, { actions } as never)], { tools: tools as never });
  return { gateway, session: await gateway.open() };
}

const throws = async () => {
  throw new RangeError('must read the file before editing it');
};

describe('a throw of an action’s own body', () => {
  const harmless: Readonly<Record<string, object>> = {
    'that declares nothing': { run: throws },
    'in a worker': { isolate: true, run: throws },
    'whose client cannot be asked': { run: async (_: unknown, ctx: Asks) => ctx.elicit('may I?') },
    'that has called a read': {
      run: async (_: unknown, ctx: Asks) => (await ctx.tools.call('read'), throws()),
    },
    'that has called a tool which was refused': {
      run: async (_: unknown, ctx: Asks) => (await ctx.tools.call('picky', {}), throws()),
    },
    'that says so by ctx.fail': {
      run: async (_: unknown, ctx: Asks) => ctx.fail({ kind: 'threw', message: 'not today' }),
    },
  };
  for (const [what, action] of Object.entries(harmless))
    test(`[C9-throw-1] [S000-error-3] ${what} did not happen: effect none, and the action stays legal`, async (t) => {
      const { gateway, session } = await opened(t, action);
      const reply = refusal(await gateway.ask('go', {}, { session }), 'action_error');
      assert.deepEqual([reply.effect, reply.valid_next_actions], ['none', ['go', 'other']]);
      refusal(await gateway.ask('go', {}, { session }), 'action_error');
      assert.deepEqual(await gateway.next(session), ['go', 'other']);
    });

  const doubtful: Readonly<Record<string, object>> = {
    'that declares its effect class': { effect: 'plain', run: throws },
    'that declares not to be atomic': { atomic: false, run: throws },
    'in a worker that declares its effect class': { effect: 'plain', isolate: true, run: throws },
    'that has called a write': {
      run: async (_: unknown, ctx: Asks) => (await ctx.tools.call('write'), throws()),
    },
    'that has called a write and claims to be atomic': {
      atomic: true,
      run: async (_: unknown, ctx: Asks) => (await ctx.tools.call('write'), throws()),
    },
    'that has called a write and names what refused it': {
      run: async (_: unknown, ctx: Asks) => (
        await ctx.tools.call('write'),
        ctx.fail({ kind: '404_not_found', message: 'no such order' })
      ),
    },
    'that has called a tool whose effect is unknown': {
      run: async (_: unknown, ctx: Asks) => (await ctx.tools.call('lost'), throws()),
    },
    'that does not wait for the tool it called': {
      run: async (_: unknown, ctx: Asks) => (void ctx.tools.call('write'), throws()),
    },
    'that ends its worker': { isolate: true, run: async () => process.exit(3) },
  };
  for (const [what, action] of Object.entries(doubtful))
    test(`[C9-throw-2] ${what} may have happened: effect unknown, and the action is fenced`, async (t) => {
      const { gateway, session } = await opened(t, action);
      const reply = refusal(await gateway.ask('go', {}, { session }), 'action_error');
      assert.deepEqual([reply.effect, reply.valid_next_actions], ['unknown', ['other']]);
      refusal(await gateway.ask('go', {}, { session }), 'fenced');
    });

  test('[C9-throw-2] bound to a tool is that of the tool: effect unknown', async (t) => {
    const { gateway, session } = await opened(t, { tool: 'lost' });
    assert.equal(refusal(await gateway.ask('go', {}, { session }), 'action_error').effect, 'unknown');
    refusal(await gateway.ask('go', {}, { session }), 'fenced');
  });

  test('[C9-throw-3] after its timeout ends the doubt that the timeout left', async (t) => {
    const held = createHeld();
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const late = refusal(await gateway.ask('slow', {}, { session }), 'action_timeout');
    assert.deepEqual([late.effect, late.valid_next_actions], ['unknown', ['other']]);
    held.runs[0]?.fail(new Error('nothing was done'));
    await eventually('slow is possible again', async () => (await gateway.next(session)).includes('slow'));
    const again = gateway.ask('slow', {}, { session });
    await eventually('run 2 of the body', async () => held.runs.length === 2);
    held.runs[1]?.finish('now');
    assert.equal(success(await again).replayed, undefined);
  });
});
