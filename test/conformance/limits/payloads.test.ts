/**
 * The payloads of seed 002 for RATE_EXCEEDED, BUDGET_EXCEEDED, BUDGET_WARNING and the POLICY_DEFER of a budget, field by
 * field, through every door of the real process and the library.
 */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createClient, httpTransport } from '../../../src/client/index.ts';
import type { Notice } from '../../../src/core/call/reply.ts';
import { anAgent } from '../../support/a-policy.ts';
import { type GovernedUp, startGoverned } from '../../support/governed-up.ts';
import { atEveryDoor, deniedIn, members, type Told } from '../../support/limits/every-door.ts';
import { aBudget, aLimit } from '../../support/limits/written-quotas.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { openApprovals } from '../../support/open-approvals.ts';
import { smallServer } from '../../support/small-server.ts';
import { aTool } from '../../support/tools.ts';

/** A zone in which it is noon, so that no day ends while the test runs; and when its day ends. */
const begun = new Date();
const hours = 12 - begun.getUTCHours();
const zone = `Etc/GMT${hours < 0 ? '+' : '-'}${Math.abs(hours)}`;
const resetsAt = `${new Date(Math.floor(begun.getTime() / 3_600_000) * 3_600_000 + 12 * 3_600_000).toISOString().slice(0, 19)}Z`;

const budget = `max: 500 USD, cost: args.amount, warn_at: 0.8, time_zone: ${zone}`;
const yaml = `agents:
  limited:
    default: permit
    limits: [{ match: small/echo, rate: 1/day }]
  spender:
    default: permit
    budgets: { daily: { ${budget} } }
  asker:
    default: permit
    budgets: { daily: { ${budget}, on_exceed: defer } }
  once:
    default: permit
    budgets: { daily: { ${budget}, window: total } }
  hasty:
    default: permit
    limits: [{ match: small/echo, rate: 1/second }]
tools:
${smallServer()}`;
const lineOf = (agent: string) =>
  `recourse.yaml:${yaml.split('\n').findIndex((line) => line === `  ${agent}:`) + 1 + 2}`;

async function open(t: TestContext) {
  const up = await startGoverned(t, yaml);
  await up.ready();
  return up;
}

const spending = (amount: number) => ({ tool: 'small/echo', args: { amount } });

const atDoors = (t: TestContext, up: GovernedUp, key: string, amount: number) =>
  atEveryDoor(t, up, key, spending(amount));

test('[C4-rate-7] [S002-payload-1] [S002-payload-2] [S002-rate-1] RATE_EXCEEDED: HTTP with Retry-After, MCP in both revisions, client', async (t) => {
  const up = await open(t);
  const key = up.keyOf('limited');
  assert.equal((await up.ask('/v1/calls', { key, body: spending(0) })).status, 200);
  const { http, told, thrown } = await atDoors(t, up, key, 0);
  assert.equal(http.status, 429);
  const human_message = 'denied: small/echo rate limit (1/day) exceeded';
  for (const each of told) {
    const { resolution, ...rest } = members(each);
    assert.deepEqual(rest, { code: 'RATE_EXCEEDED', human_message });
    const { type, retry_after_seconds: seconds, ...more } = resolution as Told;
    assert.deepEqual([type, more], ['retry_after', {}]);
    assert.ok(Number.isInteger(seconds) && Number(seconds) > 80_000 && Number(seconds) <= 86_400, String(seconds));
  }
  assert.equal(http.headers['retry-after'], String((http.body['resolution'] as Told)['retry_after_seconds']));
  const denied = deniedIn(thrown);
  assert.deepEqual([denied.code, denied.humanMessage, denied.ruleRef], ['RATE_EXCEEDED', human_message, null]);
  assert.ok(denied.resolution.type === 'retry_after' && denied.resolution.retryAfterSeconds <= 86_400);
});

test('[C4-budget-11] BUDGET_WARNING and BUDGET_EXCEEDED: HTTP with Retry-After, MCP in both revisions, client', async (t) => {
  const up = await open(t);
  const key = up.keyOf('spender');
  assert.equal((await up.ask('/v1/calls', { key, body: spending(400) })).status, 200);
  const warning = {
    code: 'BUDGET_WARNING',
    budget_id: 'daily',
    human_message: 'budget 80% consumed ($400.00/$500.00 daily)',
    resolution: { type: 'budget_reset', resets_at: resetsAt },
  };
  const warned = await atDoors(t, up, key, 0);
  assert.equal(warned.http.status, 200);
  for (const { notices } of warned.told) assert.deepEqual(notices, [warning]);
  assert.deepEqual([warned.thrown, warned.notices], [null, [[warning]]]);

  const exceeded = {
    code: 'BUDGET_EXCEEDED',
    budget_id: 'daily',
    human_message: 'denied: daily budget ceiling ($500.00) reached',
    resolution: { type: 'budget_reset', resets_at: resetsAt },
  };
  const { http, told, thrown } = await atDoors(t, up, key, 101);
  assert.equal(http.status, 429);
  for (const each of told) assert.deepEqual(members(each), exceeded);
  // Whole seconds until the reset.
  const wait = Number(http.headers['retry-after']);
  const left = (Date.parse(resetsAt) - Date.now()) / 1_000;
  assert.ok(Number.isInteger(wait) && wait >= left && wait <= 12 * 3_600, `${wait} and ${left}`);
  const denied = deniedIn(thrown);
  assert.deepEqual([denied.code, denied.humanMessage], ['BUDGET_EXCEEDED', exceeded.human_message]);
  assert.deepEqual(denied.resolution, { type: 'budget_reset', resetsAt });
  assert.equal(denied.reply.budget_id, 'daily');
});

