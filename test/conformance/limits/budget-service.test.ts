/** What is left of budgets, and what people say was spent: on a real store and a clock that the test moves. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { WrittenBudget } from '../../../src/core/budget/budget.ts';
import { anAgent } from '../../support/a-policy.ts';
import { errorOf, successOf } from '../../support/check-reply.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openApprovals } from '../../support/open-approvals.ts';
import { aBudget } from '../../support/limits/written-quotas.ts';
import { aTool } from '../../support/tools.ts';

const pay = aTool('pay', () => null);

async function budgeted(t: TestContext, own: readonly WrittenBudget[], shared: readonly WrittenBudget[] = []) {
  const clock = createManualClock();
  const agents = ['local', 'other'].map((name) => anAgent(name, [['permit', '**']], { budgets: own }));
  const opened = await openApprovals(t, [pay], { agents, clock, shared: { budgets: shared } });
  const spend = (amount: number, who = {}, more = {}) => opened.call({ tool: 'pay', args: { amount }, ...more }, who);
  const changes = async () =>
    (await opened.shell.ports.store.entries({ epoch: 0, seq: 0 }, 1_000))
      .filter(({ kind }) => kind === 'budget_changed')
      .map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  return { ...opened, budgets: opened.gateway.budgets, clock, spend, changes };
}

const priced = (max: string, more: Parameters<typeof aBudget>[1] = {}) =>
  aBudget(max, { cost: 'args.amount', ...more });

describe('budgets', () => {
  test('[C4-budget-9] are listed with what is spent, held and left, and when they reset', async (t) => {
    const own = [priced('500 USD', { warnAt: 0.8 })];
    const { budgets, spend } = await budgeted(t, own, [priced('1000 USD', { name: 'team', window: 'total' })]);
    successOf(await spend(400.5));
    assert.deepEqual(await budgets.list(), [
      {
        budget: 'team',
        name: 'team',
        agent: null,
        match: '**',
        window: 'total',
        time_zone: 'UTC',
        session: null,
        unit: 'USD',
        max: 1_000,
        allowed: 0,
        spent: 400.5,
        held: 0,
        left: 599.5,
        warn_at: null,
        on_exceed: 'deny',
        state: 'open',
        resets_at: null,
        ref: 'recourse.yaml:30',
      },
      ...['local', 'other'].map((agent) => ({
        budget: `${agent}/daily`,
        name: 'daily',
        agent,
        match: '**',
        window: 'daily',
        time_zone: 'UTC',
        session: null,
        unit: 'USD',
        max: 500,
        allowed: 0,
        spent: agent === 'local' ? 400.5 : 0,
        held: 0,
        left: agent === 'local' ? 99.5 : 500,
        warn_at: 0.8,
        on_exceed: 'deny',
        state: agent === 'local' ? 'warned' : 'open',
        resets_at: '2026-05-19T00:00:00Z',
        ref: 'recourse.yaml:30',
      })),
    ]);
    const ofOther = await budgets.list({ agent: 'other' });
    assert.deepEqual(
      ofOther?.map(({ budget }) => budget),
      ['team', 'other/daily'],
    );
    assert.deepEqual(
      (await budgets.list({}, { tenant: 'elsewhere' }))?.map(({ spent }) => spent),
      [0, 0, 0],
    );
  });

  test('[C4-budget-9] by session are listed only for a session, and only if it is charged to them', async (t) => {
    const { budgets, spend } = await budgeted(t, [priced('10 USD', { name: 'each', window: 'session' })]);
    const { session } = successOf(await spend(4));
    assert.ok(session !== null);
    assert.deepEqual(await budgets.list(), []);
    assert.deepEqual(
      (await budgets.list({ session }))?.map(({ budget, session: of, spent }) => [budget, of, spent]),
      [['local/each', session, 4]],
    );
    assert.equal(await budgets.list({ session: 'ses_none' }), null);
    assert.equal(await budgets.list({ session }, { tenant: 'elsewhere' }), null);
    const unnamed = await budgets.set('local/each', 1, { by: 'ana' });
    assert.deepEqual(unnamed, {
      ok: false,
      problem: 'bad_change',
      message: 'the budget local/each counts by session; say which session',
    });
    const foreign = await budgets.set('other/each', 1, { by: 'ana', session });
    assert.ok(!foreign.ok && foreign.problem === 'bad_change');
    const set = await budgets.set('local/each', 9, { by: 'ana', session });
    assert.ok(set.ok && set.budget.left === 1);
    assert.equal(errorOf(await spend(2), 'denied').code, 'BUDGET_EXCEEDED');
  });

  test('[C4-budget-10] are set and reset by a person, on record with who, what and why, and count from there', async (t) => {
    const { budgets, spend, changes } = await budgeted(t, [priced('100 USD')]);
    successOf(await spend(60));
    const set = await budgets.set('local/daily', '99.50 USD', { by: 'ana', note: 'paid\nby hand' });
    assert.ok(set.ok, JSON.stringify(set));
    assert.deepEqual([set.budget.spent, set.budget.left], [99.5, 0.5]);
    assert.equal(errorOf(await spend(1), 'denied').code, 'BUDGET_EXCEEDED');
    const reset = await budgets.reset('local/daily', { by: 'ben' });
    assert.ok(reset.ok && reset.budget.spent === 0);
    successOf(await spend(100));
    const about = { tenant: 'default', budget: 'local/daily', unit: 'USD' };
    const account = 'agent/local/daily/USD/2026-05-18T00:00:00Z';
    assert.deepEqual(await changes(), [
      { ...about, account, from: 60, to: 99.5, by: 'ana', note: 'paid by hand' },
      { ...about, account, from: 99.5, to: 0, by: 'ben', note: null },
    ]);
  });

  test('[C4-budget-10] what calls hold stays held when a budget is reset, and is charged by their ends', async (t) => {
    const clock = createManualClock();
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const slow = aTool('pay', async () => {
      begun.resolve();
      await gate.promise;
      return null;
    });
    const agents = [anAgent('local', [['permit', '**']], { budgets: [priced('100 USD')] })];
    const { gateway, call } = await openApprovals(t, [slow], { agents, clock });
    const running = call({ tool: 'pay', args: { amount: 30 } });
    await begun.promise;
    const reset = await gateway.budgets.reset('local/daily', { by: 'ana' });
    assert.ok(reset.ok);
    assert.deepEqual([reset.budget.spent, reset.budget.held, reset.budget.left], [0, 30, 70]);
    gate.resolve();
    successOf(await running);
    const [after] = (await gateway.budgets.list()) ?? [];
    assert.deepEqual([after?.spent, after?.held], [30, 0]);
  });

  test('[C4-budget-10] a record names what was really replaced, however many say something at once', async (t) => {
    const { budgets, spend, changes } = await budgeted(t, [priced('1000 USD')]);
    const said = await Promise.all([
      ...[10, 20, 30, 40].map((amount) => budgets.set('local/daily', amount, { by: 'ana' })),
      ...[1, 1, 1].map((amount) => spend(amount)),
    ]);
    assert.ok(said.slice(0, 4).every((each) => 'ok' in each && each.ok));
    const told = await changes();
    assert.equal(told.length, 4);
    // Calls add between two of them; nothing else does.
    for (const [at, { from }] of told.entries()) {
      const before = at === 0 ? 0 : Number(told[at - 1]?.['to']);
      assert.ok(Number(from) >= before && Number(from) <= before + 3, JSON.stringify(told));
    }
  });

  for (const [spent, says] of [
    ['120 EUR', /the budget is in USD, not in EUR/],
    ['much', /'much' is no amount in USD; write an amount and a unit/],
    [-1, /'-1' is no amount in USD/],
    [Number.NaN, /is no amount/],
    ['1.2345678', /is no amount/],
    ['9999999999999', /is no amount/],
  ] as const)
    test(`[C4-budget-10] refuses ${spent} for what was spent`, async (t) => {
      const { budgets, changes } = await budgeted(t, [priced('100 USD')]);
      const set = await budgets.set('local/daily', spent, { by: 'ana' });
      assert.ok(!set.ok && set.problem === 'bad_change');
      assert.match(set.message, says);
      assert.deepEqual(await changes(), []);
    });

  test('[C4-budget-10] an unknown budget, a session that does not count and a nameless person are refused', async (t) => {
    const { budgets } = await budgeted(t, [priced('100 USD')]);
    const unknown = await budgets.reset('local/dayly', { by: 'ana' });
    assert.deepEqual(unknown, {
      ok: false,
      problem: 'not_found',
      message: "there is no budget 'local/dayly'; did you mean local/daily?",
    });
    const odd = await budgets.set('local/daily', 1, { by: 'ana', session: 'ses_1' });
    assert.ok(!odd.ok && /does not count by session/.test(odd.message));
    await assert.rejects(budgets.reset('local/daily', { by: '' }), /`by` must name the person/);
  });
});
