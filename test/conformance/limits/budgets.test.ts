/** CONTRACT sections 1 (gate 11), 4, 6 and 9 for budgets, on a real store and a clock that the test moves. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { httpStatusOf, tool } from '../../../src/index.ts';
import type { WrittenBudget } from '../../../src/core/budget/budget.ts';
import type { CallId } from '../../../src/core/call/call.ts';
import { settleDoubt } from '../../../src/shell/ending/settle-doubt.ts';
import { anAgent } from '../../support/a-policy.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { ana, openApprovals } from '../../support/open-approvals.ts';
import { aBudget } from '../../support/limits/written-quotas.ts';
import { bodyOf } from '../../support/read-journal.ts';

type Said = 'ok' | 'none' | 'lost';

/** A tool whose arguments say what it costs, what it returns and how it ends. */
function aShop() {
  let runs = 0;
  const pay = tool({
    name: 'pay',
    input: {},
    run: async (given, ctx) => {
      const args = given as { readonly says?: Said; readonly result?: unknown };
      runs += 1;
      if (args.says === 'none') ctx.fail({ kind: 'unknown', message: 'no', effect: 'none' });
      if (args.says === 'lost') ctx.fail({ kind: 'timeout', message: 'lost' });
      return (args.result ?? null) as never;
    },
  });
  return { pay, runs: () => runs };
}

const priced = (max: string, more: Parameters<typeof aBudget>[1] = {}) =>
  aBudget(max, { cost: 'args.amount', ...more });

async function budgeted(
  t: TestContext,
  budgets: readonly WrittenBudget[],
  more: Partial<Parameters<typeof openApprovals>[2]> = {},
  clock = createManualClock(),
) {
  const shop = aShop();
  const agents = ['local', 'other'].map((name) => anAgent(name, [['permit', '**']], { budgets }));
  const opened = await openApprovals(t, [shop.pay], { agents, clock, ...more });
  const pay = (amount: unknown, args: object = {}, who = {}) =>
    opened.call({ tool: 'pay', args: { amount, ...args } }, who);
  const account = async (name: string) => {
    const { settled, held } = await opened.shell.ports.store.account('default', name);
    return [settled / 1e6, held / 1e6];
  };
  return { ...opened, ...shop, clock, spend: pay, account };
}

const today = 'agent/local/daily/USD/2026-05-18T00:00:00Z';

