/** A provider that is down, as every caller sees it: over HTTP, over MCP, by the client; then it recovers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, httpTransport, ToolDeniedError } from '../../../src/client/index.ts';
import { bearerOf, listenCredentialApi } from '../../support/credentials/credential-api.ts';
import { eventually } from '../../support/eventually.ts';
import { startGoverned } from '../../support/governed-up.ts';
import { connectHttp } from '../../support/mcp-connect.ts';
import { recourse } from '../../support/recourse-process.ts';
import { startOwnVault } from '../../support/credentials/vault-server.ts';

test('[S002-credential-2] CREDENTIAL_UNAVAILABLE is the same for everybody, shows in the status, and ends with the failure', async (t) => {
  const vault = await startOwnVault(t);
  const api = await listenCredentialApi(t, bearerOf);
  api.demand('plantedSecretOne');
  await vault.put('pay', { key: 'plantedSecretOne' });
  process.env['PLANTED_TOKEN'] = vault.token;
  t.after(() => delete process.env['PLANTED_TOKEN']);
  const up = await startGoverned(
    t,
    `tools:
  pay: { http: { url: "${api.url}" }, tools: { refund: { request: { method: POST, path: /refund } } } }
credentials:
  pay:
    vault: { address: "${vault.address}", path: secret/data/pay, field: key, token: "\${PLANTED_TOKEN}" }
    match: [pay/*]
    inject: { header: Authorization }
    retry_after: 3s
agents: { bot: { default: permit } }
`,
  );
  await up.ready();
  const key = up.keyOf('bot');
  const shown = () => recourse(['status', '--url', up.url], { cwd: up.home }).stdout;
  assert.match(shown(), /credentials\s+pay: vault, not fetched since/);
  vault.fail(503);

  const response = await fetch(`${up.url}/v1/calls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tool: 'pay/refund', args: {} }),
  });
  const body = (await response.json()) as Record<string, unknown>;
  const sentence = 'vault provider returned: sealed or in maintenance';
  assert.deepEqual(
    [response.status, response.headers.get('retry-after'), response.headers.get('content-type')],
    [503, '3', 'application/problem+json'],
  );
  assert.deepEqual(
    ['error', 'class', 'code', 'human_message', 'provider', 'effect', 'resolution'].map((name) => body[name]),
    [
      'denied',
      'Governance',
      'CREDENTIAL_UNAVAILABLE',
      sentence,
      'vault',
      'none',
      { type: 'retry_after', retry_after_seconds: 3 },
    ],
  );

  const mcp = await connectHttp(t, new URL(`${up.url}/mcp`), '2025-11-25', { key });
  const { reply, isError } = await mcp.call('pay__refund', {});
  assert.ok(isError && 'error' in reply && reply.error === 'denied');
  assert.deepEqual([reply.code, reply.human_message, reply.provider], ['CREDENTIAL_UNAVAILABLE', sentence, 'vault']);

  const client = createClient({ transport: httpTransport({ url: up.url, key }) });
  await assert.rejects(client.call('pay/refund', {}, { waitSeconds: 0 }), (error) => {
    assert.ok(error instanceof ToolDeniedError, String(error));
    assert.equal(error.code, 'CREDENTIAL_UNAVAILABLE');
    return true;
  });
  const status = (await up.ask('/v1/status', { key: up.operatorKey() })).body['credentials'] as Record<
    string,
    unknown
  >[];
  assert.deepEqual(
    [status[0]?.['state'], status[0]?.['reason'], status[0]?.['expires_at']],
    ['failing', 'sealed or in maintenance', null],
  );
  assert.match(shown(), /pay: vault, failing since \S+ \(sealed or in maintenance\)/);
  assert.equal(api.heard.length, 0);

  vault.fail(null);
  await eventually(
    'it recovers',
    async () => (await up.ask('/v1/calls', { key, body: { tool: 'pay/refund', args: {} } })).status === 200,
    60_000,
  );
  assert.match(shown(), /pay: vault, ok since/);
  assert.equal(api.done(), 1);
});
