/** Vault's own words for a refusal, a missing secret and AppRole: the real one where it was built, else ours. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createCredentials } from '../../../src/adapters/credentials/create-credentials.ts';
import type { VaultSource } from '../../../src/core/credential/declared-credential.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { builtInKind } from '../../support/credentials/built-in-kinds.ts';
import { findVault, startRealVault } from '../../support/credentials/real-vault.ts';
import { startOwnVault, type VaultServer } from '../../support/credentials/vault-server.ts';
import { declare } from './proves-credentials.ts';

async function start(t: TestContext): Promise<VaultServer> {
  const real = findVault();
  t.diagnostic(real === null ? 'ours, exact to the documented API' : `real: ${real.version}`);
  const vault = real === null ? await startOwnVault(t) : await startRealVault(t, real);
  await vault.put('stripe', { api_key: 'plantedVaultSecret' });
  return vault;
}

async function fetchFrom(t: TestContext, { address, token }: VaultServer, more: Partial<VaultSource>) {
  const auth = { kind: 'token', token } as const;
  const at = { provider: 'vault', address, path: 'secret/data/stripe', field: 'api_key', namespace: null } as const;
  const parts = { clock: createManualClock(), env: {}, onSecret: () => undefined, providerOf: builtInKind };
  const credentials = createCredentials([declare({ ...at, auth, ...more })], parts);
  t.after(() => credentials.close());
  const answer = await credentials.fetch('it');
  return answer.ok ? credentials.handle('it').reveal() : answer.reason;
}

test('[C4-credential-1] a token that is refused, a secret that is not there, and a Vault that is gone have their words', async (t) => {
  const vault = await start(t);
  assert.equal(await fetchFrom(t, vault, {}), 'Bearer plantedVaultSecret');
  assert.equal(await fetchFrom(t, vault, { auth: { kind: 'token', token: 'wrong' } }), 'permission denied');
  assert.equal(await fetchFrom(t, vault, { path: 'secret/data/other' }), 'no such secret');
  assert.equal(await fetchFrom(t, vault, { field: 'other' }), "no field 'other'");
  await vault.stop();
  assert.equal(await fetchFrom(t, vault, {}), 'connection refused');
});

test('[C1-credential-1] AppRole gives a token that reads the secret', async (t) => {
  const vault = await start(t);
  const { role_id: roleId, secret_id: secretId } = await vault.approle();
  assert.equal(await fetchFrom(t, vault, { auth: { kind: 'approle', roleId, secretId } }), 'Bearer plantedVaultSecret');
  const wrong = { kind: 'approle', roleId, secretId: '00000000-0000-0000-0000-000000000000' } as const;
  assert.equal(await fetchFrom(t, vault, { auth: wrong }), 'login: bad request');
});
