/** Client credentials: both ways to prove who asks, lifetimes, and what is told of a refusal. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { startTokenServer } from '../../../test/support/credentials/token-server.ts';
import type { OAuthSource } from '../../core/credential/declared-credential.ts';
import { createProviderClient } from './ask-provider.ts';
import { createOAuthProvider } from './oauth-provider.ts';

const signal = new AbortController().signal;

async function open(t: TestContext, more: Partial<OAuthSource> = {}) {
  const server = await startTokenServer(t);
  const client = createProviderClient();
  t.after(() => client.close());
  const source: OAuthSource = {
    provider: 'oauth',
    tokenUrl: server.url,
    clientId: 'client-1',
    clientSecret: 'planted+client&secret',
    scope: 'pay read',
    audience: 'https://api.example.com',
    clientAuth: 'basic',
    ...more,
  };
  return { server, provider: createOAuthProvider(source, client) };
}

for (const clientAuth of ['basic', 'post'] as const)
  test(`a client proves who it is by ${clientAuth}, and asks for scope and audience`, async (t) => {
    const { server, provider } = await open(t, { clientAuth });
    assert.deepEqual(await provider.fetch(signal), { ok: true, secret: 'plantedAccessToken1', lifetimeMs: 3_600_000 });
    const form = new URLSearchParams(server.heard[0]?.body);
    assert.deepEqual([form.get('scope'), form.get('audience')], ['pay read', 'https://api.example.com']);
    assert.equal(form.has('client_secret'), clientAuth === 'post');
  });

const refusals: readonly (readonly [string, Readonly<Record<string, unknown>>, number, string])[] = [
  ['a known code', { error: 'invalid_scope', error_description: 'planted words' }, 400, 'invalid_scope'],
  ['a code of its own', { error: 'planted words' }, 400, 'status 400'],
  ['no token', { token_type: 'bearer' }, 200, 'an answer without a token'],
  ['another type', { access_token: 'plantedToken', token_type: 'mac' }, 200, 'a token that is no bearer token'],
];

for (const [name, body, status, reason] of refusals)
  test(`an answer with ${name} is a failure: ${reason}`, async (t) => {
    const { server, provider } = await open(t);
    server.answer(body, status);
    assert.deepEqual(await provider.fetch(signal), { ok: false, reason });
  });
