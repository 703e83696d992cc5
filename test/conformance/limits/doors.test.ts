/**
 * The payloads of seed 002 for EGRESS_DENIED and CREDENTIAL_UNAVAILABLE, field by field, over HTTP, MCP in both
 * revisions and the client, from the real process.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedPort } from '../../support/http/closed-port.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { atEveryDoor, deniedIn, members } from '../../support/limits/every-door.ts';
import { smallServer } from '../../support/small-server.ts';

test('[C4-egress-1] [S002-egress-1] EGRESS_DENIED at every door', async (t) => {
  const port = await closedPort();
  const up = await startGoverned(
    t,
    `agents:
  bot:
    default: permit
    egress: { allow: [api.example.com] }
tools:
  site:
    http: { url: "http://127.0.0.1:${port}" }
    tools: { read: { description: reads, request: { method: GET, path: / } } }
`,
  );
  await up.ready();
  const { http, told, thrown } = await atEveryDoor(t, up, up.keyOf('bot'), { tool: 'site/read', args: {} });
  assert.equal(http.status, 403);
  const human_message = "denied: host '127.0.0.1' not in egress allow list";
  const expected = { code: 'EGRESS_DENIED', human_message, resolution: { type: 'rule_block', rule_id: 'egress' } };
  for (const each of told) assert.deepEqual(members(each), expected);
  const denied = deniedIn(thrown);
  assert.deepEqual([denied.code, denied.humanMessage], ['EGRESS_DENIED', human_message]);
  assert.deepEqual(denied.resolution, { type: 'rule_block', ruleId: 'egress' });
});

test('[C4-credential-1] CREDENTIAL_UNAVAILABLE at every door, with Retry-After', async (t) => {
  const port = await closedPort();
  const up = await startGoverned(
    t,
    `agents:
  bot: { default: permit }
credentials:
  stripe:
    vault: { address: "http://127.0.0.1:${port}", path: secret/data/stripe, field: key, token: not-a-real-token }
    match: [small/echo]
    inject: { meta: api_key }
    retry_after: 30s
tools:
${smallServer()}`,
  );
  await up.ready();
  const { http, told, thrown } = await atEveryDoor(t, up, up.keyOf('bot'), { tool: 'small/echo', args: {} });
  assert.equal(http.status, 503);
  for (const each of told) {
    const { resolution, ...rest } = members(each);
    assert.deepEqual(rest, {
      code: 'CREDENTIAL_UNAVAILABLE',
      provider: 'vault',
      human_message: 'vault provider returned: connection refused',
    });
    const { type, retry_after_seconds: seconds } = resolution as { type: string; retry_after_seconds: number };
    // What failed is remembered: whoever asks later waits for what is left.
    assert.ok(type === 'retry_after' && Number.isInteger(seconds) && seconds >= 1 && seconds <= 30, String(seconds));
  }
  const { retry_after_seconds: wait } = http.body['resolution'] as { retry_after_seconds: number };
  assert.equal(http.headers['retry-after'], String(wait));
  const denied = deniedIn(thrown);
  assert.deepEqual([denied.code, denied.provider], ['CREDENTIAL_UNAVAILABLE', 'vault']);
});
