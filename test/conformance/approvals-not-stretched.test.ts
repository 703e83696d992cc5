/**
 * CONTRACT section 6 against those who would stretch an approval: by a change, by asking elsewhere, by other evidence,
 * or by waiting.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ApprovalTerms, type Decider, defaultTerms } from '../../src/core/approval/approval.ts';
import type { WrittenAgent } from '../../src/core/policy/policy.ts';
import { anAgent, denialOf, type Said } from '../support/a-policy.ts';
import { successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { ana, ben, openApprovals, user } from '../support/open-approvals.ts';
import { ask, deferralOf, refunds } from '../support/refunds.ts';
import { aTool, createCountingTool } from '../support/tools.ts';

const person = (name: string): Decider => ({ kind: 'person', tenant: 'default', name });
const everything = { tenant: 'default', agent: null };
const roles = { finance: ['ana', 'ben'], board: ['cleo', 'dan'] };

/**
 * Two rules defer a refund: the first under its terms where its condition holds, otherwise the second under the others.
 */
function twoRules(when: string, first: Partial<ApprovalTerms>, second: Partial<ApprovalTerms>): WrittenAgent {
  const said: readonly Said[] = [
    ['defer', 'payments/refund', { when }],
    ['defer', 'payments/refund'],
  ];
  const terms = [first, second];
  const rules = anAgent('local', said).rules.map((rule, at) => ({ ...rule, terms: { ...defaultTerms, ...terms[at] } }));
  return { ...anAgent('local', []), rules };
}

const board = { roles: ['board'], needed: 2 };

describe('an approval', () => {
  test('[C6-approval-9] is not changed into what others must approve', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals } = await openApprovals(t, [refund.definition], {
      agents: [twoRules('args.amount <= 500', { roles: ['finance'] }, board)],
      roles,
    });
    const { id } = deferralOf(await call(ask));
    const said = await approvals.approve(id, ana, { args: { amount: 100_000 } });
    assert.deepEqual(said.ok ? said.approval.state : said.problem, 'bad_edit');
    assert.match(said.ok ? '' : said.message, /2 of the role board/);
    assert.equal(deferralOf(await call(ask)).id, id);
    assert.ok((await approvals.approve(id, ana, { args: { amount: 50 } })).ok);
    successOf(await call(ask));
    assert.equal(refund.runs(), 1);
  });

  for (const [name, agent] of [
    ['defer', refunds()],
    [
      'permit',
      {
        ...anAgent('local', []),
        rules: [
          ...anAgent('local', [['permit', 'payments/refund', { when: 'args.amount <= 50' }]]).rules,
          ...refunds().rules,
        ],
      },
    ],
  ] as const)
    test(`[C6-approval-9] that was changed into what the rules ${name} is for one of many, and the others are asked about as they ask`, async (t) => {
      const sent: unknown[] = [];
      const refund = aTool('payments/refund', (args) => (sent.push(args), { done: true }));
      const { call, approvals, all } = await openApprovals(t, [refund], { agents: [agent] });
      const { id } = deferralOf(await call(ask));
      assert.ok((await approvals.approve(id, ana, { args: { amount: 50 } })).ok);
      const replies = await Promise.all(Array.from({ length: 20 }, () => call(ask)));
      const others = new Set(replies.filter((reply) => 'error' in reply).map((reply) => deferralOf(reply).id));
      assert.deepEqual([sent, others.size], [[{ amount: 50 }], 1]);
      const changed = await approvals.read(id, everything);
      assert.deepEqual([changed?.state, changed?.args, changed?.edited_args], ['used', ask.args, { amount: 50 }]);
      const opened = (await all()).filter((approval) => approval.approval_id !== id);
      assert.deepEqual(
        opened.map(({ approval_id, args }) => [approval_id, args]),
        [...others].map((other) => [other, ask.args]),
      );
    });

  test('[C6-approval-9] the user of a client does not change what only people approve, and their yes is not one of these', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals } = await openApprovals(t, [refund.definition], {
      agents: [twoRules("model == 'small'", { clientMayApprove: true }, {})],
    });
    const { id } = deferralOf(await call({ ...ask, model: 'small' }));
    assert.ok((await approvals.approve(id, user, {})).ok);
    const other = deferralOf(await call(ask));
    assert.notEqual(other.id, id);
    assert.equal(refund.runs(), 0);
  });

  test('[C6-approval-8] does not cover an equal call that more people must approve where it is asked for', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals } = await openApprovals(t, [refund.definition], {
      agents: [twoRules("model == 'small'", {}, board)],
      roles,
    });
    const small = { ...ask, model: 'small' };
    const { id } = deferralOf(await call(small));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    const { id: strict } = deferralOf(await call(ask));
    assert.equal(refund.runs(), 0);
    // What the stricter rule has been asked for is good enough for the other.
    assert.equal(deferralOf(await call(small)).id, strict);
    for (const name of ['cleo', 'dan']) assert.ok((await approvals.approve(strict, person(name), {})).ok);
    successOf(await call(small));
    assert.equal(refund.runs(), 1);
  });

  test('[C8-redact-1] is not changed into one with the mark in place of what is masked', async (t) => {
    const sent: unknown[] = [];
    const refund = aTool('payments/refund', (args) => (sent.push(args), { done: true }));
    const { call, approvals } = await openApprovals(t, [refund], { agents: [refunds({}, { redact: ['args.card'] })] });
    const wish = { ...ask, args: { amount: 100, card: '4111' } };
    const { id } = deferralOf(await call(wish));
    const shown = (await approvals.read(id, everything))?.args as Record<string, unknown>;
    assert.equal(shown['card'], '[redacted]');
    for (const args of [{ ...shown, amount: 50 }, { amount: 50 }, { amount: 50, card: '4112' }]) {
      const said = await approvals.approve(id, ana, { args: args as never });
      assert.equal(
        said.ok ? '' : said.problem,
        'bad_edit',
        'what they could not see they neither change nor leave out',
      );
    }
    assert.ok((await approvals.approve(id, ana, {})).ok);
    successOf(await call(wish));
    assert.deepEqual(sent, [wish.args]);
  });

  test('[C8-redact-1] leaves no hash in the journal by which masked arguments could be found out', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals, shell } = await openApprovals(t, [refund.definition], {
      agents: [refunds({}, { redact: ['args.card'] })],
    });
    const wish = { ...ask, args: { amount: 100, card: '4111' } };
    const { id } = deferralOf(await call(wish));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    successOf(await call(wish));
    const row = await shell.ports.store.approval(id as never);
    const journal = JSON.stringify(await shell.ports.store.entries(null, 100));
    assert.ok(row !== null && journal.includes(id));
    assert.ok(!journal.includes(row.subject));
  });

  test('[C6-approval-7] is not taken back by who asked, nor once its call has run', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals } = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    const problem = async (id: string, by: Decider) => {
      const said = await approvals.revoke(id, by, {});
      return said.ok ? said.approval.state : said.problem;
    };
    const { id: no } = deferralOf(await call({ ...ask, args: { amount: 7 } }));
    assert.ok((await approvals.deny(no, ana, {})).ok);
    for (const name of ['local', 'the user of local']) assert.equal(await problem(no, person(name)), 'own_request');
    const { id } = deferralOf(await call(ask));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    successOf(await call(ask));
    assert.equal(await problem(id, ben), 'not_pending');
    assert.equal((await approvals.read(id, everything))?.state, 'used');
  });

  test('[C6-approval-3] is not given under rules that have changed since it was asked for', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, approvals, change } = await openApprovals(t, [refund.definition], { agents: [refunds()] });
    const { id } = deferralOf(await call(ask));
    change({ agents: [refunds({ needed: 2 })] });
    const said = await approvals.approve(id, ana, {});
    assert.equal(said.ok ? '' : said.problem, 'not_pending');
    change({ agents: [refunds()] });
    assert.notEqual(deferralOf(await call(ask)).id, id);
    assert.equal((await approvals.read(id, everything))?.state, 'void');
    assert.equal(refund.runs(), 0);
  });

  test('[C4-complete-2] that the rules have made void blocks no completion', async (t) => {
    const refund = createCountingTool('payments/refund');
    const { call, gateway, change, approvals, shell } = await openApprovals(t, [refund.definition], {
      agents: [refunds()],
    });
    const session = await gateway.openSession();
    const { id, call_id } = deferralOf(await call({ ...ask, session }));
    const { rules, ...agent } = refunds();
    change({ agents: [{ ...agent, rules: rules.map((rule) => ({ ...rule, effect: 'permit' })) }] });
    successOf(await call({ ...ask, session }));
    successOf(await gateway.complete({ session }));
    assert.equal((await approvals.read(id, everything))?.state, 'void');
    assert.equal((await shell.ports.store.call(call_id as never))?.state, 'DENIED');
  });
});

