/** What every provider of secrets must do, whatever it asks. Against real files, processes and servers. */
import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { createCredentials } from '../../../src/adapters/credentials/create-credentials.ts';
import type { CredentialSource, DeclaredCredential } from '../../../src/core/credential/declared-credential.ts';
import type { Credentials } from '../../../src/ports/credentials.ts';
import { builtInKind } from '../../support/credentials/built-in-kinds.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';

/** A source of secrets that a test can change. */
export interface ProvidedSource {
  readonly source: CredentialSource;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The secret that it gives now. */
  secret(): string;
  /** Gives another one from now on. */
  rotate(): Promise<void>;
  break(): Promise<void>;
  mend(): Promise<void>;
  /** What it says when it is broken. */
  readonly broken: RegExp;
}

export const declare = (source: CredentialSource, more: Partial<DeclaredCredential> = {}): DeclaredCredential => ({
  name: 'it',
  source,
  match: ['**'],
  agents: null,
  inject: { into: 'header', name: 'authorization' },
  template: 'Bearer {secret}',
  timeoutMs: 60_000,
  retryAfterMs: 30_000,
  maxAgeMs: null,
  ...more,
});

interface Opened {
  readonly credentials: Credentials;
  readonly clock: ManualClock;
  readonly provided: ProvidedSource;
  readonly heard: readonly string[];
}

async function open(t: TestContext, create: Create): Promise<Opened> {
  const provided = await create(t);
  const clock = createManualClock();
  const heard: string[] = [];
  const parts = {
    clock,
    env: provided.env ?? process.env,
    onSecret: (secret: string) => void heard.push(secret),
    providerOf: builtInKind,
  };
  const credentials = createCredentials([declare(provided.source)], parts);
  t.after(() => credentials.close());
  return { credentials, clock, provided, heard };
}

type Create = (t: TestContext) => Promise<ProvidedSource>;

const proofs: Readonly<Record<string, (opened: Opened) => Promise<void>>> = {
  'gives its secret to the wire, and only an id to everybody else': async ({ credentials, provided, heard }) => {
    assert.equal(credentials.known('it'), null);
    assert.equal(credentials.handle('it').reveal(), null);
    assert.equal(credentials.states()[0]?.state, 'not_fetched');
    const answer = await credentials.fetch('it');
    assert.ok(answer.ok, JSON.stringify(answer));
    assert.equal(answer.provider, provided.source.provider);
    const handle = credentials.handle('it');
    assert.equal(handle.reveal(), `Bearer ${provided.secret()}`);
    assert.equal(handle.usedId(), answer.id);
    assert.deepEqual(credentials.known('it'), answer);
    assert.equal(credentials.states()[0]?.state, 'ok');
    assert.ok(heard.includes(provided.secret()), 'it is known to whoever hides it');
    const shown = JSON.stringify([answer, handle, credentials.states(), credentials.known('it')]);
    assert.ok(!shown.includes(provided.secret()));
  },

  'gives another secret after a refusal, and the same one if there is no other': async ({ credentials, provided }) => {
    const first = await credentials.fetch('it');
    assert.ok(first.ok);
    const isRotating = provided.source.provider === 'oauth';
    const same = await credentials.refresh('it', first.id);
    assert.ok(same.ok);
    assert.equal(same.id === first.id, !isRotating);
    await provided.rotate();
    const other = await credentials.refresh('it', 'crd_of_somebody_else');
    assert.ok(other.ok && other.id === same.id, 'a secret that nobody refused is kept');
  },

  'has a new id for a secret that was rotated': async ({ credentials, provided }) => {
    const first = await credentials.fetch('it');
    assert.ok(first.ok);
    await provided.rotate();
    const rotated = await credentials.refresh('it', first.id);
    assert.ok(rotated.ok && rotated.id !== first.id);
    assert.equal(credentials.handle('it').reveal(), `Bearer ${provided.secret()}`);
  },

  'says why it has none in our words, is left alone for a while, and recovers': async ({
    credentials,
    provided,
    clock,
  }) => {
    const secret = provided.secret();
    await provided.break();
    const failed = await credentials.fetch('it');
    assert.ok(!failed.ok);
    assert.match(failed.reason, provided.broken);
    assert.deepEqual([failed.provider, failed.retryAfterSeconds], [provided.source.provider, 30]);
    assert.equal(credentials.states()[0]?.state, 'failing');
    assert.ok(!JSON.stringify([failed, credentials.states()]).includes(secret));
    await provided.mend();
    clock.forward(29_000);
    assert.deepEqual(await credentials.fetch('it'), { ...failed, retryAfterSeconds: 1 });
    clock.forward(1_000);
    const again = await credentials.fetch('it');
    assert.ok(again.ok, JSON.stringify(again));
    assert.deepEqual([credentials.states()[0]?.state, credentials.states()[0]?.reason], ['ok', null]);
  },
};

export function provesCredentials(name: string, create: Create): void {
  describe(`${name} as a provider of secrets`, () => {
    for (const [title, proves] of Object.entries(proofs)) test(title, async (t) => proves(await open(t, create)));
  });
}
