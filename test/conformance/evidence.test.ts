/**
 * CONTRACT section 6, Evidence: what a call relies on is bound to it and to its approval, and read again before it
 * runs.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { httpStatusOf } from '../../src/index.ts';
import { defaultTerms } from '../../src/core/approval/approval.ts';
import { anAgent } from '../support/a-policy.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { ana, openApprovals } from '../support/open-approvals.ts';
import { aTool, createCountingTool } from '../support/tools.ts';

const agent = (name = 'local') => {
  const rules = anAgent(name, [
    ['permit', 'orders/read'],
    ['permit', 'payments/void'],
    ['defer', 'payments/refund'],
  ]).rules.map((rule) => (rule.effect === 'defer' ? { ...rule, terms: defaultTerms } : rule));
  return { ...anAgent(name, []), rules };
};

async function openOrders(t: Parameters<typeof openApprovals>[0]) {
  const order = { total: 100 };
  const read = aTool('orders/read', () => ({ ...order }), { effect: 'pure' });
  const refund = createCountingTool('payments/refund');
  const take = createCountingTool('payments/void');
  const opened = await openApprovals(t, [read, refund.definition, take.definition], {
    agents: [agent(), agent('other')],
  });
  const seen = successOf(await opened.call({ tool: 'orders/read' }));
  return { ...opened, order, refund, take, ref: seen.call_id };
}

const deferred = (reply: unknown): string => {
  const { resolution } = errorOf(reply as never, 'denied');
  return resolution.type === 'pending_approval' ? resolution.approval_id : '';
};

test('[C6-evidence-1] an approved call runs if what it relies on is as it was', async (t) => {
  const { call, approvals, ref, refund } = await openOrders(t);
  const ask = { tool: 'payments/refund', args: { amount: 100 }, evidence_refs: [ref] };
  const id = deferred(await call(ask));
  assert.ok((await approvals.approve(id, ana, {})).ok);
  // Without its evidence, or with another, it is another call.
  const other = successOf(await call({ tool: 'orders/read', args: { again: true } }));
  assert.notEqual(deferred(await call({ ...ask, evidence_refs: [other.call_id] })), id);
  assert.equal(refund.runs(), 0);
  const again = deferred(await call(ask));
  assert.ok((await approvals.approve(again, ana, {})).ok);
  successOf(await call(ask));
  assert.equal(refund.runs(), 1);
});

test('[C6-evidence-1] who looks again before asking again, and finds the same, has the approval', async (t) => {
  const { call, approvals, order, ref, refund } = await openOrders(t);
  const ask = { tool: 'payments/refund', args: { amount: 100 }, evidence_refs: [ref] };
  const looked = async () => successOf(await call({ tool: 'orders/read' })).call_id;
  const id = deferred(await call(ask));
  assert.equal(deferred(await call({ ...ask, evidence_refs: [await looked()] })), id);
  order.total = 20;
  const fresh = { ...ask, evidence_refs: [await looked()] };
  const other = deferred(await call(fresh));
  assert.notEqual(other, id, 'something else was found');
  assert.ok((await approvals.approve(other, ana, {})).ok);
  successOf(await call({ ...fresh, evidence_refs: [await looked()] }));
  assert.equal(refund.runs(), 1);
});

test('[C6-evidence-2] changed after approval: nothing is sent, StaleEvidence, and the approval is void', async (t) => {
  const { call, approvals, order, ref, refund } = await openOrders(t);
  const ask = { tool: 'payments/refund', args: { amount: 100 }, evidence_refs: [ref] };
  const id = deferred(await call(ask));
  assert.ok((await approvals.approve(id, ana, {})).ok);
  order.total = 20;
  const stale = errorOf(await call(ask), 'action_error');
  assert.deepEqual(
    [stale.code, stale.verdict, stale.effect, stale.resolution.type, httpStatusOf(stale)],
    ['StaleEvidence', 'evidence_stale', 'none', 'replan', 409],
  );
  assert.equal((await approvals.read(id, { tenant: 'default', agent: null }))?.state, 'void');
  order.total = 100;
  assert.notEqual(deferred(await call(ask)), id);
  assert.equal(refund.runs(), 0);
});

test('[C6-evidence-3] a call that cannot be undone reads it again, approved or not', async (t) => {
  const { call, order, ref, take } = await openOrders(t);
  const ask = { tool: 'payments/void', evidence_refs: [ref] };
  successOf(await call(ask));
  order.total = 20;
  assert.equal(errorOf(await call(ask), 'action_error').code, 'StaleEvidence');
  assert.equal(take.runs(), 1);
});

test('[C6-evidence-4] only reads of its own that succeeded are evidence', async (t) => {
  const { call, ref, take } = await openOrders(t);
  const done = successOf(await call({ tool: 'payments/void' }));
  for (const refs of [['call_unknown'], [done.call_id], [ref, 'call_unknown']]) {
    const refusal = errorOf(await call({ tool: 'payments/void', evidence_refs: refs }), 'validation_failed');
    assert.equal(refusal.errors[0]?.path, `/evidence_refs/${refs.length - 1}`);
  }
  errorOf(await call({ tool: 'payments/void', evidence_refs: [ref] }, { agent: 'other' }), 'validation_failed');
  errorOf(await call({ tool: 'payments/void', evidence_refs: 'all' }), 'validation_failed');
  assert.equal(take.runs(), 1);
});
