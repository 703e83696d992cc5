/** CONTRACT section 6 for approvals whose rule changes and comes back: what was void once stays void. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { createGateway } from '../../src/index.ts';
import type { Limits } from '../../src/core/limits.ts';
import type { WrittenAgent } from '../../src/core/policy/policy.ts';
import { recordPolicy } from '../../src/shell/upkeep/record-runtime.ts';
import { anAgent, denialOf } from '../support/a-policy.ts';
import { successOf } from '../support/check-reply.ts';
import { ana, openApprovals, policyOf } from '../support/open-approvals.ts';
import { ask, deferralOf, refunds } from '../support/refunds.ts';
import { createCountingTool } from '../support/tools.ts';

const denies = anAgent('local', [['deny', 'payments/refund']]);
const everything = { tenant: 'default', agent: null };

async function open(t: TestContext, agents: readonly WrittenAgent[] = [refunds()], limits: Partial<Limits> = {}) {
  const refund = createCountingTool('payments/refund');
  const opened = await openApprovals(t, [refund.definition], { agents, limits });
  let last = agents;
  /** As `recourse apply` does it: on record first, then in force. */
  const apply = async (next: readonly WrittenAgent[]): Promise<void> => {
    const [policy, before] = [policyOf({ agents: next }), policyOf({ agents: last })];
    assert.ok(await recordPolicy({ next: policy, last: before, by: 'ana' }, opened.shell));
    opened.change({ agents: next });
    last = next;
  };
  const stateOf = async (id: string) => (await opened.approvals.read(id, everything))?.state;
  return { ...opened, refund, apply, stateOf };
}

describe('an approval whose rule became deny', () => {
  for (const asksMeanwhile of [true, false])
    test(`[C6-approval-17] stays void when the rule comes back, ${asksMeanwhile ? 'asked for' : 'and nobody asked'} meanwhile`, async (t) => {
      const { call, approvals, apply, refund, stateOf } = await open(t);
      const { id } = deferralOf(await call(ask));
      assert.ok((await approvals.approve(id, ana, {})).ok);
      await apply([denies]);
      if (asksMeanwhile) denialOf(await call(ask));
      await apply([refunds()]);
      assert.equal(await stateOf(id), 'void');
      const fresh = deferralOf(await call(ask));
      assert.notEqual(fresh.id, id);
      assert.equal(refund.runs(), 0);
      assert.ok((await approvals.approve(fresh.id, ana, {})).ok);
      successOf(await call(ask));
      assert.equal(refund.runs(), 1);
    });

  test('[C6-approval-17] stays void when the gateway was stopped and started between the two', async (t) => {
    const first = await open(t);
    const { id } = deferralOf(await first.call(ask));
    assert.ok((await first.approvals.approve(id, ana, {})).ok);
    await first.close();
    await (await open(t, [denies])).close();
    const { call, refund, stateOf } = await open(t);
    assert.equal(await stateOf(id), 'void');
    assert.notEqual(deferralOf(await call(ask)).id, id);
    assert.equal(refund.runs(), 0);
  });

  test('[C6-approval-17] stays void when another process had the other rule in force', async (t) => {
    const first = await open(t);
    const { id } = deferralOf(await first.call(ask));
    assert.ok((await first.approvals.approve(id, ana, {})).ok);
    const beside = await open(t, [denies]);
    assert.equal(beside.gateway.role, 'forwarder');
    await beside.close();
    assert.equal(await first.stateOf(id), 'void');
    assert.notEqual(deferralOf(await first.call(ask)).id, id);
    assert.equal(first.refund.runs(), 0);
  });

  test('[C6-approval-17] is void whatever the change was, pending ones too; an agent that is gone has none', async (t) => {
    for (const next of [[refunds({ needed: 2 })], [refunds({}, { redact: ['args.amount'] })], [anAgent('other', [])]]) {
      const { call, approvals, apply, stateOf, close } = await open(t);
      const { id } = deferralOf(await call(ask));
      const other = deferralOf(await call({ ...ask, args: { amount: 7 } }));
      assert.ok((await approvals.approve(id, ana, {})).ok);
      await apply(next);
      assert.deepEqual([await stateOf(id), await stateOf(other.id)], ['void', 'void']);
      await close();
    }
  });

  test('[C6-approval-17] [C6-approval-4] stands where nothing about its tool changes, and where others serve its agent', async (t) => {
    const { call, approvals, apply, refund, stateOf, close } = await open(t);
    const { id } = deferralOf(await call(ask));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    await apply([refunds(), anAgent('other', [['deny', '**']])]);
    assert.equal(await stateOf(id), 'granted');
    const beside = await open(t, [anAgent('other', [['deny', '**']])]);
    await beside.close();
    assert.equal(await stateOf(id), 'granted');
    successOf(await call(ask));
    assert.equal(refund.runs(), 1);
    await close();
  });
});

describe('an approval whose agent is not declared', () => {
  for (const without of [[anAgent('other', [])], []])
    test(`[C6-approval-17] is void after a start with ${without.length === 0 ? 'no agents' : 'another agent'}, and stays so`, async (t) => {
      const first = await open(t);
      const [acme, one] = [{ agent: 'local', tenant: 'acme' }, { sweepBatch: 1 }];
      const granted = deferralOf(await first.call(ask));
      assert.ok((await first.approvals.approve(granted.id, ana, {})).ok);
      const pending = deferralOf(await first.call({ ...ask, args: { amount: 7 } }));
      const theirs = deferralOf(await first.call(ask, acme));
      assert.ok((await first.approvals.approve(theirs.id, { ...ana, tenant: 'acme' }, {})).ok);
      await first.close();
      // One to a page: all of them are looked at.
      await (await open(t, without, one)).close();
      const { call, approvals, refund, stateOf } = await open(t);
      assert.deepEqual([await stateOf(granted.id), await stateOf(pending.id)], ['void', 'void']);
      assert.equal((await approvals.read(theirs.id, { tenant: 'acme', agent: null }))?.state, 'void');
      assert.notEqual(deferralOf(await call(ask)).id, granted.id);
      assert.notEqual(deferralOf(await call(ask, acme)).id, theirs.id);
      assert.equal(refund.runs(), 0);
    });

  test('[C6-approval-17] stands when a process without a policy owned the store', async (t) => {
    const first = await open(t);
    const { id } = deferralOf(await first.call(ask));
    assert.ok((await first.approvals.approve(id, ana, {})).ok);
    await first.close();
    await (await createGateway({ tools: [], file: first.file, onNotice: () => undefined })).close();
    const { call, refund } = await open(t);
    successOf(await call(ask));
    assert.equal(refund.runs(), 1);
  });
});
