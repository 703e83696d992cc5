/** When a secret is asked for, kept, renewed and given up; time passes only when the test says so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { declare } from '../../../test/conformance/credentials/proves-credentials.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import type { DeclaredCredential } from '../../core/credential/declared-credential.ts';
import { createCredentialCache } from './credential-cache.ts';
import { failed, type Provided, provided, type SecretProvider, reasonOf } from '../../ports/secret-provider.ts';

/** Gives what the script says, the last of it for ever. */
function open(
  script: readonly (() => Provided | Promise<Provided>)[],
  more: Partial<DeclaredCredential> = {},
  usualAgeMs: number | null = null,
) {
  const clock = createManualClock();
  let asked = 0;
  const provider: SecretProvider = {
    name: 'vault',
    usualAgeMs,
    fetch: async () => (script[Math.min(asked++, script.length - 1)] ?? (() => failed('empty')))(),
  };
  const source = { provider: 'env', variable: 'X' } as const;
  const cache = createCredentialCache(declare(source, more), { provider, clock, onSecret: () => undefined });
  return { cache, clock, asked: () => asked, value: () => cache.current()?.value };
}

const gives =
  (secret: string, lifetimeMs: number | null = null) =>
  () =>
    provided(secret, lifetimeMs);
const fails =
  (reason = 'connection refused', retryAfterMs?: number) =>
  () =>
    failed(reason, retryAfterMs);

describe('a secret', () => {
  test('without a lifetime is asked for once', async () => {
    const { cache, clock, asked } = open([gives('secret-one')]);
    await cache.fetch();
    clock.forward(366 * 86_400_000);
    await cache.fetch();
    assert.equal(asked(), 1);
  });

  test('is asked for once by a thousand calls at the same time', async () => {
    const { cache, asked } = open([gives('secret-one')]);
    await Promise.all(Array.from({ length: 1_000 }, () => cache.fetch()));
    assert.equal(asked(), 1);
  });

  test('is asked for again before its lifetime ends, by a tenth of it', async () => {
    const { cache, clock, asked, value } = open([gives('secret-one', 100_000), gives('secret-two', 100_000)]);
    await cache.fetch();
    clock.forward(89_999);
    await cache.fetch();
    assert.deepEqual([asked(), value()], [1, 'Bearer secret-one']);
    clock.forward(1);
    await cache.fetch();
    assert.deepEqual([asked(), value()], [2, 'Bearer secret-two']);
  });

  test('is asked for again by at most 30 seconds before its end', async () => {
    const { cache, clock, asked } = open([gives('secret-one', 3_600_000)]);
    await cache.fetch();
    clock.forward(3_569_999);
    await cache.fetch();
    assert.equal(asked(), 1);
    clock.forward(1);
    await cache.fetch();
    assert.equal(asked(), 2);
  });

  test('is used until its very end if its provider cannot renew it, and not after that', async () => {
    const { cache, clock, value } = open([gives('secret-one', 100_000), fails()]);
    const first = await cache.fetch();
    clock.forward(99_999);
    assert.deepEqual(await cache.fetch(), first);
    assert.deepEqual([cache.state().state, cache.state().reason], ['failing', 'connection refused']);
    clock.forward(1);
    const last = await cache.fetch();
    assert.deepEqual([last.ok, value()], [false, 'Bearer secret-one']);
  });

  test('is renewed where it can be, and replaced where it cannot be any more', async () => {
    let renewed = 0;
    const renew = async (): Promise<Provided> =>
      ++renewed === 1 ? provided('secret-one', 100_000, renew) : failed('permission denied');
    const { cache, clock, asked, value } = open([
      () => provided('secret-one', 100_000, renew),
      gives('secret-two', 100_000),
    ]);
    const first = await cache.fetch();
    clock.forward(95_000);
    const second = await cache.fetch();
    assert.ok(first.ok && second.ok);
    assert.deepEqual([renewed, asked(), first.id === second.id], [1, 1, true]);
    clock.forward(95_000);
    await cache.fetch();
    assert.deepEqual([renewed, asked(), value()], [2, 2, 'Bearer secret-two']);
  });

  test('without a lifetime of its own is asked for again after its usual age, or the one that is declared', async () => {
    for (const [more, ageMs] of [
      [{}, 60_000],
      [{ maxAgeMs: 10_000 }, 10_000],
    ] as const) {
      const { cache, clock, asked } = open([gives('secret-one')], more, 60_000);
      await cache.fetch();
      clock.forward(ageMs - 1);
      await cache.fetch();
      assert.equal(asked(), 1);
      clock.forward(1);
      await cache.fetch();
      assert.equal(asked(), 2);
    }
  });
});

