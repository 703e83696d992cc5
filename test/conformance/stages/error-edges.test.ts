/** Edges on how a step ended: which failures and refusals move a session, and which leave it where it is. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assign, setup } from 'xstate';
import { failedWith, mount, type StepError, tool, ToolFailure } from '../../../src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorkflow, refusal, success } from '../../support/open-workflow.ts';
import { createHeld } from '../../support/workflows.ts';
import { anAgent, aPolicy } from '../../support/a-policy.ts';

interface Context {
  last: StepError | null;
}

const remember = { last: ({ event }: { event: unknown }) => (event as { error: StepError }).error };

/** `charge` fails as its input says; each way out has a state of its own. */
function aShop() {
  const machine = setup({
    types: {
      context: {} as Context,
      events: {} as
        | { type: 'charge' }
        | { type: 'repair' }
        | { type: 'look' }
        | { type: 'charge.failed'; inputs: unknown; error: StepError },
    },
  }).createMachine({
    id: 'shop',
    initial: 'open',
    context: { last: null },
    states: {
      open: {
        on: {
          charge: 'paid',
          look: 'open',
          'charge.failed': [
            { target: 'forbidden', guard: failedWith({ code: 'Forbidden' }), actions: assign(remember) },
            { target: 'later', guard: failedWith({ verdict: 'server_error_5xx', class: 'ProviderTransient' }) },
            { target: 'asked', guard: failedWith({ error: 'validation_failed' }), actions: assign(remember) },
            { target: 'denied', guard: failedWith({ error: 'denied' }) },
            { target: 'applied', guard: failedWith({ effect: 'applied' }) },
          ],
        },
      },
      forbidden: { on: { repair: 'open' } },
      later: { on: { repair: 'open' } },
      asked: { on: { repair: 'open' } },
      denied: { on: { repair: 'open' } },
      applied: { type: 'final' },
      paid: { type: 'final' },
    },
  });
  return mount(machine, {
    actions: {
      charge: {
        input: { type: 'object', properties: { how: { type: 'string' } }, required: ['how'] },
        run: async ({ how }) => {
          if (how === 'forbidden') throw new ToolFailure({ kind: '403_forbidden', message: 'no card', effect: 'none' });
          if (how === 'away') throw new ToolFailure({ kind: '5xx', message: 'away', effect: 'none' });
          if (how === 'odd') throw new Error('odd');
          return { how };
        },
      },
      repair: { run: async () => ({}) },
      look: { effect: 'pure', run: async () => ({}) },
    },
  });
}

const stateOf = (view: { state: unknown }) => (view.state as { value: string }).value;
const contextOf = (view: { state: unknown }) => (view.state as { context: Context }).context;

