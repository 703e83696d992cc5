/** Rates, budgets, egress and credentials, told by the webhook of a real gateway from what really happened. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { smallServer } from '../../support/small-server.ts';
import { startReceiver } from '../../support/webhook-receiver.ts';

const events = 'RATE_EXCEEDED, BUDGET_WARNING, BUDGET_EXCEEDED, EGRESS_DENIED, CREDENTIAL_UNAVAILABLE, POLICY_DEFER';

const written = (hook: string) => `tools:
${smallServer()}  site:
    http: { url: "http://127.0.0.1:9" }
    tools: { read: { description: reads, request: { method: GET, path: / } } }
agents:
  hasty: { default: permit, limits: [{ match: small/echo, rate: 1/day }] }
  spender: { default: permit, budgets: { all: { max: 10 USD, cost: args.amount, window: total, warn_at: 0.5 } } }
  asker: { default: permit, budgets: { all: { max: 10 USD, cost: args.amount, window: total, on_exceed: defer } } }
  inside: { default: permit, egress: { allow: [api.example.com] } }
  poor: { default: permit }
credentials:
  none: { env: { name: RECOURSE_TEST_NO_SUCH_VARIABLE }, match: [small/echo], agents: [poor], inject: { meta: key } }
notify:
  ops: { webhook: "${hook}", secret: "sixteen characters or more", events: [${events}] }
`;

test('[C8-notice-1] limits, money, hosts and secrets are told', { timeout: 240_000 }, async (t) => {
  const hook = await startReceiver(t);
  const up = await startGoverned(t, written(hook.url));
  await up.ready();
  const call = async (agent: string, tool: string, args: object = {}) =>
    (await up.ask('/v1/calls', { key: up.keyOf(agent), body: { tool, args } })).body;
  const told = async (event: string) => {
    const { message } = await eventually(event, async () => hook.got.find((got) => got.message.event === event));
    return [message.agent, message.tool, message.message];
  };

  await call('hasty', 'small/echo');
  assert.equal((await call('hasty', 'small/echo'))['code'], 'RATE_EXCEEDED');
  const rate = 'denied: small/echo rate limit (1/day) exceeded';
  assert.deepEqual(await told('RATE_EXCEEDED'), ['hasty', 'small/echo', rate]);

  for (const amount of [4, 1, 1, 1]) await call('spender', 'small/echo', { amount });
  assert.equal((await call('spender', 'small/echo', { amount: 4 }))['code'], 'BUDGET_EXCEEDED');
  const ceiling = 'denied: all budget ceiling ($10.00) reached';
  assert.deepEqual(await told('BUDGET_EXCEEDED'), ['spender', 'small/echo', ceiling]);
  const mark = 'budget 50% consumed ($5.00/$10.00 total)';
  assert.deepEqual(await told('BUDGET_WARNING'), ['spender', 'small/echo', mark]);
  // People hear that the mark was reached, not of each call beyond it.
  assert.equal(hook.got.filter(({ message }) => message.event === 'BUDGET_WARNING').length, 1);

  assert.equal((await call('asker', 'small/echo', { amount: 10.5 }))['code'], 'POLICY_DEFER');
  assert.deepEqual((await told('POLICY_DEFER')).slice(0, 1), ['asker']);

  assert.equal((await call('inside', 'site/read'))['code'], 'EGRESS_DENIED');
  assert.deepEqual((await told('EGRESS_DENIED')).slice(0, 2), ['inside', 'site/read']);

  assert.equal((await call('poor', 'small/echo'))['code'], 'CREDENTIAL_UNAVAILABLE');
  assert.deepEqual((await told('CREDENTIAL_UNAVAILABLE')).slice(0, 2), ['poor', 'small/echo']);
});
