/** Budgets at their edges: decisions that outlast the time for them, marks, sums, units and names that meet. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { WrittenBudget } from '../../../src/core/budget/budget.ts';
import { anAgent } from '../../support/a-policy.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { aBudget } from '../../support/limits/written-quotas.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { ana, openApprovals } from '../../support/open-approvals.ts';
import { bodyOf } from '../../support/read-journal.ts';
import { aTool } from '../../support/tools.ts';

const hourMs = 3_600_000;
const agentsWith = (budgets: readonly WrittenBudget[]) => [anAgent('local', [['permit', '**']], { budgets })];

async function budgeted(
  t: TestContext,
  budgets: readonly WrittenBudget[],
  more: Partial<Parameters<typeof openApprovals>[2]> = {},
) {
  const clock = createManualClock();
  const pay = aTool('pay', (given) => (given as { readonly result?: unknown }).result ?? null);
  const opened = await openApprovals(t, [pay], { agents: agentsWith(budgets), clock, ...more });
  return {
    ...opened,
    clock,
    spend: (amount: number, args = {}) => opened.call({ tool: 'pay', args: { amount, ...args } }),
  };
}

const priced = (max: string, more: Parameters<typeof aBudget>[1] = {}) =>
  aBudget(max, { cost: 'args.amount', ...more });

for (const window of ['monthly', 'total'] as const) {
  const deferring = () => [priced('100 USD', { name: 'spent', window, onExceed: 'defer', raise: '20 USD' })];

  async function askedFor(t: TestContext) {
    const opened = await budgeted(t, deferring());
    successOf(await opened.spend(100));
    const { resolution } = errorOf(await opened.spend(1), 'denied');
    assert.ok(resolution.type === 'pending_approval');
    return { ...opened, id: resolution.approval_id };
  }

  test(`[C6-budget-5] a no to spending stands until the window ends: ${window}`, async (t) => {
    const { spend, clock, approvals, all, id } = await askedFor(t);
    assert.ok((await approvals.deny(id, ana, {})).ok);
    // Longer than the time in which it could be decided.
    clock.forward(25 * hourMs);
    assert.equal(errorOf(await spend(1), 'denied').code, 'BUDGET_EXCEEDED');
    assert.deepEqual(
      (await all()).map(({ state }) => state),
      ['denied'],
    );
    assert.ok((await approvals.revoke(id, ana, {})).ok);
  });

  test(`[C6-budget-5] a yes to spending stands, and can be taken back, until the window ends: ${window}`, async (t) => {
    const { spend, clock, approvals, all, id } = await askedFor(t);
    assert.ok((await approvals.approve(id, ana, {})).ok);
    clock.forward(25 * hourMs);
    successOf(await spend(1));
    assert.deepEqual(
      (await all()).map(({ state }) => state),
      ['granted'],
    );
    assert.ok((await approvals.revoke(id, ana, {})).ok);
    assert.equal(errorOf(await spend(1), 'denied').code, 'BUDGET_EXCEEDED');
    if (window === 'total') return;
    clock.forward(31 * 24 * hourMs);
    successOf(await spend(100));
    assert.equal(errorOf(await spend(1), 'denied').code, 'POLICY_DEFER');
  });
}

test('[C4-budget-2] warns exactly at its mark, and says the exact share', async (t) => {
  const { spend } = await budgeted(t, [aBudget('100 calls', { warnAt: 0.55 })]);
  const warned: string[] = [];
  for (let made = 1; made <= 58; made++)
    for (const { human_message } of successOf(await spend(0)).notices ?? []) warned.push(human_message);
  assert.deepEqual(
    warned,
    [55, 56, 57, 58].map((made) => `budget ${made}% consumed (${made} calls/100 calls daily)`),
  );
});

test('[C4-budget-3] a sum beyond counting denies, and the budget can still be read', async (t) => {
  const { spend, gateway, shell } = await budgeted(t, [
    priced('100 IDR', { onExceed: 'audit', name: 'args', match: 'pay' }),
    aBudget('100 IDR', { cost: 'result.price', reserve: '0 IDR', onExceed: 'audit', name: 'result', match: 'pay' }),
  ]);
  const much = 4_400_000_000;
  for (let made = 0; made < 2; made++) successOf(await spend(much, { result: { price: much } }));
  const denied = errorOf(await spend(much), 'denied');
  assert.deepEqual([denied.code, denied.effect], ['POLICY_DENY', 'none']);
  assert.match(denied.message, /budget args: its cost cannot be told \(with what is spent it is too large\)/);
  // What only the result tells is spent all the same.
  successOf(await spend(0, { result: { price: much } }));
  const { settled } = await shell.ports.store.account('default', 'agent/local/result/IDR/2026-05-18T00:00:00Z');
  assert.equal(settled, Number.MAX_SAFE_INTEGER);
  assert.deepEqual(
    (await gateway.budgets.list())?.map(({ state }) => state),
    ['used_up', 'used_up'],
  );
});

test('[C6-budget-2] a budget whose unit is changed begins at nothing', async (t) => {
  const { spend, change, gateway } = await budgeted(t, [priced('500 USD')]);
  successOf(await spend(420));
  change({ agents: agentsWith([aBudget('10 calls')]) });
  successOf(await spend(420));
  assert.deepEqual(
    (await gateway.budgets.list())?.map(({ spent, unit }) => [spent, unit]),
    [[1, 'calls']],
  );
  change({ agents: agentsWith([priced('500 USD')]) });
  assert.deepEqual(
    (await gateway.budgets.list())?.map(({ spent, unit }) => [spent, unit]),
    [[420, 'USD']],
  );
});

test('[C4-budget-2] of two budgets of one name each has its own record of the warning', async (t) => {
  const shared = { budgets: [priced('200 USD', { warnAt: 0.2 })] };
  const { spend, shell } = await budgeted(t, [priced('100 USD', { warnAt: 0.5 })], { shared });
  successOf(await spend(45));
  const both = successOf(await spend(10));
  const records = await shell.ports.store.recordsOf(both.call_id as never);
  const warned = records.filter(({ kind }) => kind === 'budget_warned').map((each) => bodyOf([each], 'budget_warned'));
  assert.deepEqual(
    warned.map(({ account, first }) => [account, first]),
    [
      ['agent/local/daily/USD/2026-05-18T00:00:00Z', true],
      ['pool/daily/USD/2026-05-18T00:00:00Z', false],
    ],
  );
});