describe('a budget', () => {
  test('[C4-budget-1] [S002-budget-1] [S002-budget-2] is BUDGET_EXCEEDED in the form of the seed, 429, with the true reset; nothing runs', async (t) => {
    const { spend, runs, clock } = await budgeted(t, [priced('500 USD')]);
    successOf(await spend(450));
    const denied = errorOf(await spend(50.01), 'denied');
    const { code, budget_id, human_message, resolution, effect } = denied;
    assert.deepEqual(
      { code, budget_id, human_message, resolution, effect, status: httpStatusOf(denied) },
      {
        code: 'BUDGET_EXCEEDED',
        budget_id: 'daily',
        human_message: 'denied: daily budget ceiling ($500.00) reached',
        resolution: { type: 'budget_reset', resets_at: '2026-05-19T00:00:00Z' },
        effect: 'none',
        status: 429,
      },
    );
    successOf(await spend(50));
    assert.equal(runs(), 2);
    clock.forward(86_400_000 - 1);
    assert.equal(errorOf(await spend(1), 'denied').code, 'BUDGET_EXCEEDED');
    clock.forward(1);
    successOf(await spend(500));
  });

  test('[C4-budget-2] [S002-warning-1] warns at its mark, in the form of the seed, and the call runs', async (t) => {
    const { spend } = await budgeted(t, [priced('500 USD', { warnAt: 0.8 })]);
    assert.equal(successOf(await spend(399)).notices, undefined);
    assert.deepEqual(successOf(await spend(1)).notices, [
      {
        code: 'BUDGET_WARNING',
        budget_id: 'daily',
        human_message: 'budget 80% consumed ($400.00/$500.00 daily)',
        resolution: { type: 'budget_reset', resets_at: '2026-05-19T00:00:00Z' },
      },
    ]);
  });

  for (const [what, amount] of [
    ['negative', -1],
    ['missing', undefined],
    ['no number', 'much'],
    ['beyond counting', 1e300],
  ] as const)
    test(`[C4-budget-3] denies a cost that is ${what}, by the name of the budget`, async (t) => {
      const { spend, runs } = await budgeted(t, [priced('500 USD')]);
      const denied = errorOf(await spend(amount), 'denied');
      assert.deepEqual([denied.code, denied.rule_ref], ['POLICY_DENY', 'recourse.yaml:30']);
      assert.match(denied.message, /^denied: pay blocked by budget daily: its cost cannot be told/);
      assert.equal(runs(), 0);
    });

  test('[C4-budget-4] denies a cost in another currency, and takes one in its own', async (t) => {
    const cost = '{"amount": args.amount, "currency": args.currency}';
    const { spend, account } = await budgeted(t, [aBudget('500 USD', { cost })]);
    assert.match(errorOf(await spend(5, { currency: 'EUR' }), 'denied').message, /it is not in USD/);
    successOf(await spend(5.000001, { currency: 'USD' }));
    assert.deepEqual(await account(today), [5.000001, 0]);
  });

  test('[C6-budget-1] releases what provably had no effect, and keeps what is in doubt until it is settled', async (t) => {
    const { spend, account, shell } = await budgeted(t, [priced('100 USD')]);
    errorOf(await spend(60, { says: 'none' }), 'action_error');
    assert.deepEqual(await account(today), [0, 0]);
    const lost = errorOf(await spend(60, { says: 'lost' }), 'action_error');
    assert.equal(lost.effect, 'unknown');
    assert.deepEqual(await account(today), [0, 60]);
    assert.equal(errorOf(await spend(41), 'denied').code, 'BUDGET_EXCEEDED');
    await settleDoubt(lost.call_id as CallId, { happened: 'unknown', by: 'ana' }, shell);
    assert.deepEqual(await account(today), [60, 0]);
  });

  test('[C6-budget-2] settles in the window in which it was taken', async (t) => {
    const { spend, account, clock, shell } = await budgeted(t, [priced('100 USD')]);
    clock.forward(86_400_000 - 1_000);
    const lost = errorOf(await spend(60, { says: 'lost' }), 'action_error');
    clock.forward(2_000);
    successOf(await spend(100));
    await settleDoubt(lost.call_id as CallId, { happened: 'yes', by: 'ana' }, shell);
    assert.deepEqual(await account(today), [60, 0]);
    assert.deepEqual(await account('agent/local/daily/USD/2026-05-19T00:00:00Z'), [100, 0]);
    const records = await shell.ports.store.recordsOf(lost.call_id as CallId);
    // Whoever ended it, the journal alone says what was charged.
    assert.deepEqual(bodyOf(records.toReversed(), 'settled')['budgets'], [
      { account: today, held: 60_000_000, spent: 60_000_000 },
    ]);
  });

  test('[C9-budget-1] by result holds its reserve, charges what the result says, and records what went over', async (t) => {
    const cost = 'result.price';
    const { spend, account, shell } = await budgeted(t, [aBudget('100 USD', { cost, reserve: '40 USD' })]);
    successOf(await spend(0, { result: { price: 10 } }));
    assert.deepEqual(await account(today), [10, 0]);
    const over = successOf(await spend(0, { result: { price: 45 } }));
    assert.deepEqual(await account(today), [55, 0]);
    const records = await shell.ports.store.recordsOf(over.call_id as never);
    const settled = records.find(({ kind }) => kind === 'settled');
    assert.match(settled?.body ?? '', /"over":5000000/);
    // What cannot be priced costs what was held.
    successOf(await spend(0, { result: {} }));
    assert.deepEqual(await account(today), [95, 0]);
    assert.equal(errorOf(await spend(0, { result: { price: 1 } }), 'denied').code, 'BUDGET_EXCEEDED');
  });

  test('[C9-budget-2] by reported usage counts what the result says was used', async (t) => {
    const budget = aBudget('1000 tokens', { cost: 'usage.total_tokens', reserve: '500 tokens' });
    const { spend, shell } = await budgeted(t, [budget]);
    successOf(await spend(0, { result: { usage: { total_tokens: 120 } } }));
    successOf(await spend(0, { result: { _meta: { 'recourse/usage': { total_tokens: 30 } } } }));
    assert.equal((await shell.ports.store.account('default', today.replace('USD', 'tokens'))).settled, 150);
  });

  test('[C4-budget-5] counts calls by itself, per session or in all, and those never reset', async (t) => {
    const budgets = [
      aBudget('2 calls', { name: 'each', window: 'session' }),
      aBudget('3 calls', { name: 'all', window: 'total' }),
    ];
    const { call } = await budgeted(t, budgets);
    for (let made = 0; made < 2; made++) successOf(await call({ tool: 'pay', args: {} }));
    const denied = errorOf(await call({ tool: 'pay', args: {} }), 'denied');
    assert.deepEqual(
      [denied.budget_id, denied.resolution],
      ['each', { type: 'rule_block', rule_id: 'recourse.yaml:30' }],
    );
  });

  test('[C4-budget-6] is shared by the agents of a pool, or by the whole tenant', async (t) => {
    const shared = { budgets: [priced('100 USD', { name: 'team', window: 'daily', agents: ['local', 'other'] })] };
    const { spend, account } = await budgeted(t, [], { shared });
    successOf(await spend(60));
    assert.equal(errorOf(await spend(41, {}, { agent: 'other' }), 'denied').budget_id, 'team');
    successOf(await spend(40, {}, { agent: 'other' }));
    assert.deepEqual(await account('pool/team/USD/2026-05-18T00:00:00Z'), [100, 0]);
    successOf(await spend(40, {}, { tenant: 'elsewhere' }));
  });

  test('[C6-budget-3] of sixty-four at once exactly as many run as it has room for', async (t) => {
    const { spend, runs, account } = await budgeted(t, [priced('10 USD')]);
    const replies = await Promise.all(Array.from({ length: 64 }, () => spend(1)));
    assert.equal(replies.filter((reply) => !('error' in reply)).length, 10);
    assert.equal(runs(), 10);
    assert.deepEqual(await account(today), [10, 0]);
  });

  test('[C4-budget-7] that only tells lets the call run beyond it, with a warning', async (t) => {
    const { spend, account } = await budgeted(t, [priced('10 USD', { onExceed: 'audit' })]);
    const done = successOf(await spend(15));
    assert.equal(done.notices?.[0]?.human_message, 'budget 150% consumed ($15.00/$10.00 daily)');
    assert.deepEqual(await account(today), [15, 0]);
  });

  test('[C9-audit-4] is only told in audit mode, and counts', async (t) => {
    const { spend, account, all } = await budgeted(t, [priced('10 USD', { onExceed: 'defer', warnAt: 0.5 })], {
      mode: 'audit',
    });
    successOf(await spend(15));
    successOf(await spend(1));
    assert.deepEqual(await account(today), [16, 0]);
    assert.deepEqual(await all(), []);
  });
});

