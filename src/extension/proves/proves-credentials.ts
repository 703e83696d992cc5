/** What must every source of secrets do? One contract for all; the harness says how a secret is changed and broken. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { maxSecretBytes, minSecretChars, type Provided, type SecretProvider } from '../../ports/secret-provider.ts';

/** A source that a test can change. */
export interface StagedSecret {
  readonly provider: SecretProvider;
  /** The secret that it gives now. */
  secret(): string;
  /** Gives another one from now on. */
  rotate(): Promise<void>;
  break(): Promise<void>;
  mend(): Promise<void>;
  /** What it says when it is broken. */
  readonly broken: RegExp;
}

export interface CredentialsHarness {
  stage(t: TestContext): Promise<StagedSecret>;
}

const never = new AbortController().signal;

export function provesCredentials(name: string, harness: CredentialsHarness): void {
  describe(`${name} keeps the contract of sources of secrets`, () => {
    test('it gives its secret: one line that can be sent, with a lifetime or without', async (t) => {
      const { provider, secret } = await harness.stage(t);
      const given = mustGive(await provider.fetch(never));
      assert.equal(given.secret, secret());
      assert.ok(given.secret.length >= minSecretChars && Buffer.byteLength(given.secret) <= maxSecretBytes);
      assert.match(given.secret, /^[\t\u0020-\u007e\u0080-\u00ff]*$/);
      assert.ok(given.lifetimeMs === null || given.lifetimeMs > 0);
    });

    test('it gives the new secret once that was changed', async (t) => {
      const { provider, secret, rotate } = await harness.stage(t);
      mustGive(await provider.fetch(never));
      await rotate();
      assert.equal(mustGive(await provider.fetch(never)).secret, secret());
    });

    test('a secret that can be renewed stays the same', async (t) => {
      const { provider } = await harness.stage(t);
      const given = mustGive(await provider.fetch(never));
      if (given.renew === undefined) return t.skip('it renews none');
      assert.equal(mustGive(await given.renew(never)).secret, given.secret);
    });

    test('while it is broken it says why, in words without a secret, and gives it again afterwards', async (t) => {
      const staged = await harness.stage(t);
      const before = staged.secret();
      await staged.break();
      const refused = await staged.provider.fetch(never);
      assert.equal(refused.ok, false);
      const { reason } = refused as Extract<Provided, { ok: false }>;
      assert.match(reason, staged.broken);
      assert.ok(!reason.includes(before) && reason.length <= 200, reason);
      await staged.mend();
      assert.equal(mustGive(await staged.provider.fetch(never)).secret, staged.secret());
    });

    test('a fetch that is stopped does not reject', async (t) => {
      const { provider } = await harness.stage(t);
      assert.equal(typeof (await provider.fetch(AbortSignal.abort())).ok, 'boolean');
    });

    test('many fetches at once each have an answer', async (t) => {
      const { provider, secret } = await harness.stage(t);
      const all = await Promise.all(Array.from({ length: 10 }, () => provider.fetch(never)));
      assert.ok(all.every((given) => mustGive(given).secret === secret() || given.ok));
    });
  });
}

function mustGive(given: Provided): Extract<Provided, { ok: true }> {
  assert.ok(given.ok, JSON.stringify(given));
  return given;
}