test('[C4-budget-12] a budget that never resets is 429 without Retry-After, and names its line', async (t) => {
  const up = await open(t);
  const { http, told, thrown } = await atDoors(t, up, up.keyOf('once'), 501);
  assert.deepEqual([http.status, http.headers['retry-after']], [429, undefined]);
  for (const each of told)
    assert.deepEqual(members(each), {
      code: 'BUDGET_EXCEEDED',
      budget_id: 'daily',
      human_message: 'denied: daily budget ceiling ($500.00) reached',
      resolution: { type: 'rule_block', rule_id: lineOf('once') },
    });
  assert.deepEqual(deniedIn(thrown).resolution, { type: 'rule_block', ruleId: lineOf('once') });
});

test('[C4-budget-8] BUDGET_WARNING and POLICY_DEFER of a budget that defers name one approval at every door', async (t) => {
  const up = await open(t);
  const key = up.keyOf('asker');
  const first = await up.ask('/v1/calls', { key, body: spending(400) });
  const [notice] = first.body['notices'] as readonly Told[];
  const id = (notice?.['resolution'] as Told | undefined)?.['approval_id'];
  assert.match(String(id), /^apr_/);
  const resolution = { type: 'pending_approval', approval_id: id };
  const warning = {
    code: 'BUDGET_WARNING',
    budget_id: 'daily',
    human_message: 'budget 80% consumed ($400.00/$500.00 daily)',
    resolution,
  };
  const warned = await atDoors(t, up, key, 0);
  for (const { notices } of [first.body, ...warned.told]) assert.deepEqual(notices, [warning]);
  assert.deepEqual(warned.notices, [[warning]]);

  const { http, told, thrown } = await atDoors(t, up, key, 101);
  assert.deepEqual([http.status, http.headers['retry-after']], [202, undefined]);
  for (const each of told)
    assert.deepEqual(members(each), {
      code: 'POLICY_DEFER',
      rule_ref: lineOf('asker'),
      budget_id: 'daily',
      human_message: 'small/echo deferred for operator approval',
      resolution,
    });
  const denied = deniedIn(thrown);
  assert.deepEqual([denied.code, denied.approvalId, denied.ruleRef], ['POLICY_DEFER', id, lineOf('asker')]);
  // A person says yes, and exactly a tenth more may be spent.
  const by = { key: up.operatorKey(), body: {} };
  assert.equal((await up.ask(`/v1/approvals/${String(id)}/approve`, by)).status, 200);
  assert.equal((await up.ask('/v1/calls', { key, body: spending(150) })).status, 200);
  assert.equal((await up.ask('/v1/calls', { key, body: spending(0.01) })).body['code'], 'BUDGET_EXCEEDED');
});

test('[C9-client-1] [S002-rate-2] a client waits out a rate limit by itself, and never a budget', async (t) => {
  const up = await open(t);
  const hasty = createClient({ transport: httpTransport({ url: up.url, key: up.keyOf('hasty') }), maxWaits: 20 });
  for (let made = 0; made < 3; made++) await hasty.call('small/echo', {});
  const transport = httpTransport({ url: up.url, key: up.keyOf('spender') });
  const spender = createClient({ transport, maxWaits: 20 });
  const denied = await spender.call('small/echo', { amount: 500.01 }).catch((error: unknown) => error);
  assert.equal(deniedIn(denied).code, 'BUDGET_EXCEEDED');
});

test('[C4-budget-11] the library gives the same members', async (t) => {
  const clock = createManualClock();
  const limits = [aLimit('stripe/charge', '10/minute')];
  const daily = (more: Parameters<typeof aBudget>[1] = {}) =>
    aBudget('500 USD', { cost: 'args.amount', warnAt: 0.8, match: 'pay', ...more });
  const agents = [
    anAgent('local', [['permit', '**']], { limits, budgets: [daily()] }),
    anAgent('asker', [['permit', '**']], { budgets: [daily({ onExceed: 'defer' })] }),
  ];
  const tools = [aTool('stripe/charge', () => null), aTool('pay', () => null)];
  const { gateway } = await openApprovals(t, tools, { agents, clock });
  const pay = async (amount: number, agent = 'local') =>
    (await gateway.handle({ tool: 'pay', args: { amount } }, { agent })) as unknown as Told;
  for (let made = 0; made < 10; made++) await gateway.handle({ tool: 'stripe/charge', args: {} });
  assert.deepEqual(members((await gateway.handle({ tool: 'stripe/charge', args: {} })) as never), {
    code: 'RATE_EXCEEDED',
    human_message: 'denied: stripe/charge rate limit (10/minute) exceeded',
    resolution: { type: 'retry_after', retry_after_seconds: 6 },
  });
  const reset = { type: 'budget_reset', resets_at: '2026-05-19T00:00:00Z' };
  const warning = (resolution: object) => ({
    code: 'BUDGET_WARNING',
    budget_id: 'daily',
    human_message: 'budget 80% consumed ($400.00/$500.00 daily)',
    resolution,
  });
  assert.deepEqual((await pay(400))['notices'], [warning(reset)]);
  assert.deepEqual(members(await pay(101)), {
    code: 'BUDGET_EXCEEDED',
    budget_id: 'daily',
    human_message: 'denied: daily budget ceiling ($500.00) reached',
    resolution: reset,
  });
  const [asked] = (await pay(400, 'asker'))['notices'] as readonly Notice[];
  assert.ok(asked !== undefined && asked.resolution.type === 'pending_approval');
  assert.deepEqual(asked, warning(asked.resolution));
  assert.deepEqual(members(await pay(101, 'asker')), {
    code: 'POLICY_DEFER',
    rule_ref: 'recourse.yaml:30',
    budget_id: 'daily',
    human_message: 'pay deferred for operator approval',
    resolution: asked.resolution,
  });
});
