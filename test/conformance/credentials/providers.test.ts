/** Each provider keeps the contract; Vault against the real one where its binary is there. */
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import assert from 'node:assert/strict';
import { folder } from '../../support/recourse-process.ts';
import { findVault, startRealVault } from '../../support/credentials/real-vault.ts';
import { startTokenServer } from '../../support/credentials/token-server.ts';
import { startOwnVault, type VaultServer } from '../../support/credentials/vault-server.ts';
import { provesCredentials, type ProvidedSource } from './proves-credentials.ts';

const numbered = (before: string) => {
  let nth = 1;
  return { now: () => `${before}${nth}`, next: () => `${before}${++nth}` };
};

describe('a secret can be had from', () => {
  provesCredentials('env', async () => {
    const secret = numbered('plantedEnvSecret');
    const env: Record<string, string | undefined> = { STRIPE_KEY: secret.now() };
    return {
      source: { provider: 'env', variable: 'STRIPE_KEY' },
      env,
      secret: secret.now,
      rotate: async () => void (env['STRIPE_KEY'] = secret.next()),
      break: async () => void delete env['STRIPE_KEY'],
      mend: async () => void (env['STRIPE_KEY'] = secret.now()),
      broken: /^STRIPE_KEY is not set$/,
    };
  });

  provesCredentials('file', async (t) => {
    const secret = numbered('plantedFileSecret');
    const file = path.join(folder(t), 'stripe.key');
    const write = (text: string) => writeFileSync(file, `${text}\n`);
    write(secret.now());
    return {
      source: { provider: 'file', path: file },
      secret: secret.now,
      rotate: async () => write(secret.next()),
      break: async () => renameSync(file, `${file}.away`),
      mend: async () => renameSync(`${file}.away`, file),
      broken: /^the file: not found$/,
    };
  });

  provesCredentials('exec', async (t) => {
    const secret = numbered('plantedExecSecret');
    const file = path.join(folder(t), 'script.cjs');
    const write = (text: string) =>
      writeFileSync(
        file,
        `console.error('${secret.now()}'); process.stdout.write(JSON.stringify({ secret: '${text}', expires_in: 600 }));`,
      );
    write(secret.now());
    return {
      source: { provider: 'exec', command: process.execPath, args: [file], cwd: null },
      secret: secret.now,
      rotate: async () => write(secret.next()),
      break: async () => writeFileSync(file, 'console.error(process.env.HOME); process.exit(3);'),
      mend: async () => write(secret.now()),
      broken: /^exit code 3$/,
    };
  });

  provesCredentials('oauth', async (t) => {
    const server = await startTokenServer(t);
    return {
      source: {
        provider: 'oauth',
        tokenUrl: server.url,
        clientId: 'client-1',
        clientSecret: 'planted+client&secret',
        scope: 'pay',
        audience: null,
        clientAuth: 'basic',
      },
      secret: () => server.given.at(-1) ?? 'plantedAccessToken1',
      rotate: async () => undefined,
      break: async () => server.answer({ error: 'invalid_client', error_description: 'planted words' }, 401),
      mend: async () => server.answer(null),
      broken: /^invalid_client$/,
    };
  });

  const real = findVault();
  provesCredentials(
    real === null ? 'vault (ours, exact to its documented API)' : `vault (${real.version})`,
    async (t) => vaultSource(real === null ? await startOwnVault(t) : await startRealVault(t, real)),
  );
  test('[C1-credential-1] Vault, and it is said which one it was', (t) => {
    t.diagnostic(
      real === null ? 'no Vault binary: ours was used; npm run vault builds a real one' : `real: ${real.version}`,
    );
    assert.ok(true);
  });
});

async function vaultSource({ address, token, put }: VaultServer): Promise<ProvidedSource> {
  const secret = numbered('plantedVaultSecret');
  await put('stripe', { api_key: secret.now(), other: 'x' });
  const source = { provider: 'vault', address, path: 'secret/data/stripe', field: 'api_key', namespace: null } as const;
  const auth = { kind: 'token', token };
  return {
    source: { ...source, auth: auth as { kind: 'token'; token: string } },
    secret: secret.now,
    rotate: () => put('stripe', { api_key: secret.next() }),
    break: () => put('stripe', { wrong: 'field' }),
    mend: () => put('stripe', { api_key: secret.now() }),
    broken: /^no field 'api_key'$/,
  };
}
