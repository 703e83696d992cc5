/** EGRESS_DENIED field by field: over the library, and over HTTP from a project that somebody wrote. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDns } from '../../support/egress/dns-server.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { listenEverywhere, openWorld, reads } from '../../support/egress/egress-world.ts';

const sentence = "denied: host '127.0.0.1' not in egress allow list";

const denial = (tool: string) => ({
  error: 'denied',
  requested: tool,
  class: 'Governance',
  code: 'EGRESS_DENIED',
  message: sentence,
  human_message: sentence,
  effect: 'none',
  resolution: { type: 'rule_block', rule_id: 'egress' },
});

test('[C4-egress-1] the payload over the library', async (t) => {
  const site = await listenEverywhere(t);
  const tool = reads('site/read', `http://127.0.0.1:${site.port}/`);
  const { gateway } = await openWorld(t, [tool], { egress: { allow: ['api.example.com'] } });
  const { call_id, session, ...reply } = (await gateway.call({ tool: 'site/read' })) as unknown as Record<
    string,
    unknown
  >;
  assert.match(String(call_id), /^call_/);
  assert.ok(session === null || typeof session === 'string');
  assert.deepEqual(reply, { ...denial('site/read'), valid_next_actions: ['site/read'] });
  assert.deepEqual(site.heard, []);
  const stored = await gateway.stored(String(call_id));
  assert.equal(stored.state, 'DENIED');
});

test('[C4-egress-1] the payload over HTTP, and recourse apply opens the host', async (t) => {
  const site = await listenEverywhere(t);
  const yaml = (allow: string) => `agents:
  bot:
    egress: { allow: [${allow}] }
    rules: [{ permit: site/read }]
tools:
  site:
    http: { url: "http://127.0.0.1:${site.port}" }
    tools: { read: { description: reads, request: { method: GET, path: / } } }
`;
  const up = await startGoverned(t, yaml('api.example.com'));
  await up.ready();
  const key = up.keyOf('bot');
  const ask = () => up.ask('/v1/calls', { key, body: { tool: 'site/read', args: {} } });
  const { status, body } = await ask();
  const { call_id, session: _, type: _type, title: _title, status: told, detail, instance: _instance, ...reply } = body;
  assert.match(String(call_id), /^call_/);
  assert.deepEqual([status, told, detail], [403, 403, sentence]);
  assert.deepEqual(reply, { ...denial('site/read'), valid_next_actions: ['site/read'] });
  assert.deepEqual(site.heard, []);
  up.write(yaml('127.0.0.1'));
  const applied = await up.ask('/v1/policy/apply', { key: up.operatorKey(), body: {} });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  assert.equal((await ask()).status, 200);
  assert.equal(site.heard.length, 1);
});

test('[C4-egress-2] without agents too, over HTTP: 502 each time, for the breaker counts failures of others', async (t) => {
  const site = await listenEverywhere(t);
  const dns = await startDns(t, { 'inside.test': ['127.0.0.1'] });
  const yaml = `runtime: { dns: ["${dns.address}"] }
tools:
  site:
    http: { url: "http://inside.test:${site.port}" }
    tools: { read: { description: reads, request: { method: GET, path: / } } }
`;
  const up = await startGoverned(t, yaml, ['--agent', 'local']);
  await up.ready();
  for (let asked = 0; asked < 7; asked++) {
    const { status, body } = await up.ask('/v1/calls', { body: { tool: 'site/read', args: {} } });
    assert.deepEqual(
      [status, body['error'], body['code'], body['effect'], body['resolution']],
      [502, 'action_error', 'EGRESS_DENIED', 'none', { type: 'rule_block', rule_id: 'egress' }],
    );
  }
  assert.deepEqual(site.heard, []);
});
