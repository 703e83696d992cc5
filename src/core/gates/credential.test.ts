import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aCatalogue, aRequest, aTool, facts } from '../../../test/support/builders.ts';
import { answerOf } from '../../../test/support/gate-facts.ts';
import type { CredentialUse } from '../call/catalogue.ts';
import { baseLadder, withCredential, workflowLadder } from '../call/decide.ts';
import { recheck } from '../call/recheck.ts';
import { credential, credentialOnRecord, credentialsFor } from './credential.ts';
import type { CredentialFact, Facts } from './facts.ts';
import { known } from './known.ts';

const use = (name: string, agents: readonly string[] | null = null, place = 'header authorization'): CredentialUse => ({
  name,
  agents,
  place,
});
const needing = (uses: readonly CredentialUse[], credentials?: readonly CredentialFact[]): Facts =>
  facts({ catalogue: aCatalogue(aTool({ credentials: uses })), ...(credentials === undefined ? {} : { credentials }) });

const there: CredentialFact = { name: 'stripe', provider: 'vault', ok: true, id: 'crd_1', expiresAtMs: 5 };
const gone: CredentialFact = {
  name: 'stripe',
  provider: 'vault',
  ok: false,
  reason: 'connection refused',
  retryAfterSeconds: 30,
};

const cases: readonly (readonly [string, Facts, string])[] = [
  ['passes a tool without a credential, and fetches nothing', facts(), 'pass'],
  ['needs the secrets of a tool that has one', needing([use('stripe')]), 'need credentials'],
  ['passes once it is there', needing([use('stripe')], [there]), 'pass'],
  ['refuses if one of several cannot be had', needing([use('stripe')], [there, gone]), 'refuse CREDENTIAL_UNAVAILABLE'],
  ['fetches nothing for an agent that it is not for', needing([use('stripe', ['other'])]), 'pass'],
  ['needs it for an agent that it is for', needing([use('stripe', ['local'])]), 'need credentials'],
];

describe('the gate of credentials', () => {
  for (const [behaviour, given, expected] of cases)
    test(behaviour, () => assert.equal(answerOf(credential, {}, given), expected));

  test('refuses in the form of the contract', () => {
    const answer = credential.check(aRequest(), needing([use('stripe')], [gone]), []);
    assert.deepEqual(answer, {
      kind: 'refuse',
      refusal: {
        error: 'denied',
        class: 'Governance',
        code: 'CREDENTIAL_UNAVAILABLE',
        message: 'vault provider returned: connection refused',
        human_message: 'vault provider returned: connection refused',
        provider: 'vault',
        resolution: { type: 'retry_after', retry_after_seconds: 30 },
      },
    });
  });

  test('is the last of both ladders', () => {
    for (const ladder of [baseLadder, workflowLadder]) assert.equal(withCredential(ladder).at(-1), credential);
  });

  test('puts ids and lifetimes on record, and what it saw is that', () => {
    assert.deepEqual(credentialOnRecord(there), { name: 'stripe', provider: 'vault', id: 'crd_1', expires_at_ms: 5 });
    assert.deepEqual(credential.saw(aRequest(), needing([use('stripe')], [there])), {
      credentials: [credentialOnRecord(there)],
    });
  });
});

test('of several credentials for one place the first that is for the agent counts', () => {
  const tool = aTool({
    credentials: [
      use('mine', ['local']),
      use('all'),
      use('key', null, 'query api_key'),
      use('late', null, 'query api_key'),
    ],
  });
  assert.deepEqual(credentialsFor(tool, 'local'), ['mine', 'key']);
  assert.deepEqual(credentialsFor(tool, 'other'), ['all', 'key']);
});

test('a server that was never started for want of its secret says so, not that it is away', () => {
  const { provider, reason, retryAfterSeconds } = gone as Extract<CredentialFact, { ok: false }>;
  const lacks = { provider, reason, retryAfterSeconds };
  const away = facts({ catalogue: new Map(), unlisted: [{ name: 'shop', retryAfterSeconds: 2, lacks }] });
  assert.equal(answerOf(known, { tool: 'shop/pay' }, away), 'refuse CREDENTIAL_UNAVAILABLE');
});

describe('before a resend', () => {
  test('secrets are needed with and without a policy, and in audit mode', () => {
    const needs = { kind: 'need', fact: 'credentials' };
    assert.deepEqual(recheck(aRequest(), needing([use('stripe')])), needs);
    const audit = { mode: 'audit', agent: null, ref: 'x:1' } as const;
    assert.deepEqual(recheck(aRequest(), { ...needing([use('stripe')]), policy: audit }), needs);
  });

  test('one that cannot be had denies it, and says when to ask again', () => {
    assert.deepEqual(recheck(aRequest(), needing([use('stripe')], [gone])), {
      kind: 'denied',
      message: 'vault provider returned: connection refused',
      credential: { retryAfterSeconds: 30 },
    });
    assert.deepEqual(recheck(aRequest(), needing([use('stripe')], [there])), { kind: 'permitted' });
  });
});