describe('a budget that defers', () => {
  const deferring = () => [priced('100 USD', { onExceed: 'defer', warnAt: 0.8, raise: '20 USD' })];
  const idOf = ({ resolution }: { readonly resolution: { readonly type: string } }): string => {
    assert.ok('approval_id' in resolution, JSON.stringify(resolution));
    return resolution.approval_id as string;
  };

  test('[C4-budget-8] [S002-warning-2] asks ahead with its warning, once in a window, and the denial names the same approval', async (t) => {
    const { spend, all, runs } = await budgeted(t, deferring());
    const warned = successOf(await spend(80)).notices?.[0];
    assert.ok(warned !== undefined);
    const id = idOf(warned);
    assert.equal(idOf(successOf(await spend(5)).notices?.[0] as never), id);
    const denied = errorOf(await spend(20), 'denied');
    assert.deepEqual(
      [denied.code, denied.rule_ref, denied.budget_id, idOf(denied), httpStatusOf(denied)],
      ['POLICY_DEFER', 'recourse.yaml:30', 'daily', id, 202],
    );
    assert.deepEqual(
      (await all()).map(({ approval_id, state, tool: what }) => [approval_id, state, what]),
      [[id, 'pending', 'budget daily']],
    );
    assert.equal(runs(), 2);
  });

  test('[C6-budget-4] lets exactly what was approved be spent beyond it, by anybody, and then ends', async (t) => {
    const { spend, approvals, account, clock, all } = await budgeted(t, deferring());
    successOf(await spend(100));
    const id = idOf(errorOf(await spend(15), 'denied'));
    const [view] = await all();
    assert.deepEqual(view?.args, {
      budget: 'daily',
      account: today,
      max: '$100.00',
      beyond: '$20.00',
      until: '2026-05-19T00:00:00Z',
    });
    assert.equal((await approvals.approve(id, ana, { args: { beyond: '$99.00' } })).ok, false);
    assert.ok((await approvals.approve(id, ana, { shown: view?.shown })).ok);
    successOf(await spend(15));
    const over = errorOf(await spend(6), 'denied');
    assert.deepEqual(
      [over.code, over.resolution],
      ['BUDGET_EXCEEDED', { type: 'budget_reset', resets_at: '2026-05-19T00:00:00Z' }],
    );
    successOf(await spend(5));
    assert.deepEqual(await account(today), [120, 0]);
    clock.forward(86_400_000);
    successOf(await spend(100));
    assert.notEqual(idOf(errorOf(await spend(1), 'denied')), id);
  });

  test('[C6-budget-5] is not passed once somebody said no, or took the yes back', async (t) => {
    const { spend, approvals } = await budgeted(t, deferring());
    successOf(await spend(100));
    const id = idOf(errorOf(await spend(1), 'denied'));
    assert.ok((await approvals.approve(id, ana, {})).ok);
    assert.ok((await approvals.revoke(id, ana, {})).ok);
    assert.equal(errorOf(await spend(1), 'denied').code, 'BUDGET_EXCEEDED');
  });

  test('[C6-budget-6] asks anew once what was asked for has run out of time', async (t) => {
    const { spend, clock } = await budgeted(t, [
      priced('100 USD', { onExceed: 'defer', window: 'monthly', name: 'monthly' }),
    ]);
    successOf(await spend(100));
    const id = idOf(errorOf(await spend(1), 'denied'));
    clock.forward(25 * 3_600_000);
    assert.notEqual(idOf(errorOf(await spend(1), 'denied')), id);
  });

  test('[C6-budget-7] asks one person, however many calls meet the end at once', async (t) => {
    const { spend, all } = await budgeted(t, deferring());
    successOf(await spend(100));
    const ids = new Set(
      (await Promise.all(Array.from({ length: 20 }, () => spend(1)))).map((reply) => idOf(errorOf(reply, 'denied'))),
    );
    assert.equal(ids.size, 1);
    assert.equal((await all()).filter(({ state }) => state === 'pending').length, 1);
  });
});