describe('a failure', () => {
  test('counts for retry_after, however many ask, and says the true wait', async () => {
    const { cache, clock, asked } = open([fails(), gives('secret-one')]);
    const answers = await Promise.all(Array.from({ length: 100 }, () => cache.fetch()));
    assert.deepEqual(new Set(answers.map((each) => (each.ok ? 0 : each.retryAfterSeconds))), new Set([30]));
    clock.forward(12_500);
    const later = await cache.fetch();
    assert.deepEqual([asked(), later.ok ? 0 : later.retryAfterSeconds], [1, 18]);
    clock.forward(17_500);
    assert.deepEqual([(await cache.fetch()).ok, asked()], [true, 2]);
  });

  test('counts for as long as the provider asks, if that is longer', async () => {
    const { cache } = open([fails('rate limited', 120_000)]);
    const answer = await cache.fetch();
    assert.equal(answer.ok ? 0 : answer.retryAfterSeconds, 120);
  });

  test('is a provider that does not answer in time, one that throws, and one whose gateway closes', async () => {
    const never = new Promise<Provided>(() => undefined);
    const slow = open([() => never], { timeoutMs: 5_000 });
    const answer = slow.cache.fetch();
    slow.clock.forward(5_000);
    assert.deepEqual(await answer, {
      ok: false,
      provider: 'vault',
      reason: 'no answer within 5 s',
      retryAfterSeconds: 30,
    });
    const broken = open([
      () => {
        throw new Error('planted secret');
      },
    ]);
    assert.doesNotMatch(JSON.stringify(await broken.cache.fetch()), /planted/);
    const closing = open([() => never]);
    const waiting = closing.cache.fetch();
    closing.cache.close();
    assert.equal((await waiting).ok, false);
  });

  test('has words for its code, and never its message', () => {
    const error = (code: string) => Object.assign(new Error('http://user:planted@host'), { code });
    const told = ['ECONNREFUSED', 'ENOTFOUND', 'ERR_TLS_CERT_ALTNAME_INVALID', 'UND_ERR_SOCKET'].map((code) =>
      reasonOf(error(code)),
    );
    assert.deepEqual(told, [
      'connection refused',
      'host not found',
      'certificate not accepted',
      'it cannot be reached',
    ]);
    assert.equal(reasonOf(new TypeError('fetch failed', { cause: error('ECONNRESET') })), 'connection closed');
  });
});

describe('a secret that an upstream refused', () => {
  test('is asked for anew once, whoever was refused with it', async () => {
    const { cache, asked } = open([gives('secret-one'), gives('secret-two')]);
    const first = await cache.fetch();
    assert.ok(first.ok);
    const answers = await Promise.all(Array.from({ length: 50 }, () => cache.refresh(first.id)));
    assert.ok(answers.every((each) => each.ok && each.id !== first.id));
    assert.equal(asked(), 2);
  });

  test('is not asked about again for a while if there is no other', async () => {
    const { cache, clock, asked } = open([gives('secret-one')]);
    const first = await cache.fetch();
    assert.ok(first.ok);
    for (let calls = 0; calls < 10; calls++) assert.deepEqual(await cache.refresh(first.id), first);
    assert.equal(asked(), 2);
    clock.forward(30_000);
    await cache.refresh(first.id);
    assert.equal(asked(), 3);
  });

  test('is kept if its provider fails: it may be accepted elsewhere', async () => {
    const { cache } = open([gives('secret-one'), fails()]);
    const first = await cache.fetch();
    assert.ok(first.ok);
    assert.deepEqual(await cache.refresh(first.id), first);
  });
});

const unusable: readonly (readonly [string, string, RegExp])[] = [
  ['an empty one', '', /empty/],
  ['one that is too short to be found in an answer', 'short', /less than 8/],
  ['one of two lines', 'secret-one\nX-Evil: 1', /one line/],
  ['one beyond Latin-1', 'secret-☃-one', /one line/],
  ['one that is too long', 'x'.repeat(70_000), /too long/],
];

for (const [name, secret, reason] of unusable)
  test(`${name} is no secret`, () => {
    const given = provided(secret, null);
    assert.ok(!given.ok);
    assert.match(given.reason, reason);
  });
