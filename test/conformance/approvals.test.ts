/** CONTRACT sections 1 (gate 12), 4 and 6 for approvals, on a real store: asked for, decided, used once. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultTerms, type ApprovalTerms } from '../../src/core/approval.ts';
import type { WrittenAgent } from '../../src/core/policy/policy.ts';
import { httpStatusOf } from '../../src/index.ts';
import { anAgent } from '../support/a-policy.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { ana, ben, openApprovals, user } from '../support/open-approvals.ts';
import { aTool, createCountingTool } from '../support/tools.ts';

const refunds = (terms: Partial<ApprovalTerms> = {}, more: Partial<WrittenAgent> = {}): WrittenAgent => {
  const rules = anAgent('local', [
    ['permit', 'orders/read'],
    ['defer', 'payments/refund', { reason: 'money leaves the house' }],
  ]).rules.map((rule) => (rule.effect === 'defer' ? { ...rule, terms: { ...defaultTerms, ...terms } } : rule));
  return { ...anAgent('local', []), rules, ...more };
};

const ask = { tool: 'payments/refund', args: { amount: 100 } };

const deferralOf = (reply: unknown) => {
  const denied = errorOf(reply as never, 'denied');
  assert.equal(denied.code, 'POLICY_DEFER');
  assert.equal(denied.resolution.type, 'pending_approval');
  const id = denied.resolution.type === 'pending_approval' ? denied.resolution.approval_id : '';
  return { ...denied, id };
};

describe('a deferred call', () => {
  test('[C4-defer-1] is POLICY_DEFER in the form of the seed, 202, and nothing runs', async (t) => {
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

  test('[C6-approval-8] two of three must approve, each once; who asked may not, nor who has no such role', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals } = await openApprovals(t, [refund.definition], {
      agents: [refunds({ roles: ['finance'], needed: 2 })],
      roles: { finance: ['ana', 'ben', 'cleo', 'local'] },
    });
    const { id } = deferralOf(await call(ask));
    const by = (name: string) => approvals.approve(id, { kind: 'person', tenant: 'default', name }, {});
    const problem = async (name: string) => {
      const decided = await by(name);
      return decided.ok ? decided.approval.state : decided.problem;
    };
    assert.equal(await problem('ana'), 'pending');
    assert.equal(await problem('ana'), 'already_approved');
    assert.equal(await problem('local'), 'own_request');
    assert.equal(await problem('dave'), 'not_an_approver');
    deferralOf(await call(ask));
    assert.equal(await problem('ben'), 'granted');
    assert.equal(await problem('cleo'), 'not_pending');
    successOf(await call(ask));
    assert.equal(refund.runs(), 1);
    assert.equal((await approvals.approve(id, { kind: 'person', tenant: 'elsewhere', name: 'ana' }, {})).ok, false);
  });

  test('[C6-approval-9] edited and approved: what was approved is sent, once, and the reply says so', async (t) => {
    const sent: unknown[] = [];
    const refund = aTool('payments/refund', (args) => (sent.push(args), { done: true }));
    const { call, approvals } = await openApprovals(t, [refund], { agents: [refunds()] });
    const { id } = deferralOf(await call({ ...ask, key: 'k1' }));
    const decided = await approvals.approve(id, ana, { args: { amount: 50 } });
    assert.ok(decided.ok);
    assert.deepEqual(decided.approval.edited_args, { amount: 50 });
    const done = successOf(await call({ ...ask, key: 'k1' }));
    assert.deepEqual(sent, [{ amount: 50 }]);
    assert.deepEqual(
      done.notices?.map(({ code, human_message }) => [code, human_message]),
      [['APPROVAL_EDITED', `approved with changes by ana: amount (approval ${id})`]],
    );
    assert.deepEqual(successOf(await call({ ...ask, key: 'k1' })).notices, done.notices);
    assert.equal(sent.length, 1);
  });

  test('[C6-approval-9] whoever sends the changed arguments themselves has the approval, and a changed call is judged like any', async (t) => {
    const sent: unknown[] = [];
    const refund = aTool('payments/refund', (args) => (sent.push(args), { done: true }));
    const { rules, ...agent } = refunds();
    const strict = {
      ...anAgent('local', [['deny', 'payments/refund', { when: 'args.amount > 500' }]]).rules[0]!,
      ref: 'recourse.yaml:9',
    };
    const { call, approvals } = await openApprovals(t, [refund], { agents: [{ ...agent, rules: [strict, ...rules] }] });
    const { id } = deferralOf(await call(ask));
    const bad = await approvals.approve(id, ana, { args: { amount: 501 } });
    assert.equal(bad.ok ? '' : bad.problem, 'bad_edit');
    assert.ok((await approvals.approve(id, ana, { args: { amount: 50 } })).ok);
    assert.equal(successOf(await call({ ...ask, args: { amount: 50 } })).notices, undefined);
    assert.deepEqual(sent, [{ amount: 50 }]);
    deferralOf(await call(ask));
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

  test('[C6-approval-11] what an approver has seen is on record by its hash; they decide nothing else', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals, shell } = await openApprovals(t, [refund.definition], {
      agents: [refunds({ needed: 2 })],
    });
    const { id, call_id } = deferralOf(await call(ask));
    const scope = { tenant: 'default', agent: null };
    const shown = (await approvals.read(id, scope))?.shown ?? '';
    assert.ok((await approvals.approve(id, ana, { args: { amount: 50 }, shown })).ok);
    const stale = await approvals.approve(id, ben, { shown });
    assert.equal(stale.ok ? '' : stale.problem, 'saw_another');
    const now = (await approvals.read(id, scope))?.shown ?? '';
    assert.ok((await approvals.approve(id, ben, { shown: now })).ok);
    const votes = (await shell.ports.store.recordsOf(call_id as never)).filter(
      ({ kind }) => kind === 'approval_approved',
    );
    assert.deepEqual(
      votes.map(({ body }) => (JSON.parse(body) as { saw: string }).saw),
      [now, now],
    );
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

  test("[C6-approval-13] the user of the agent's own client approves only where the rule says so", async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals, change } = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    const { id } = deferralOf(await call(ask));
    const no = await approvals.approve(id, user, {});
    assert.equal(no.ok ? '' : no.problem, 'not_an_approver');
    change({ agents: [refunds({ clientMayApprove: true })] });
    const fresh = deferralOf(await call(ask));
    const foreign = await approvals.approve(fresh.id, { ...user, agent: 'other' } as never, {});
    assert.equal(foreign.ok ? '' : foreign.problem, 'not_an_approver');
    assert.ok((await approvals.approve(fresh.id, user, {})).ok);
    successOf(await call(ask));
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
