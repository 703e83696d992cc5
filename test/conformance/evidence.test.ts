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

const stale = (reply: unknown) => errorOf(reply as never, 'action_error');

test('[C6-evidence-5] the reply says what the evidence says now: which read, both hashes, and the content', async (t) => {
  const { call, order, ref, take } = await openOrders(t);
  order.total = 20;
  const { evidence } = stale(await call({ tool: 'payments/void', evidence_refs: [ref] }));
  const [changed] = evidence ?? [];
  assert.deepEqual([changed?.read, changed?.tool, changed?.says], [ref, 'orders/read', { total: 20 }]);
  assert.match(`${changed?.was} ${changed?.is}`, /^[0-9a-f]{64} [0-9a-f]{64}$/);
  assert.notEqual(changed?.was, changed?.is);
  assert.equal(take.runs(), 0);
});

test('[C6-evidence-5] tells no more than the beginning of what is long', async (t) => {
  const { call, order, ref } = await openOrders(t);
  Object.assign(order, { total: 20, notes: 'x'.repeat(50_000) });
  const [changed] = stale(await call({ tool: 'payments/void', evidence_refs: [ref] })).evidence ?? [];
  assert.equal(changed?.cut, true);
  assert.ok(String(changed?.says).length <= 2_000);
});

/** A tool that declares what it relies on: the caller names nothing. */
async function openShop(
  t: Parameters<typeof openApprovals>[0],
  { defers = true, more = [] as readonly string[] } = {},
) {
  const price = { cents: 100 };
  const reads: unknown[] = [];
  const look = aTool('shop/price', (args) => (reads.push(args), { ...price, of: args['sku'] }), { effect: 'pure' });
  const evidence = [{ tool: 'shop/price', args: ({ sku }: { sku: string }) => ({ sku }) }];
  const buy = createCountingTool('shop/buy', { evidence });
  const rules = [
    ['permit', 'shop/price'],
    [defers ? 'defer' : 'permit', 'shop/buy'],
  ].filter(([, tool]) => !more.includes(tool ?? ''));
  const written = anAgent('local', rules as never);
  const terms = written.rules.map((rule) => (rule.effect === 'defer' ? { ...rule, terms: defaultTerms } : rule));
  const opened = await openApprovals(t, [look, buy.definition], { agents: [{ ...written, rules: terms }] });
  const ask = { tool: 'shop/buy', args: { sku: 's1' } };
  return { ...opened, price, reads, buy, ask };
}

test('[C6-evidence-6] a declared read is made by the gateway, as a call of the agent, before the call', async (t) => {
  const { call, reads, buy, ask, shell } = await openShop(t, { defers: false });
  successOf(await call(ask));
  assert.deepEqual([reads, buy.runs()], [[{ sku: 's1' }], 1]);
  const found = await shell.ports.store.listCalls({ tool: 'shop/price', limit: 5 });
  assert.deepEqual(
    found.map(({ agent: whose, state }) => [whose, state]),
    [['local', 'SUCCEEDED']],
  );
});

test('[C6-evidence-7] declared evidence is bound to the approval: changed, nothing is sent, and it is void', async (t) => {
  const { call, approvals, price, buy, ask } = await openShop(t);
  const id = deferred(await call(ask));
  assert.equal(deferred(await call(ask)), id, 'asking again relies on the same reads');
  assert.ok((await approvals.approve(id, ana, {})).ok);
  price.cents = 120;
  const { code, effect, evidence } = stale(await call(ask));
  assert.deepEqual([code, effect, evidence?.[0]?.says], ['StaleEvidence', 'none', { cents: 120, of: 's1' }]);
  assert.equal((await approvals.read(id, { tenant: 'default', agent: null }))?.state, 'void');
  price.cents = 100;
  const other = deferred(await call(ask));
  assert.notEqual(other, id, 'what was approved before is used up, although the price is back');
  assert.ok((await approvals.approve(other, ana, {})).ok);
  successOf(await call(ask));
  assert.equal(buy.runs(), 1);
});

test('[C6-evidence-7] unchanged, the approved call runs', async (t) => {
  const { call, approvals, reads, buy, ask } = await openShop(t);
  const id = deferred(await call(ask));
  assert.ok((await approvals.approve(id, ana, {})).ok);
  successOf(await call(ask));
  assert.deepEqual([buy.runs(), reads.length], [1, 2]);
});

test('[C6-evidence-8] what the agent may not read is no evidence, and nothing runs on it', async (t) => {
  const { call, buy, reads, ask } = await openShop(t, { defers: false, more: ['shop/price'] });
  const { code, effect, error_message: message } = stale(await call(ask));
  assert.deepEqual([code, effect], ['StaleEvidence', 'none']);
  assert.match(message, /shop\/price could not be read/);
  assert.deepEqual([buy.runs(), reads], [0, []]);
});
