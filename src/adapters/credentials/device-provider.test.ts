/** Device authorization against a real issuer: who waits, how often it is asked, and what is kept. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';

import { startDeviceIssuer } from '../../../test/support/credentials/device-issuer.ts';
import type { DeviceSource } from '../../core/credential/declared-credential.ts';
import { createProviderClient } from './ask-provider.ts';
import { createDeviceProvider } from './device-provider.ts';

const { signal } = new AbortController();
const nobody = { ok: false, reason: 'nobody has signed in' };

async function open(t: TestContext, more: { interval?: number; lifetime?: number } = {}) {
  const issuer = await startDeviceIssuer(t, more);
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  const client = createProviderClient();
  t.after(() => {
    client.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const source: DeviceSource = {
    provider: 'device',
    deviceUrl: `${issuer.url}/device`,
    tokenUrl: `${issuer.url}/token`,
    clientId: 'client-1',
    clientSecret: null,
    scope: 'pay',
    audience: null,
  };
  const clock = { nowMs: 1_000_000 };
  const file = path.join(folder, 'signin.json');
  const make = () => createDeviceProvider(source, { client, nowMs: () => clock.nowMs, file });
  return { issuer, clock, file, make };
}

test('[C5-signin-1] a sign-in is asked for once, polled at its interval, and its token outlives the process', async (t) => {
  const { issuer, clock, file, make } = await open(t, { interval: 5 });
  const provider = make();
  assert.deepEqual(await provider.fetch(signal), nobody);
  assert.deepEqual(await provider.fetch(signal), nobody);
  assert.deepEqual([issuer.authorizations(), issuer.polls()], [1, 0], 'nobody polls before the interval is over');
  const waits = provider.signIn?.();
  assert.deepEqual([waits?.userCode, waits?.verificationUri], ['CODE-1', `${issuer.url}/enter`]);
  clock.nowMs += 5_000;
  assert.equal(await provider.poll?.(signal), null);
  assert.equal(await provider.poll?.(signal), null);
  assert.equal(issuer.polls(), 1);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  // Another process goes on with the same sign-in.
  const next = make();
  assert.equal(next.signIn?.()?.interactionId, waits?.interactionId);
  issuer.decide('CODE-1', true);
  clock.nowMs += 5_000;
  const given = await next.poll?.(signal);
  assert.deepEqual(given, { ok: true, secret: 'plantedAccess1', lifetimeMs: 3_600_000 });
  assert.equal(next.signIn?.(), null);
  const third = await make().fetch(signal);
  assert.equal(third.ok && third.secret, 'plantedAccess1');
  assert.ok(!readFileSync(file, 'utf8').includes('plantedDevice'), 'what was used up is not kept');
});

test('[C5-signin-2] slow_down, expired_token, access_denied and other answers', async (t) => {
  const { issuer, clock, make } = await open(t, { interval: 5, lifetime: 60 });
  const provider = make();
  await provider.fetch(signal);
  clock.nowMs += 5_000;
  issuer.answer('slow_down');
  assert.equal(await provider.poll?.(signal), null);
  issuer.answer(null);
  clock.nowMs += 5_000;
  await provider.poll?.(signal);
  assert.equal(issuer.polls(), 1, 'five seconds more after slow_down');
  clock.nowMs += 5_000;
  await provider.poll?.(signal);
  assert.equal(issuer.polls(), 2);
  issuer.decide('CODE-1', false);
  clock.nowMs += 10_000;
  const denied = await provider.poll?.(signal);
  assert.deepEqual(denied, { ok: false, reason: 'whoever was asked to sign in said no' });
  assert.equal(provider.signIn?.(), null);
  await provider.fetch(signal);
  assert.equal(provider.signIn?.()?.userCode, 'CODE-2');
  clock.nowMs += 61_000;
  assert.equal(provider.signIn?.(), null, 'a code has an end');
  await provider.fetch(signal);
  assert.equal(provider.signIn?.()?.userCode, 'CODE-3');
});

test('[C5-signin-3] a token is renewed before it ends; where that is refused somebody signs in again', async (t) => {
  const { issuer, clock, make } = await open(t);
  const provider = make();
  await provider.fetch(signal);
  issuer.decide('CODE-1', true);
  clock.nowMs += 1_000;
  assert.ok((await provider.fetch(signal)).ok);
  clock.nowMs += 3_590_000;
  const renewed = await provider.fetch(signal);
  assert.equal(renewed.ok && renewed.secret, 'plantedAccess2');
  provider.refuse?.();
  const after = await provider.fetch(signal);
  assert.equal(after.ok && after.secret, 'plantedAccess3', 'what was refused is not given again');
  issuer.revoke();
  provider.refuse?.();
  assert.deepEqual(await provider.fetch(signal), nobody);
  assert.equal(provider.signIn?.()?.userCode, 'CODE-2');
});
