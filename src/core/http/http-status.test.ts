import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { errorSamples, pendingSample, successSample } from '../../../test/support/reply-samples.ts';
import { httpStatusOf, statusesOf } from './http-status.ts';
import type { Reply } from '../call/reply.ts';
import { codes, type DeniedCode, type ErrorCode, type ErrorName, errors } from '../taxonomy.ts';

const { validation_failed: invalid, denied, action_error: failed, session_error: session } = errorSamples;
const waiting = { type: 'retry_after', retry_after_seconds: 5 } as const;

const cases: readonly (readonly [string, Reply, number])[] = [
  ['a success', successSample, 200],
  ['a pending call', pendingSample, 202],
  ['an action that is not reachable', errorSamples.invalid_transition, 409],
  ['an unknown action', errorSamples.unknown_action, 404],
  ['invalid input', invalid, 422],
  ['a key used for another call', { ...invalid, code: 'KeyReused' }, 422],
  ['input that is too large', { ...invalid, code: 'InputTooLarge' }, 413],
  ['input too large to be read', { ...invalid, code: 'InputTooLarge', requested: null }, 413],
  ['a call that could not be read', { ...invalid, requested: null }, 400],
  ['a fenced operation', errorSamples.fenced, 409],
  ['an action that took too long', errorSamples.action_timeout, 504],
  ['an upstream error', failed, 502],
  ['stale evidence', { ...failed, class: 'ToolTerminal', code: 'StaleEvidence', verdict: 'evidence_stale' }, 409],
  ['a model that lacks something', { ...failed, class: 'ProviderCapability', code: 'MissingStreaming' }, 422],
  ['an open breaker', { ...failed, class: 'ToolTransient', code: 'ResourceBusy', resolution: waiting }, 503],
  [
    'an unreachable upstream that nobody expects back',
    { ...failed, class: 'ToolTransient', code: 'ResourceBusy' },
    502,
  ],
  ['an upstream rate limit', { ...failed, code: 'RateLimited', resolution: waiting }, 502],
  ['a host denied after dispatch', { ...failed, class: 'Governance', code: 'EGRESS_DENIED' }, 502],
  ['a call in flight', errorSamples.action_in_flight, 409],
  ['a cancelled call', errorSamples.cancelled, 409],
  ['an unknown session', session, 404],
  ['an unavailable store', { ...session, code: 'StoreUnavailable' }, 503],
  ['a busy session', { ...session, class: 'Workflow', code: 'Busy' }, 503],
  ['a stale sequence', { ...session, class: 'Workflow', code: 'StaleSequence' }, 409],
  ['too many refusals', { ...session, class: 'Workflow', code: 'RefusalLimit' }, 409],
  ['a drifted manifest', { ...session, code: 'ManifestDrift' }, 409],
  ['a resume that does not fit', { ...session, code: 'ResumeMismatch' }, 409],
  ['a defect of the gateway', errorSamples.internal_error, 500],
];

const denials: Readonly<Record<DeniedCode, number>> = {
  POLICY_DENY: 403,
  POLICY_DEFER: 202,
  RATE_EXCEEDED: 429,
  BUDGET_EXCEEDED: 429,
  DAEMON_NOT_READY: 503,
  COMPLETION_BLOCKED: 409,
  EGRESS_DENIED: 403,
  MODEL_DENIED: 403,
  CREDENTIAL_UNAVAILABLE: 503,
};

describe('http status', () => {
  for (const [name, reply, status] of cases) {
    test(`[C3-status-1] ${name} is ${status}`, () => assert.equal(httpStatusOf(reply), status));
  }

  for (const [code, status] of Object.entries(denials)) {
    test(`${code} is ${status}`, () => assert.equal(httpStatusOf({ ...denied, code: code as DeniedCode }), status));
  }

  test('[C3-status-1] every status of a reply is one that its error and code announce', () => {
    const replies = [...cases.map(([, reply]) => reply), ...Object.values(errorSamples)];
    for (const reply of replies) {
      if (!('error' in reply)) continue;
      assert.ok(statusesOf(reply.error, reply.code).includes(httpStatusOf(reply)), `${reply.error} ${reply.code}`);
    }
  });

  test('the statuses listed for an error are exactly those of its codes', () => {
    for (const name of Object.keys(errors) as ErrorName[]) {
      const possible = errors[name].codes.flatMap((code) => statusesOf(name, code));
      assert.deepEqual([...new Set(possible)].toSorted(), [...errors[name].http].toSorted(), name);
    }
  });

  test('an error and a code that never meet have no status', () => {
    assert.deepEqual(statusesOf('denied', 'BUDGET_WARNING'), []);
    assert.deepEqual(statusesOf('cancelled', 'Unexpected'), []);
  });

  test('the usual status of a code is one of its replies, and only notices have none', () => {
    for (const code of Object.keys(codes) as ErrorCode[]) {
      const possible = (Object.keys(errors) as ErrorName[]).flatMap((name) => statusesOf(name, code));
      const { http } = codes[code];
      assert.ok(http === null ? possible.length === 0 : possible.includes(http), code);
    }
  });
});
