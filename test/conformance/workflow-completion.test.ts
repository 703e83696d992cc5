/** CONTRACT section 4 for COMPLETION_BLOCKED where the session has a workflow: its actions, its state, its doubts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallId } from '../../src/core/call.ts';
import { completeSession } from '../../src/shell/complete.ts';
import { settleDoubt } from '../../src/shell/settle-doubt.ts';
import { anAgent } from '../support/a-policy.ts';
import { blocked } from '../support/blocked-completion.ts';
import { successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { openApprovals } from '../support/open-approvals.ts';
import { checkStepReply, refusal } from '../support/open-workflow.ts';
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
    assert.equal(await settleDoubt(doubt.call_id as CallId, { happened: 'no', by: 'ana' }, shell), 'settled');
    for (const id of [session, fork.session ?? '']) successOf(await word(id));
    held.runs[0]?.finish('late');
  });
});
