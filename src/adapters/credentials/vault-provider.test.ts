/** Vault over its HTTP API: what is sent, how answers are read, leases, AppRole, and words for each status. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test, type TestContext } from 'node:test';
import { type OwnVault, startOwnVault } from '../../../test/support/credentials/vault-server.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import type { VaultSource } from '../../core/credential/declared-credential.ts';
import { createProviderClient } from './ask-provider.ts';
import { createVaultProvider } from './vault-provider.ts';

const signal = new AbortController().signal;

async function open(t: TestContext, more: (vault: OwnVault) => Partial<VaultSource> = () => ({})) {
  const vault = await startOwnVault(t);
  await vault.put('stripe', { api_key: 'plantedVaultSecret' });
  const client = createProviderClient();
  t.after(() => client.close());
  const clock = createManualClock();
  const source: VaultSource = {
    provider: 'vault',
    address: vault.address,
    path: 'secret/data/stripe',
    field: 'api_key',
    namespace: null,
    auth: { kind: 'token', token: vault.token },
    ...more(vault),
  };
  return { vault, clock, provider: createVaultProvider(source, client, () => clock.nowMs()) };
}

test('a secret of KV v2 is read with token and namespace', async (t) => {
  const { vault, provider } = await open(t, () => ({ namespace: 'team/a' }));
  const given = await provider.fetch(signal);
  assert.deepEqual(given, { ok: true, secret: 'plantedVaultSecret', lifetimeMs: null });
  const [asked] = vault.heard;
  assert.deepEqual(
    [asked?.method, asked?.url, asked?.headers['x-vault-token'], asked?.headers['x-vault-namespace']],
    ['GET', '/v1/secret/data/stripe', vault.token, 'team/a'],
  );
});

test('a dynamic secret has the lifetime of its lease, which is renewed by its id', async (t) => {
  const { vault, provider } = await open(t, () => ({ path: '/v1/database/creds/reader', field: 'password' }));
  const given = await provider.fetch(signal);
  assert.ok(given.ok && given.renew !== undefined);
  assert.equal(given.lifetimeMs, 60_000);
  const renewed = await given.renew(signal);
  assert.ok(renewed.ok);
  assert.deepEqual([renewed.secret, renewed.lifetimeMs], [given.secret, 60_000]);
  assert.equal(vault.leases.values().next().value?.renewals, 1);
  const over = await given.renew(signal);
  assert.deepEqual(over, { ok: false, reason: 'bad request' });
});

test('seconds without a lease, as KV v1 gives them, are no lifetime', async (t) => {
  const body = { lease_id: '', renewable: false, lease_duration: 2_764_800, data: { api_key: 'plantedVaultSecret' } };
  const server = createServer((_, response) => response.end(JSON.stringify(body))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { provider } = await open(t, () => ({ address: `http://127.0.0.1:${port}`, path: 'kv/stripe' }));
  assert.deepEqual(await provider.fetch(signal), { ok: true, secret: 'plantedVaultSecret', lifetimeMs: null });
});

describe('AppRole', () => {
  test('logs in once for many reads, and again when its token was revoked', async (t) => {
    const { vault, provider } = await open(t, ({ role }) => ({
      auth: { kind: 'approle', roleId: role.role_id, secretId: role.secret_id },
    }));
    const logins = () => vault.heard.filter(({ url }) => url === '/v1/auth/approle/login').length;
    assert.ok((await provider.fetch(signal)).ok);
    assert.ok((await provider.fetch(signal)).ok);
    assert.equal(logins(), 1);
    vault.revokeTokens();
    assert.ok((await provider.fetch(signal)).ok);
    assert.equal(logins(), 2);
  });

  test('that is refused says so', async (t) => {
    const { provider } = await open(t, ({ role }) => ({
      auth: { kind: 'approle', roleId: role.role_id, secretId: 'plantedWrongSecretId' },
    }));
    assert.deepEqual(await provider.fetch(signal), { ok: false, reason: 'login: bad request' });
  });
});

describe('the reason is ours, and nothing of what Vault wrote', () => {
  const statuses: readonly (readonly [number, string])[] = [
    [400, 'bad request'],
    [403, 'permission denied'],
    [404, 'no such secret'],
    [429, 'rate limited'],
    [473, 'it is a standby node'],
    [500, 'internal error'],
    [502, 'a third party failed'],
    [503, 'sealed or in maintenance'],
    [418, 'status 418'],
    [302, 'status 302'],
  ];
  for (const [status, reason] of statuses)
    test(`${status}: ${reason}`, async (t) => {
      const { vault, provider } = await open(t);
      vault.fail(status);
      assert.deepEqual(await provider.fetch(signal), { ok: false, reason });
    });

  test('a field that is not there, and a server that is not there', async (t) => {
    const { vault, provider } = await open(t, () => ({ field: 'wrong' }));
    assert.deepEqual(await provider.fetch(signal), { ok: false, reason: "no field 'wrong'" });
    await vault.stop();
    assert.deepEqual(await provider.fetch(signal), { ok: false, reason: 'connection refused' });
  });
});