describe('an edge on the error of a step', () => {
  test('[C6-edge-1] moves the state with the failure; the reply says where to, and what is next', async (t) => {
    const gateway = await openWorkflow(t, [aShop()]);
    const session = await gateway.open();
    const reply = refusal(await gateway.ask('charge', { how: 'forbidden' }, { session }), 'action_error');
    assert.deepEqual([stateOf(reply as never), reply.valid_next_actions, reply.seq], ['forbidden', ['repair'], 1]);
    assert.deepEqual([reply.effect, reply.code], ['none', 'Forbidden']);
    assert.deepEqual(reply.resolution, { type: 'choose_action', actions: ['repair'] });
    const view = await gateway.look(session);
    assert.deepEqual([stateOf(view), view.seq], ['forbidden', 1]);
    const { error, class: kind, code, verdict, effect } = contextOf(view).last ?? ({} as StepError);
    assert.deepEqual(
      { error, kind, code, verdict, effect },
      { error: 'action_error', kind: 'ToolTerminal', code: 'Forbidden', verdict: 'policy_denied', effect: 'none' },
    );
    const attempt = (await gateway.history(session)).find(({ kind: entry }) => entry === 'attempt');
    assert.equal(attempt?.outcome, 'action_error');
    success(await gateway.ask('repair', {}, { session }));
    assert.equal(success(await gateway.ask('charge', { how: 'well' }, { session })).done, true);
  });

  test('[C6-edge-1] and the reply of a key tells the same when it is given again', async (t) => {
    const gateway = await openWorkflow(t, [aShop()]);
    const session = await gateway.open();
    const first = refusal(await gateway.ask('charge', { how: 'away' }, { session, key: 'k' }), 'action_error');
    const again = refusal(await gateway.ask('charge', { how: 'away' }, { session, key: 'k' }), 'action_error');
    assert.deepEqual({ ...again, replayed: undefined }, { ...first, replayed: undefined });
    assert.equal((await gateway.look(session)).seq, 1);
  });

  test('[C6-edge-2] [S001-class-7] is chosen by class, code and verdict; without one all is as it was', async (t) => {
    const gateway = await openWorkflow(t, [aShop()]);
    const session = await gateway.open();
    const away = refusal(await gateway.ask('charge', { how: 'away' }, { session }), 'action_error');
    assert.equal(stateOf(away as never), 'later');
    success(await gateway.ask('repair', {}, { session }));
    const odd = refusal(await gateway.ask('charge', { how: 'odd' }, { session }), 'action_error');
    assert.deepEqual(['state' in odd, odd.valid_next_actions], [false, ['charge', 'look']]);
    assert.equal((await gateway.look(session)).seq, 2);
  });

  test('[C6-edge-3] [S001-class-7] is taken by inputs that are refused, and sees them', async (t) => {
    const gateway = await openWorkflow(t, [aShop()]);
    const session = await gateway.open();
    const reply = refusal(await gateway.ask('charge', { how: 7 }, { session }), 'validation_failed');
    assert.deepEqual([stateOf(reply as never), reply.seq, reply.valid_next_actions], ['asked', 1, ['repair']]);
    assert.deepEqual(reply.resolution, { type: 'choose_action', actions: ['repair'] });
    assert.equal(contextOf(await gateway.look(session)).last?.code, 'InputInvalid');
  });

  test('[C6-edge-3] is taken by a step that policy denies', async (t) => {
    const policy = aPolicy([
      anAgent('local', [
        ['deny', 'shop/charge'],
        ['permit', '**'],
      ]),
    ]);
    const gateway = await openWorkflow(t, [aShop()], { policy });
    const session = await gateway.open();
    const reply = refusal(await gateway.ask('charge', { how: 'well' }, { session }), 'denied');
    assert.deepEqual([stateOf(reply as never), reply.code], ['denied', 'POLICY_DENY']);
    assert.equal((await gateway.look(session)).seq, 1);
  });

  const unmoving = [
    ['a stale sequence', { expected_seq: 7 }, 'charge', { how: 'well' }],
    ['a key that was used for something else', { key: 'used' }, 'charge', { how: 'well' }],
    ['an action that is not legal here', {}, 'repair', {}],
    ['an unknown action', {}, 'chrge', {}],
  ] as const;
  for (const [name, asked, action, inputs] of unmoving)
    test(`[C6-edge-4] is not taken by ${name}`, async (t) => {
      const gateway = await openWorkflow(t, [aShop()]);
      const session = await gateway.open();
      success(await gateway.ask('look', {}, { session, key: 'used' }));
      const reply = await gateway.ask(action, inputs, { session, ...asked });
      assert.ok('error' in reply && !('state' in reply), JSON.stringify(reply));
      assert.deepEqual([stateOf(await gateway.look(session)), (await gateway.look(session)).seq], ['open', 1]);
    });

  test('[C6-edge-4] is not taken by a step that another one of its session keeps waiting', async (t) => {
    const held = createHeld({ edges: { 'slow.failed': 'hurt', 'other.failed': 'hurt' }, states: { hurt: {} } });
    const gateway = await openWorkflow(t, [held.workflow], { limits: { stepQueueMs: 1 } });
    const session = await gateway.open();
    const first = gateway.ask('slow', {}, { session });
    await eventually('the body runs', async () => held.runs.length === 1);
    refusal(await gateway.ask('other', {}, { session }), 'action_in_flight');
    held.runs[0]?.finish('done');
    success(await first);
    assert.equal(stateOf(await gateway.look(session)), 'open');
  });

  test('[C6-edge-4] is not taken by a step whose time was over before its turn came', async (t) => {
    const edges = { 'slow.failed': 'hurt', 'other.failed': 'hurt' };
    const held = createHeld({ edges, states: { hurt: {} }, timeout_seconds: 5 });
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const first = gateway.ask('slow', {}, { session });
    await eventually('the body runs', async () => held.runs.length === 1);
    refusal(await gateway.ask('other', {}, { session, deadline_seconds: 0.02 } as never), 'action_timeout');
    held.runs[0]?.finish('done');
    success(await first);
    assert.equal(stateOf(await gateway.look(session)), 'open');
  });

  const settled = [
    ['did not happen', 'no', 'hurt', 'Settled'],
    ['will never be known', 'unknown', 'hurt', 'Settled'],
    ['happened', 'yes', 'open', null],
  ] as const;
  for (const [name, happened, state] of settled)
    test(`[C6-edge-5] is not taken by a step in doubt until a person says that it ${name}`, async (t) => {
      const held = createHeld({ edges: { 'slow.failed': 'hurt' }, states: { hurt: { on: { other: 'open' } } } });
      const gateway = await openWorkflow(t, [held.workflow]);
      const session = await gateway.open();
      const reply = refusal(await gateway.ask('slow', {}, { session }), 'action_timeout');
      assert.deepEqual([reply.effect, 'state' in reply], ['unknown', false]);
      assert.equal(stateOf(await gateway.look(session)), 'open');
      const judged = await gateway.settle(reply.call_id, { happened, by: 'ann', force: true });
      assert.equal(judged, 'settled');
      const view = await gateway.look(session);
      assert.deepEqual([stateOf(view), view.seq], [state, state === 'hurt' ? 1 : 0]);
      held.runs[0]?.finish('late');
    });

  test('[C6-edge-5] is taken when its body comes back late and proves that nothing happened', async (t) => {
    const held = createHeld({ edges: { 'slow.failed': 'hurt' }, states: { hurt: { on: { other: 'open' } } } });
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    refusal(await gateway.ask('slow', {}, { session }), 'action_timeout');
    // Others go on meanwhile: the edge is that of the state in which the session stands by then.
    success(await gateway.ask('other', {}, { session }));
    held.runs[0]?.fail(new ToolFailure({ kind: 'threw', message: 'no', effect: 'none' }));
    await eventually('the state has moved', async () => stateOf(await gateway.look(session)) === 'hurt');
    assert.equal((await gateway.look(session)).seq, 2);
  });

  test('[C6-edge-5] and not for a session that was reset since', async (t) => {
    const held = createHeld({ edges: { 'slow.failed': 'hurt' }, states: { hurt: { on: { other: 'open' } } } });
    const gateway = await openWorkflow(t, [held.workflow]);
    const session = await gateway.open();
    const reply = refusal(await gateway.ask('slow', {}, { session }), 'action_timeout');
    await gateway.sessions.reset(session);
    await gateway.settle(reply.call_id, { happened: 'no', by: 'ann', force: true });
    const view = await gateway.look(session);
    assert.deepEqual([stateOf(view), view.seq], ['open', 1]);
    held.runs[0]?.finish('late');
  });

  test('[C6-edge-6] stops the session if its own code throws, and tells the failure as it was', async (t) => {
    const broken = () => {
      throw new Error('a guard of mine');
    };
    const machine = setup({}).createMachine({
      id: 'broken',
      initial: 'open',
      states: { open: { on: { go: 'over', 'go.failed': { target: 'over', guard: broken } } }, over: { type: 'final' } },
    });
    const fails = async () => {
      throw new Error('no');
    };
    const gateway = await openWorkflow(t, [mount(machine, { actions: { go: { run: fails } } } as never)]);
    const session = await gateway.open();
    const reply = refusal(await gateway.ask('go', {}, { session }), 'action_error');
    assert.deepEqual([reply.error_message, reply.effect, reply.valid_next_actions], ['no', 'none', []]);
    assert.equal((await gateway.look(session)).status, 'stopped');
    const stopped = (await gateway.history(session)).find(({ kind }) => kind === 'session_stopped');
    assert.ok(stopped !== undefined);
  });

  test('[C6-edge-2] answers for an approval that a person denies', async (t) => {
    const policy = aPolicy([
      anAgent('local', [
        ['defer', 'shop/charge'],
        ['permit', '**'],
      ]),
    ]);
    const gateway = await openWorkflow(t, [aShop()], { policy });
    const session = await gateway.open();
    refusal(await gateway.ask('charge', { how: 'well' }, { session }), 'denied');
    assert.equal(stateOf(await gateway.look(session)), 'open', 'a step that waits for a person has not ended');
    const [approval] = await gateway.approvals.list({ state: 'pending' });
    assert.ok(approval !== undefined);
    await gateway.approvals.deny(approval.approval_id, { by: 'ann' });
    await eventually('the state has moved', async () => stateOf(await gateway.look(session)) === 'denied');
  });
});

test('[C6-edge-1] a step of a tool moves by its error once its retries are over', async (t) => {
  let sent = 0;
  const charge = tool({
    name: 'charge',
    effect: 'pure',
    input: {},
    retry: { max_attempts: 1, backoff: 'fixed', jitter: 0 },
    run: async () => {
      sent += 1;
      throw new ToolFailure({ kind: '5xx', message: 'away', effect: 'none' });
    },
  });
  const machine = setup({}).createMachine({
    id: 'w',
    initial: 'open',
    states: {
      open: { on: { charge: 'paid', 'charge.failed': 'hurt' } },
      hurt: { type: 'final' },
      paid: { type: 'final' },
    },
  });
  const gateway = await openWorkflow(t, [mount(machine, { actions: { charge: { tool: 'charge' } } } as never)], {
    tools: [charge],
  });
  const session = await gateway.open();
  const reply = refusal(await gateway.ask('charge', {}, { session }), 'action_error');
  assert.deepEqual([reply.done, stateOf(reply as never)], [true, 'hurt']);
  assert.ok(sent >= 1);
});
