/** Who is let in by which header? On a real keyring. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { describe, test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { timesDrawn } from '../../../test/support/times-drawn.ts';
import { aKeyring, aNewKey, noon } from '../../../test/support/open-keyring.ts';
import { keyRoles } from '../../core/call/identity.ts';
import { type AuthenticatorParts, createAuthenticator } from './authenticate.ts';

async function aDoor(t: TestContext, over: Partial<AuthenticatorParts> = {}) {
  const opened = await aKeyring(t);
  const authenticate = createAuthenticator({ keyring: opened.keyring, nowMs: () => noon, openAs: null, ...over });
  return { ...opened, authenticate, ask: (authorization: string) => authenticate({ authorization }) };
}

const visitor = { tenant: 'default', agent: 'local' };

describe('the Authorization header', () => {
  test('a key behind the scheme, in any case, is its holder', async (t) => {
    const { keyring, ask } = await aDoor(t);
    const { key, entry } = await keyring.add(aNewKey({ role: 'viewer', tenant: 't' }), noon);
    const identity = { tenant: 't', role: 'viewer', name: 'bot', keyId: entry.id };
    for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR   '])
      assert.deepEqual(await ask(scheme + key), identity);
  });

  test('what is no key behind it is malformed, a key that does not live is unknown, no header is missing', async (t) => {
    const { keyring, ask, authenticate } = await aDoor(t);
    const { key, entry } = await keyring.add(aNewKey(), noon);
    const malformed = [
      '',
      ' ',
      'Bearer',
      'Bearer ',
      key,
      `Basic ${key}`,
      `Bearer${key}`,
      `Bearer ${key} x`,
      `Bearer ${key},${key}`,
    ];
    for (const text of [...malformed, ` Bearer ${key}`, `Bearer ${key.slice(1)}`, `Bearer ${'x'.repeat(100_000)}`])
      assert.deepEqual(await ask(text), { problem: 'malformed' }, text.slice(0, 100));
    assert.deepEqual(await ask(`Bearer ${key.slice(0, -3)}AAA`), { problem: 'unknown' });
    await keyring.revoke('default', entry.id, noon);
    assert.deepEqual(await ask(`Bearer ${key}`), { problem: 'unknown' });
    assert.deepEqual(await authenticate({}), { problem: 'missing' });
  });

  test('nothing else of a request is looked at', async (t) => {
    const { keyring, authenticate } = await aDoor(t);
    const { key } = await keyring.add(aNewKey(), noon);
    const elsewhere = {
      'proxy-authorization': `Bearer ${key}`,
      cookie: `key=${key}`,
      'x-api-key': key,
      referer: `/?key=${key}`,
    };
    assert.deepEqual(await authenticate(elsewhere), { problem: 'missing' });
    assert.deepEqual(await authenticate({ authorization: [`Bearer ${key}`] } as unknown as IncomingHttpHeaders), {
      problem: 'malformed',
    });
  });
});

describe('the header x-api-key', () => {
  test('is its holder where it counts, alone or beside the same bearer key', async (t) => {
    const { keyring, authenticate } = await aDoor(t);
    const { key, entry } = await keyring.add(aNewKey(), noon);
    const identity = await authenticate({ authorization: `Bearer ${key}` });
    assert.ok('keyId' in identity && identity.keyId === entry.id);
    assert.deepEqual(await authenticate({ 'x-api-key': key }, true), identity);
    assert.deepEqual(await authenticate({ 'x-api-key': key, authorization: `bearer ${key}` }, true), identity);
    assert.deepEqual(await authenticate({ 'x-api-key': key }), { problem: 'missing' });
  });

  test('lets nobody in beside another key, nor with anything but one key', async (t) => {
    const { keyring, authenticate } = await aDoor(t, { openAs: visitor });
    const { key } = await keyring.add(aNewKey(), noon);
    const { key: other } = await keyring.add(aNewKey(), noon);
    for (const headers of [
      { 'x-api-key': key, authorization: `Bearer ${other}` },
      { 'x-api-key': key, authorization: '' },
      { 'x-api-key': '', authorization: `Bearer ${key}` },
      { 'x-api-key': `Bearer ${key}` },
      { 'x-api-key': '' },
      { 'x-api-key': [key] },
    ])
      assert.deepEqual(await authenticate(headers as IncomingHttpHeaders, true), { problem: 'malformed' });
    assert.deepEqual(await authenticate({ 'x-api-key': `${key.slice(0, -3)}AAA` }, true), { problem: 'unknown' });
  });
});

describe('where a visitor may come in without a key', () => {
  test('who brings no header is this agent, and nobody else', async (t) => {
    const { authenticate } = await aDoor(t, { openAs: visitor });
    assert.deepEqual(await authenticate({}), { tenant: 'default', role: 'agent', name: 'local', keyId: null });
  });

  test('a wrong key is never taken for no key', async (t) => {
    const { keyring, ask } = await aDoor(t, { openAs: visitor });
    const { key } = await keyring.add(aNewKey(), noon);
    assert.deepEqual(await ask(''), { problem: 'malformed' });
    assert.deepEqual(await ask('Bearer '), { problem: 'malformed' });
    assert.deepEqual(await ask(`Bearer ${key.slice(0, -3)}AAA`), { problem: 'unknown' });
  });
});

test('keys that cannot be read let nobody in, and the operator hears why', async (t) => {
  const told: string[] = [];
  const { keyring, file, ask, clock } = await aDoor(t, { onUnavailable: (message) => void told.push(message) });
  const { key } = await keyring.add(aNewKey(), noon);
  clock.monotonicMs += 5_000;
  const other = new DatabaseSync(file);
  other.exec(`PRAGMA ignore_check_constraints = ON; UPDATE keys SET role = 'emperor'`);
  other.close();
  assert.deepEqual(await ask(`Bearer ${key}`), { problem: 'unavailable' });
  await keyring.close();
  assert.deepEqual(await ask(`Bearer ${key}`), { problem: 'unavailable' });
  assert.match(told[0] ?? '', /is damaged/);
  assert.ok(told.length === 2 && !told.join().includes(key.slice(20)));
  rmSync(file, { force: true });
});

test('whatever the header says, the answer is typed, and only a whole key is its own holder', async (t) => {
  const { keyring, ask } = await aDoor(t);
  const holders = new Map<string, { tenant: string; role: string; keyId: string }>();
  const dead: string[] = [];
  for (const tenant of ['a', 'b'])
    for (const role of keyRoles) {
      const { key, entry } = await keyring.add(aNewKey({ tenant, role }), noon);
      holders.set(key, { tenant, role, keyId: entry.id });
      const ended = await keyring.add(aNewKey({ tenant, role }), noon);
      await keyring.revoke(tenant, ended.entry.id, noon);
      dead.push(ended.key);
    }
  const keys = [...holders.keys(), ...dead];
  const whole = fc.constantFrom(...keys);
  const mixed = fc.tuple(whole, whole).map(([one, two]) => one.slice(0, 20) + two.slice(20));
  const bent = fc
    .tuple(whole, fc.nat(62), fc.string({ unit: anyCharacter, maxLength: 2 }))
    .map(([key, at, text]) => key.slice(0, at) + text + key.slice(at + 1));
  const scheme = fc.oneof(
    { weight: 4, arbitrary: fc.constant('Bearer ') },
    fc.constantFrom('bearer  ', 'Basic ', '', 'Bearer\t', 'Bearer\n'),
    fc.string(),
  );
  const header = fc
    .tuple(scheme, fc.oneof(whole, mixed, bent, fc.string({ unit: anyCharacter })))
    .map(([a, b]) => a + b);
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(header, async (text) => {
      const who = await ask(text);
      if ('problem' in who) {
        seen.add(who.problem);
        assert.deepEqual(Object.keys(who), ['problem']);
        return;
      }
      seen.add('identity');
      const holder = holders.get(text.replace(/^bearer +/i, ''));
      assert.deepEqual(holder, { tenant: who.tenant, role: who.role, keyId: who.keyId });
    }),
    { seed: 4, numRuns: timesDrawn(2_000, 400) },
  );
  assert.deepEqual([...seen].toSorted(), ['identity', 'malformed', 'unknown']);
});
