/** Budgets over HTTP: who sees which, who may say what was spent, and what is refused. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { doorProblems } from '../../../src/core/http/door-problems.ts';
import { codeOfProblem } from '../../../src/doors/http/budget-routes.ts';
import { budgetProblems } from '../../../src/shell/budget/budget-service.ts';
import { anAgent } from '../../support/a-policy.ts';
import { aBudget, aLimit } from '../../support/limits/written-quotas.ts';
import { policyOf } from '../../support/open-approvals.ts';
import { aTool } from '../../support/tools.ts';
import { openHttp } from '../http/open-http.ts';

const cost = 'args.amount';

async function open(t: TestContext) {
  const budgets = [
    aBudget('100 USD', { name: 'monthly', window: 'monthly', cost }),
    aBudget('9 calls', { name: 'each', window: 'session' }),
  ];
  const agents = ['bot', 'other'].map((name) => anAgent(name, [['permit', '**']], { budgets }));
  const shared = {
    budgets: [
      aBudget('500 USD', { name: 'all', window: 'total', cost }),
      aBudget('50 USD', { name: 'others', window: 'total', cost, agents: ['other'] }),
    ],
  };
  const http = await openHttp(t, { tools: [aTool('pay', () => null)], policy: policyOf({ agents, shared }) });
  const list = async (query = '', key = http.keys.viewer) => {
    const { status, body } = await http.ask('GET', `/v1/budgets${query}`, { key });
    assert.equal(status, 200);
    return (body['budgets'] as readonly Record<string, unknown>[]).map(({ budget, spent }) => [budget, spent]);
  };
  const change = (act: string, body: object, key = http.keys.admin) =>
    http.ask('POST', `/v1/budgets/bot%2Fmonthly/${act}`, { key, body });
  return { ...http, list, change };
}

test('people see every budget of their tenant, an agent those that its calls are charged to', async (t) => {
  const { call, list, keys, makeKey } = await open(t);
  const { body } = await call({ tool: 'pay', args: { amount: 12.5 } });
  const everything = [
    ['all', 12.5],
    ['others', 0],
    ['bot/monthly', 12.5],
    ['other/monthly', 0],
  ];
  assert.deepEqual(await list(), everything);
  assert.deepEqual(await list('', keys.approver), everything);
  const own = [
    ['all', 12.5],
    ['bot/monthly', 12.5],
  ];
  assert.deepEqual(await list('', keys.agent), own);
  assert.deepEqual(await list('?agent=bot'), own);
  // A filter takes away, and never adds.
  assert.deepEqual(await list('?agent=other', keys.agent), [['all', 12.5]]);
  const session = `?session=${String(body['session'])}`;
  assert.deepEqual((await list(session, keys.agent)).at(-1), ['bot/each', 1]);
  const foreign = await makeKey('elsewhere', 'viewer', 'vic');
  assert.deepEqual(
    (await list('', foreign)).map(([, spent]) => spent),
    [0, 0, 0, 0],
  );
});

test('a session of somebody else answers as an unknown one does', async (t) => {
  const { ask, call, makeKey } = await open(t);
  const { body } = await call({ tool: 'pay', args: { amount: 1 } });
  const session = String(body['session']);
  const other = await makeKey('default', 'agent', 'other');
  for (const named of [session, 'ses_none']) {
    const answer = await ask('GET', `/v1/budgets?session=${named}`, { key: other });
    assert.equal(answer.status, 422);
    assert.deepEqual(answer.body['errors'], [
      { path: '/session', expected: 'a session that is known to this key', got: named },
    ]);
  }
});

test('only an admin says what was spent, and it is on record for the tenant', async (t) => {
  const { ask, call, change, keys, list } = await open(t);
  await call({ tool: 'pay', args: { amount: 60 } });
  for (const key of [keys.agent, keys.viewer, keys.approver])
    for (const [act, body] of [
      ['set', { spent: 0 }],
      ['reset', {}],
    ] as const)
      assert.equal((await change(act, body, key)).status, 403);
  const set = await change('set', { spent: '70 USD', note: 'as the bank says' });
  assert.equal(set.status, 200);
  assert.deepEqual([set.body['budget'], set.body['spent'], set.body['left']], ['bot/monthly', 70, 30]);
  assert.equal((await change('set', { spent: 75.25 })).body['spent'], 75.25);
  const reset = await change('reset', {});
  assert.deepEqual([reset.status, reset.body['spent'], reset.body['left']], [200, 0, 100]);
  assert.deepEqual((await list())[0], ['all', 60]);
  const audit = await ask('GET', '/v1/audit?follow=false', { key: keys.admin });
  assert.equal(audit.text.match(/"kind":"budget_changed"/g)?.length, 3);
  assert.match(audit.text, /"by":"ada"/);
  assert.match(audit.text, /"note":"as the bank says"/);
});

test('what does not fit is refused by name, and changes nothing', async (t) => {
  const { ask, change, keys, list } = await open(t);
  const cases = [
    [await change('set', { spent: '1 EUR' }), 422, 'BadAmount'],
    [await change('set', { spent: 'a lot' }), 422, 'BadAmount'],
    [await change('set', { spent: 1, session: 'ses_1' }), 422, 'BadAmount'],
    [await change('set', {}), 422, 'InputInvalid'],
    [await change('set', { spent: true }), 422, 'InputInvalid'],
    [await change('reset', { spent: 1 }), 422, 'InputInvalid'],
    [await ask('POST', '/v1/budgets/nobody/reset', { key: keys.admin, body: {} }), 404, 'UnknownBudget'],
    [await ask('POST', '/v1/budgets/bot/monthly/reset', { key: keys.admin, body: {} }), 404, 'NoSuchPath'],
  ] as const;
  for (const [{ status, body }, expected, code] of cases) assert.deepEqual([status, body['code']], [expected, code]);
  assert.deepEqual(
    (await list()).map(([, spent]) => spent),
    [0, 0, 0, 0],
  );
});

test('the policy in force is told with its limits and budgets, in wire names', async (t) => {
  const budget = aBudget('5 USD', { cost, onExceed: 'defer', raise: '1 USD', warnAt: 0.5 });
  const agents = [anAgent('bot', [['permit', '**']], { budgets: [budget], limits: [aLimit('pay', '1/day')] })];
  const shared = { limits: [aLimit('**', '9/hour', { burst: 3 })], budgets: [aBudget('9 calls', { agents: ['bot'] })] };
  const { ask, keys } = await openHttp(t, { policy: policyOf({ agents, shared }) });
  const { policy } = (await ask('GET', '/v1/policy', { key: keys.viewer })).body as { policy: Record<string, unknown> };
  const [bot = {}] = policy['agents'] as readonly Record<string, unknown>[];
  assert.deepEqual(bot['limits'], [{ match: 'pay', rate: '1/day', burst: null, ref: 'recourse.yaml:20' }]);
  const about = {
    name: 'daily',
    match: '**',
    reserve: null,
    window: 'daily',
    time_zone: 'UTC',
    ref: 'recourse.yaml:30',
  };
  const [told] = bot['budgets'] as readonly Record<string, unknown>[];
  assert.deepEqual(
    { ...told, terms: null },
    { ...about, unit: 'USD', max: 5, cost, warn_at: 0.5, on_exceed: 'defer', raise: 1, agents: null, terms: null },
  );
  assert.deepEqual(policy['budgets'], [
    { ...about, unit: 'calls', max: 9, cost: null, warn_at: null, on_exceed: 'deny', agents: ['bot'] },
  ]);
});

test('every problem of a change has a code with the status of the table', () => {
  for (const [problem, code] of Object.entries(codeOfProblem))
    assert.equal(doorProblems[code].status, budgetProblems[problem as keyof typeof codeOfProblem], problem);
});
