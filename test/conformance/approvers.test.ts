/** CONTRACT section 6 for those who approve: how many, who, in which form, and what they have seen. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { tool } from '../../src/index.ts';
import { anAgent } from '../support/a-policy.ts';
import { successOf } from '../support/check-reply.ts';
import { ana, ben, openApprovals, user } from '../support/open-approvals.ts';
import { ask, deferralOf, refunds } from '../support/refunds.ts';
import { aTool, createCountingTool } from '../support/tools.ts';

describe('an approval', () => {
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

  test('[C6-approval-8] the vote of somebody who has lost the role since does not count', async (t) => {
    const refund = createCountingTool('payments/refund');
    const agents = [refunds({ roles: ['finance'], needed: 2 })];
    const roles = { finance: ['ana', 'ben', 'cleo'] };
    const { call, approvals, change } = await openApprovals(t, [refund.definition], { agents, roles });
    const { id } = deferralOf(await call(ask));
    const by = async (name: string) => {
      const decided = await approvals.approve(id, { kind: 'person', tenant: 'default', name }, {});
      return decided.ok ? decided.approval.state : decided.problem;
    };
    assert.equal(await by('ana'), 'pending');
    change({ agents, roles: { finance: ['ben', 'cleo'] } });
    assert.equal(await by('ben'), 'pending');
    assert.equal(await by('cleo'), 'granted');
    successOf(await call(ask));
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

  test("[C6-approval-9] is not changed into what the tool's schema makes something else of: what was approved is what is sent", async (t) => {
    const sent: unknown[] = [];
    const input = z.object({ amount: z.number().transform((amount) => (amount < 100 ? amount * 100 : amount)) });
    const run = async (args: unknown) => void sent.push(args);
    const refund = tool({ name: 'payments/refund', description: 'takes cents, or dollars below 100', input, run });
    const { call, approvals } = await openApprovals(t, [refund], { agents: [refunds()] });
    const { id } = deferralOf(await call(ask));
    const other = await approvals.approve(id, ana, { args: { amount: 7 } });
    assert.equal(other.ok ? '' : other.problem, 'bad_edit');
    assert.match(other.ok ? '' : other.message, /\{"amount":700\}; approve it in that form/);
    assert.ok((await approvals.approve(id, ana, { args: { amount: 700 } })).ok);
    successOf(await call(ask));
    assert.deepEqual(sent, [{ amount: 700 }]);
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
});
