/** A real Vault in its development mode, if `npm run vault` has built one; on loopback, in memory. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { eventually } from '../eventually.ts';
import { root } from '../recourse-process.ts';
import type { VaultServer } from './vault-server.ts';

export interface VaultBinary {
  readonly file: string;
  readonly version: string;
}

/** Null if there is none. */
export function findVault(): VaultBinary | null {
  const file = path.join(root, 'node_modules/.cache/vault/vault');
  if (!existsSync(file)) return null;
  const [version = 'Vault'] = execFileSync(file, ['version'], { encoding: 'utf8' }).split(',');
  return { file, version };
}

export async function startRealVault(t: Pick<TestContext, 'after'>, { file }: VaultBinary): Promise<VaultServer> {
  const token = 'realRootTokenOfTheTest';
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const args = [
    'server',
    '-dev',
    `-dev-root-token-id=${token}`,
    `-dev-listen-address=127.0.0.1:${port}`,
    '-dev-no-store-token',
  ];
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], VAULT_DISABLE_MLOCK: 'true' };
  const child = spawn(file, args, { env, stdio: 'ignore' });
  const over = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGKILL');
    await over;
  };
  t.after(stop);
  await eventually('Vault answers', async () => {
    if (child.exitCode !== null) throw new Error(`Vault has ended with ${child.exitCode}`);
    return fetch(`${address}/v1/sys/health`).then(
      (answer) => answer.ok,
      () => false,
    );
  });
  const ask = async (method: string, at: string, body?: object) => {
    const answer = await fetch(`${address}/v1/${at}`, {
      method,
      headers: { 'x-vault-token': token, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`Vault answered ${answer.status} to ${at}`);
    const text = await answer.text();
    return (text === '' ? {} : JSON.parse(text)) as { readonly data: Readonly<Record<string, string>> };
  };
  const approle = async () => {
    await ask('PUT', 'sys/policies/acl/reader', { policy: 'path "secret/data/*" { capabilities = ["read"] }' });
    await ask('POST', 'sys/auth/approle', { type: 'approle' });
    await ask('POST', 'auth/approle/role/bot', { token_policies: ['reader'] });
    const { data: role } = await ask('GET', 'auth/approle/role/bot/role-id');
    const { data: made } = await ask('POST', 'auth/approle/role/bot/secret-id', {});
    return { role_id: role['role_id'] ?? '', secret_id: made['secret_id'] ?? '' };
  };
  const put: VaultServer['put'] = async (at, data) => void (await ask('POST', `secret/data/${at}`, { data }));
  return { address, token, heard: [], put, approle, stop };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
