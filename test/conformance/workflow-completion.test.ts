/** CONTRACT section 4 for COMPLETION_BLOCKED where the session has a workflow: its actions, its state, its doubts. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { assign, setup } from 'xstate';
import type { ApprovalId } from '../../src/core/approval/approval.ts';
import type { CallId } from '../../src/core/call/call.ts';
import type { WrittenCompletion } from '../../src/core/policy/policy.ts';
import { mount, type ToolContext } from '../../src/index.ts';
import { completeSession } from '../../src/shell/completion/complete.ts';
import { settleDoubt } from '../../src/shell/ending/settle-doubt.ts';
import { anAgent } from '../support/a-policy.ts';
import { blocked } from '../support/blocked-completion.ts';
import { successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { ana, openApprovals } from '../support/open-approvals.ts';
import { checkStepReply, refusal } from '../support/open-workflow.ts';
import { aTool } from '../support/tools.ts';
import { coffee, createHeld } from '../support/workflows.ts';

const local = { tenant: 'default', agent: 'local' };

describe('the session of a workflow', () => {
  test('[C4-complete-3] [C4-complete-4] is complete by its actions and its state, and its history says so', async (t) => {
    const completion = { require: ['pay', 'coffee/fulfill'], condition: 'state.value == "served"' };
    const written = anAgent('local', [['permit', '**']], {
      completion: { when: null, ref: 'recourse.yaml:9', ...completion },
    });
    const opened = await openApprovals(t, [], { agents: [written], workflows: [coffee()] });
    const { gateway, shell } = opened;
    const view = await gateway.sessions.open('coffee');
    const session = 'session' in view && view.session !== null ? view.session : assert.fail();
    const step = async (action: string, inputs: object = {}) =>
      successOf(checkStepReply(await gateway.handleStep({ workflow: 'coffee', action, inputs, session })));
    const word = async () => checkStepReply(await completeSession({ session }, local, shell));
    await step('take_order', { drink: 'latte' });
    const early = blocked(await word());
    assert.equal(
      early.human_message,
      "agent cannot complete: 'pay' not done, 'coffee/fulfill' not done, its condition does not hold",
    );
    assert.deepEqual(early.resolution, { type: 'choose_action', actions: ['pay'] }, 'what is missing and possible now');
    await step('pay');
    assert.deepEqual(blocked(await word()).resolution, { type: 'choose_action', actions: ['fulfill'] });
    const served = await step('fulfill');
    const done = successOf(await word());
    assert.deepEqual([done.state, done.seq, done.done, done.valid_next_actions], [served.state, 3, true, []]);
    assert.match(refusal(await word(), 'session_error').message, /closed \(completed\)/);
    const history = await gateway.sessions.history(session);
    const entries = 'entries' in history ? history.entries : assert.fail();
    const told = entries.find(({ kind }) => kind === 'session_completed');
    assert.deepEqual([told?.seq, told?.state_after], [3, entries.findLast(({ seq }) => seq === 3)?.state_after]);
  });

  test('[C4-complete-2] is not complete while a step runs or is in doubt, and neither is its fork', async (t) => {
    const held = createHeld();
    const opened = await openApprovals(t, [], {
      agents: [anAgent('local', [['permit', '**']])],
      workflows: [held.workflow],
    });
    const { gateway, shell } = opened;
    const view = await gateway.sessions.open('held');
    const session = 'session' in view && view.session !== null ? view.session : assert.fail();
    const word = async (id: string) => checkStepReply(await completeSession({ session: id }, local, shell));
    const running = gateway.handleStep({ workflow: 'held', action: 'slow', inputs: {}, session });
    await eventually('the body runs', async () => held.runs.length === 1);
    assert.equal(blocked(await word(session)).human_message, 'agent cannot complete: 1 call under way');
    const doubt = refusal(await running, 'action_timeout');
    const fork = await gateway.sessions.fork(session);
    for (const id of [session, fork.session ?? '']) {
      const denied = blocked(await word(id));
      assert.equal(denied.human_message, 'agent cannot complete: 1 call in doubt');
      assert.deepEqual(denied.resolution, { type: 'reconcile', call_id: doubt.call_id });
    }
    assert.equal(
      await settleDoubt(doubt.call_id as CallId, { happened: 'no', by: 'ana', force: true }, shell),
      'settled',
    );
    for (const id of [session, fork.session ?? '']) successOf(await word(id));
    held.runs[0]?.finish('late');
  });
});

describe('an approval that the session of a workflow waits for', () => {
  const machine = setup({
    types: { context: {} as { limit: number }, events: {} as { type: string; inputs: { amount: number } } },
  }).createMachine({
    id: 'trip',
    initial: 'here',
    context: { limit: 10 },
    states: {
      here: {
        on: {
          pay: { target: 'here', guard: ({ event, context }) => event.inputs.amount <= context.limit },
          tip: 'here',
          book: 'here',
          spend: { actions: assign({ limit: 1 }) },
          leave: 'away',
        },
      },
      away: { on: { back: 'here', spend: {} } },
    },
  });
  const nothing = { run: async () => ({}) };
  const trip = mount(machine, {
    actions: {
      pay: nothing,
      tip: nothing,
      spend: nothing,
      leave: nothing,
      back: nothing,
      book: {
        run: async (_inputs: unknown, ctx: ToolContext) => {
          const reply = await ctx.tools.call('charge', {});
          return { charged: !('error' in reply) };
        },
      },
    },
  } as never);

  const open = async (t: TestContext, completion?: Partial<WrittenCompletion>) => {
    const written = { require: [], when: null, condition: null, ref: 'recourse.yaml:9', ...completion };
    const agent = anAgent(
      'local',
      [
        ['defer', 'trip/pay'],
        ['defer', 'trip/tip'],
        ['defer', 'charge'],
        ['permit', '**'],
      ],
      completion === undefined ? {} : { completion: written },
    );
    const opened = await openApprovals(t, [aTool('charge', () => 'charged')], { agents: [agent], workflows: [trip] });
    const { gateway, shell, approvals } = opened;
    const view = await gateway.sessions.open('trip');
    const session = 'session' in view && view.session !== null ? view.session : assert.fail();
    const step = async (action: string, inputs: object = {}) =>
      checkStepReply(await gateway.handleStep({ workflow: 'trip', action, inputs, session }));
    return {
      ...opened,
      session,
      step,
      word: async () => checkStepReply(await completeSession({ session }, local, shell)),
      /** Asks for a step that a person must approve. */
      defer: async (action: string, inputs: object = {}) => {
        const { resolution } = refusal(await step(action, inputs), 'denied');
        return resolution.type === 'pending_approval' ? resolution.approval_id : assert.fail();
      },
      grant: async (id: string) => assert.ok((await approvals.approve(id, ana, {})).ok),
      stateOf: async (id: string) => (await shell.ports.store.approval(id as ApprovalId))?.state,
    };
  };
  const pending = (id: string) => ({ type: 'pending_approvals', approval_ids: [id] });

  test('[C4-complete-2] blocks it where a body asked, and no more once the body was asked again', async (t) => {
    const { step, word, all, grant, session, gateway } = await open(t);
    assert.deepEqual(successOf(await step('book')).result, { charged: false });
    const [{ approval_id: id } = assert.fail()] = await all();
    const denied = blocked(await word());
    assert.deepEqual(
      [denied.human_message, denied.resolution],
      ['agent cannot complete: 1 approval pending', pending(id)],
    );
    await grant(id);
    assert.match(blocked(await word()).human_message, /1 approval granted and not used$/);
    const history = await gateway.sessions.history(session);
    const told = ('entries' in history ? history.entries : []).filter(({ kind }) => kind === 'approval_awaited');
    assert.deepEqual(
      told.map(({ detail }) => detail),
      [{ approval: id, through: 'book' }],
    );
    assert.deepEqual(successOf(await step('book')).result, { charged: true });
    successOf(await word());
  });

  test('[C4-complete-2] was granted and cannot be used from where it stands: it ends, and then the session does', async (t) => {
    const { step, word, defer, grant, stateOf, shell, session } = await open(t);
    const ids = [await defer('tip'), await defer('pay', { amount: 5 })];
    for (const id of ids) await grant(id);
    assert.match(blocked(await word()).human_message, /2 approvals granted and not used$/);
    successOf(await step('leave'));
    successOf(await word());
    for (const id of ids) {
      assert.equal(await stateOf(id), 'void');
      const approval = await shell.ports.store.approval(id as ApprovalId);
      assert.equal((await shell.ports.store.call(approval?.callId as CallId))?.state, 'DENIED');
    }
    const entries = await shell.ports.store.sessionEntries(session as never, 0, 100);
    const kinds = entries.map(({ kind }) => kind).filter((kind) => /voided|completed/.test(kind));
    assert.deepEqual(kinds, ['approval_voided', 'approval_voided', 'session_completed']);
    refusal(await step('back'), 'session_error');
  });

  test('[C4-complete-2] blocks while a person is asked, whether or not its step can be reached', async (t) => {
    const { step, word, defer, grant, stateOf } = await open(t);
    const id = await defer('tip');
    successOf(await step('leave'));
    assert.deepEqual(blocked(await word()).resolution, pending(id));
    await grant(id);
    successOf(await word());
    assert.equal(await stateOf(id), 'void');
  });

  test('[C4-complete-2] stays as it is while anything else blocks, and is used when its step is reached again', async (t) => {
    const { step, word, defer, grant, stateOf } = await open(t, { require: ['back'] });
    const id = await defer('tip');
    await grant(id);
    successOf(await step('leave'));
    assert.equal(blocked(await word()).human_message, "agent cannot complete: 'back' not done");
    assert.equal(await stateOf(id), 'granted');
    successOf(await step('back'));
    assert.match(blocked(await word()).human_message, /1 approval granted and not used$/);
    successOf(await step('tip'));
    successOf(await word());
  });

  test('[C4-complete-2] is in reach as its own inputs are, where a guard looks at them', async (t) => {
    const { step, word, defer, grant, stateOf } = await open(t);
    const [large, small] = [await defer('pay', { amount: 5 }), await defer('pay', { amount: 1 })];
    await grant(large);
    await grant(small);
    successOf(await step('spend'));
    assert.deepEqual(blocked(await word()).resolution, pending(small));
    successOf(await step('pay', { amount: 1 }));
    successOf(await word());
    assert.deepEqual([await stateOf(large), await stateOf(small)], ['void', 'used']);
  });

  test('[C4-complete-2] is left to others where only a body out of reach asked for it here', async (t) => {
    const { step, word, all, grant, stateOf, call } = await open(t);
    successOf(await step('book'));
    const [{ approval_id: id } = assert.fail()] = await all();
    await grant(id);
    successOf(await step('leave'));
    successOf(await word());
    assert.equal(await stateOf(id), 'granted');
    successOf(await call({ tool: 'charge' }));
    assert.equal(await stateOf(id), 'used');
  });
});
