/** One resend after a 401, and only with a secret that the upstream has not seen and if nothing was done. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aCall } from '../../../test/support/builders.ts';
import type { EffectClass, ErrorKind } from '../taxonomy.ts';
import { classify } from './classify.ts';
import { dispatchOf } from './dispatch.ts';
import { recordsOfDispatch } from './dispatch-records.ts';
import {
  type CredentialNow,
  mayRefreshCredential,
  nothingTried,
  plan,
  planAfterCredential,
  type PlanFacts,
  remember,
} from './plan.ts';
import { recoveryOfUpstream } from './playbook.ts';
import { readHistory } from './read-history.ts';

function factsFor(kind: ErrorKind, effectClass: EffectClass = 'plain', more: Partial<PlanFacts> = {}): PlanFacts {
  const classification = classify(kind, undefined, effectClass);
  return {
    call: aCall({ state: 'DISPATCHED', attempt: 1, effectClass, createdAtMs: 0, deadlineAtMs: 900_000 }),
    trouble: { error: { kind, message: 'no' }, classification, effect: classification.effect },
    history: nothingTried,
    recovery: recoveryOfUpstream('up'),
    dedupeWindowMs: null,
    nowMs: 1_000,
    chance: 0.5,
    maxRetryAfterMs: 900_000,
    budgetLeft: true,
    ...more,
  };
}

const planned = (facts: PlanFacts, credential: CredentialNow) => planAfterCredential(plan(facts), facts, credential);
const unauthenticated = factsFor('401_unauthenticated');
const tainted = factsFor('401_unauthenticated', 'plain', { call: { ...unauthenticated.call, tainted: true } });
const claimsEffect = { ...unauthenticated, trouble: { ...unauthenticated.trouble, effect: 'unknown' as const } };
const keyed = factsFor('401_unauthenticated', 'keyed', { dedupeWindowMs: 86_400_000 });
const keyedClaim = { ...keyed, trouble: { ...keyed.trouble, effect: 'unknown' as const } };
const again = { ...unauthenticated, history: { ...nothingTried, retries: { auth_expired: 1 } } };

const cases: readonly (readonly [string, PlanFacts, CredentialNow, string])[] = [
  ['a new secret is sent at once', unauthenticated, 'new', 'retry'],
  ['the same secret is not sent again', unauthenticated, 'same', 'escalated'],
  ['a secret that cannot be had is not sent', unauthenticated, 'unavailable', 'escalated'],
  ['without a credential it is as before', unauthenticated, null, 'escalated'],
  ['not a second time', again, 'new', 'escalated'],
  ['not after an attempt that may have taken effect', tainted, 'new', 'escalated'],
  ['not if the tool itself does not say that nothing was done', claimsEffect, 'new', 'escalated'],
  ['not even with a key that the upstream would recognise', keyedClaim, 'new', 'escalated'],
  ['not after a 403', factsFor('403_forbidden'), 'new', 'escalated'],
  ['not after a server error of a write', factsFor('5xx'), 'new', 'exhausted'],
];

describe('after a refusal', () => {
  for (const [behaviour, facts, credential, kind] of cases)
    test(behaviour, () => assert.equal(planned(facts, credential).kind, kind));
});

test('the resend says why it is one, and the next failure finds it in the records', () => {
  const retry = planned(unauthenticated, 'new');
  const dispatch = dispatchOf(unauthenticated, retry, { evidence: null, credential: 'new', reversal: null });
  const records = recordsOfDispatch(dispatch, unauthenticated.call, null);
  const scheduled = records.find(({ kind }) => kind === 'attempt_scheduled');
  assert.deepEqual(scheduled?.body, { attempt: 2, at_ms: 1_000, pause_ms: 0, why: 'the credential was refreshed' });
  const read = readHistory(
    records.map(({ kind, body, payloads }) => ({ kind, body: JSON.stringify(body), payloads: [...payloads] })),
  );
  const remembered = remember(nothingTried, unauthenticated.trouble, retry);
  assert.deepEqual(read.retries, remembered.retries);
  assert.equal(mayRefreshCredential({ ...unauthenticated, history: read }), false);
});
