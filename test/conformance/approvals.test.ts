/** CONTRACT sections 1 (gate 12), 4 and 6 for approvals, on a real store: asked for, granted, used once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { httpStatusOf } from '../../src/index.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { ana, ben, openApprovals } from '../support/open-approvals.ts';
import { ask, deferralOf, refunds } from '../support/refunds.ts';
import { createCountingTool } from '../support/tools.ts';

describe('a deferred call', () => {
  test('[C4-defer-1] [S002-defer-1] is POLICY_DEFER in the form of the seed, with the reason of its rule, 202, and nothing runs', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, gateway, shell, all } = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    const denied = deferralOf(await call(ask));
    assert.deepEqual(
      [denied.human_message, denied.rule_ref, httpStatusOf(denied), denied.resolution],
      [
        'payments/refund deferred for operator approval',
        'recourse.yaml:11',
        202,
        { type: 'pending_approval', approval_id: denied.id },
      ],
    );
    assert.equal(denied.message, 'payments/refund deferred for operator approval: money leaves the house');
    assert.equal((await shell.ports.store.call(denied.call_id as never))?.state, 'AWAITING_APPROVAL');
    const [view] = await all();
    assert.deepEqual(
      [view?.approval_id, view?.state, view?.args, view?.rule_ref, view?.reason, view?.call_id],
      [denied.id, 'pending', { amount: 100 }, 'recourse.yaml:11', 'money leaves the house', denied.call_id],
    );
    assert.deepEqual(await gateway.reply(denied.call_id), { ...(await gateway.reply(denied.call_id)) });
    assert.equal(refund.runs(), 0);
  });

  test('[C6-approval-1] waits for its caller, who asks again, and runs once under its own id', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals, all } = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    const first = deferralOf(await call(ask));
    const again = deferralOf(await call(ask));
    assert.deepEqual([again.id, again.call_id], [first.id, first.call_id]);
    const decided = await approvals.approve(first.id, ana, {});
    assert.ok(decided.ok);
    assert.equal(decided.approval.state, 'granted');
    const done = successOf(await call(ask));
    assert.equal(done.call_id, first.call_id);
    assert.equal(refund.runs(), 1);
    const next = deferralOf(await call(ask));
    assert.notEqual(next.id, first.id);
    assert.deepEqual(
      (await all()).map(({ state }) => state),
      ['pending', 'used'],
    );
  });

  test('[C6-approval-2] a thousand concurrent attempts with one approval have one effect', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals, all } = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    const { id } = deferralOf(await call(ask));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    const replies = await Promise.all(Array.from({ length: 1_000 }, () => call(ask)));
    assert.equal(replies.filter((reply) => 'action' in reply).length, 1);
    assert.equal(refund.runs(), 1);
    assert.deepEqual(
      (await all()).map(({ state }) => state),
      ['pending', 'used'],
    );
  });

  test('[C6-approval-3] other arguments, another agent, other rules: not approved', async (t) => {
    const refund = createCountingTool('payments/refund');
    const other = { ...refunds(), agent: 'other' };
    const agents = [refunds(), other];
    const { call, approvals, change } = await openApprovals(t, [refund.definition], { agents });
    const { id } = deferralOf(await call(ask));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    assert.notEqual(deferralOf(await call({ ...ask, args: { amount: 101 } })).id, id);
    assert.notEqual(deferralOf(await call(ask, { agent: 'other' })).id, id);
    const changed = refunds({ needed: 2 });
    change({ agents: [changed] });
    const fresh = deferralOf(await call(ask));
    assert.notEqual(fresh.id, id);
    assert.equal((await approvals.read(id, { tenant: 'default', agent: null }))?.state, 'void');
    change({ agents: [refunds()] });
    assert.notEqual(deferralOf(await call(ask)).id, id);
    assert.equal(refund.runs(), 0);
  });

  test('[C6-approval-4] a moved line, another reason or a reordered unrelated rule leave it as it is', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals, change } = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    const { id } = deferralOf(await call(ask));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    const { rules } = refunds();
    const moved = [...rules]
      .reverse()
      .map((rule, index) => ({ ...rule, ref: `recourse.yaml:${50 + index}`, reason: 'as I said' }));
    change({ agents: [{ ...refunds(), rules: moved }] });
    successOf(await call(ask));
    assert.equal(refund.runs(), 1);
  });

  test('[C6-approval-5] expires, and is not used after that', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals, shell } = await openApprovals(t, [refund.definition], {
      agents: [refunds({ expiresMs: 300 })],
    });
    const { id, call_id } = deferralOf(await call(ask));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    await eventually(
      'expired',
      async () => (await approvals.read(id, { tenant: 'default', agent: null }))?.state === 'expired',
    );
    assert.notEqual(deferralOf(await call(ask)).id, id);
    await eventually('its call too', async () => (await shell.ports.store.call(call_id as never))?.state === 'EXPIRED');
    assert.equal(refund.runs(), 0);
  });

  test('[C6-approval-6] denied with a reason: equal calls hear it, and nobody is asked again', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals, all, gateway } = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    const { id, call_id } = deferralOf(await call(ask));
    assert.ok((await approvals.deny(id, ana, { reason: 'ask the customer first' })).ok);
    const denied = errorOf(await call(ask), 'denied');
    assert.deepEqual(
      [denied.code, denied.human_message, denied.rule_ref],
      ['POLICY_DENY', 'denied: payments/refund was denied by ana: ask the customer first', 'recourse.yaml:11'],
    );
    assert.equal((await all()).length, 1);
    assert.equal(errorOf((await gateway.reply(call_id)) as never, 'denied').code, 'POLICY_DENY');
    assert.ok((await approvals.revoke(id, ben, {})).ok);
    assert.notEqual(deferralOf(await call(ask)).id, id);
    assert.equal(refund.runs(), 0);
  });

  test('[C6-approval-7] revoked before it was used: not approved', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals } = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    const { id } = deferralOf(await call(ask));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    assert.ok((await approvals.revoke(id, ben, { reason: 'wrong order' })).ok);
    assert.notEqual(deferralOf(await call(ask)).id, id);
    assert.equal(refund.runs(), 0);
  });

  test('[C6-approval-10] on_approve run: it runs by itself, once, and whoever asks later gets the result', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals } = await openApprovals(t, [refund.definition], {
      agents: [refunds({ onApprove: 'run' })],
    });
    const { id, call_id } = deferralOf(await call(ask));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    await eventually('it ran', async () => refund.runs() === 1);
    for (let times = 0; times < 3; times++) {
      const later = successOf(await call(ask));
      assert.deepEqual([later.call_id, later.replayed], [call_id, true]);
    }
    assert.equal(refund.runs(), 1);
  });

  test('[C6-approval-12] open ones of an agent are limited', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals, all } = await openApprovals(t, [refund.definition], {
      agents: [refunds()],
      limits: { maxPendingApprovals: 2 },
    });
    const { id } = deferralOf(await call({ ...ask, args: { amount: 1 } }));
    deferralOf(await call({ ...ask, args: { amount: 2 } }));
    const full = errorOf(await call({ ...ask, args: { amount: 3 } }), 'denied');
    assert.equal(full.code, 'POLICY_DENY');
    assert.equal((await all()).length, 2);
    deferralOf(await call({ ...ask, args: { amount: 1 } }));
    assert.ok((await approvals.deny(id, ana, {})).ok);
    deferralOf(await call({ ...ask, args: { amount: 3 } }));
  });

  test('[C6-approval-14] survives a restart in every state', async (t) => {
    const refund = createCountingTool('payments/refund');
    const first = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    const { id } = deferralOf(await first.call(ask));
    await first.close();
    const second = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    assert.equal(deferralOf(await second.call(ask)).id, id);
    assert.ok((await second.approvals.approve(id, ana, {})).ok);
    await second.close();
    const third = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    successOf(await third.call(ask));
    await third.close();
    const last = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    assert.notEqual(deferralOf(await last.call(ask)).id, id);
    assert.equal(refund.runs(), 1);
  });

  test('[C9-audit-2] audit mode opens no approvals and says what it would have asked', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, all } = await openApprovals(t, [refund.definition], { agents: [refunds()], mode: 'audit' });
    successOf(await call(ask));
    assert.deepEqual(await all(), []);
  });
});