test('[C6-approval-8] a person with the name of the user of the client decides nothing', async (t) => {
  const refund = createCountingTool('payments/refund');
  const { call, approvals } = await openApprovals(t, [refund.definition], { agents: [refunds()] });
  const { id } = deferralOf(await call(ask));
  for (const decide of [approvals.approve, approvals.deny]) {
    const said = await decide(id, person('the user of local'), {});
    assert.equal(said.ok ? '' : said.problem, 'own_request');
  }
});

test('[C6-approval-6] a denial stands, whatever evidence the agent brings and wherever it asks', async (t) => {
  const read = aTool('orders/read', () => ({ total: 100 }), { effect: 'pure' });
  const refund = createCountingTool('payments/refund');
  const { call, approvals } = await openApprovals(t, [read, refund.definition], { agents: [refunds()] });
  const { call_id: ref } = successOf(await call({ tool: 'orders/read' }));
  const { id } = deferralOf(await call(ask));
  assert.ok((await approvals.deny(id, ana, { reason: 'not this one' })).ok);
  for (const more of [{}, { evidence_refs: [ref] }, { model: 'another' }, { key: 'new' }])
    assert.match(denialOf(await call({ ...ask, ...more })).human_message, /denied by ana: not this one/);
  assert.equal((await approvals.read(id, everything))?.state, 'denied');
});

test('[C6-approval-10] what runs by itself runs only from the sequence that its agent named', async (t) => {
  const read = aTool('orders/read', () => ({}), { effect: 'pure' });
  const refund = createCountingTool('payments/refund');
  const agents = [refunds({ onApprove: 'run' })];
  const { call, approvals, gateway } = await openApprovals(t, [read, refund.definition], { agents });
  const stateOf = async (id: string) => (await approvals.read(id, everything))?.state;
  for (const [moves, end] of [
    [false, 'used'],
    [true, 'void'],
  ] as const) {
    const session = await gateway.openSession();
    const { id } = deferralOf(await call({ ...ask, args: { moves }, session, expected_seq: 0 }));
    if (moves) successOf(await call({ tool: 'orders/read', session }));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    await eventually('it has run or ended', async () => (await stateOf(id)) !== 'granted');
    assert.equal(await stateOf(id), end);
  }
  assert.equal(refund.runs(), 1);
});
