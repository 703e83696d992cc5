import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type EffectClass,
  effectClasses,
  type ErrorKind,
  errors,
  type ErrorSubject,
  kinds,
  verdicts,
} from '../taxonomy.ts';
import { classify } from './classify.ts';

const allKinds = Object.keys(kinds) as ErrorKind[];
const allEffectClasses = Object.keys(effectClasses) as EffectClass[];
const allSubjects: readonly (ErrorSubject | undefined)[] = [
  undefined,
  ...Object.values(kinds).flatMap((kind) => [...kind.subjects]),
];

const every = allKinds.flatMap((kind) =>
  allSubjects.flatMap((subject) => allEffectClasses.map((effectClass) => ({ kind, subject, effectClass }))),
);

/** kind, subject → class, code, verdict, detail, recognised, and the effect on a write. Typed out on purpose. */
const goldens = [
  ['timeout', undefined, 'ToolTransient', 'ExecutionTimeout', 'transient_timeout', 'no_answer', true, 'unknown'],
  ['never_sent', undefined, 'ToolTransient', 'ResourceBusy', 'transient_timeout', 'never_sent', true, 'none'],
  ['never_sent', 'breaker_open', 'ToolTransient', 'ResourceBusy', 'transient_timeout', 'breaker_open', true, 'none'],
  ['never_sent', 'egress', 'Governance', 'EGRESS_DENIED', 'policy_denied', 'egress', true, 'none'],
  ['threw', 'egress', 'Governance', 'EGRESS_DENIED', 'policy_denied', 'egress', true, 'unknown'],
  ['unknown', 'egress', 'Governance', 'EGRESS_DENIED', 'policy_denied', 'egress', true, 'unknown'],
  ['never_sent', 'not_connected', 'ToolTransient', 'ResourceBusy', 'transient_timeout', 'not_connected', true, 'none'],
  ['5xx', undefined, 'ProviderTransient', 'Provider5xx', 'server_error_5xx', 'upstream_error', true, 'unknown'],
  ['5xx', 'stream_broken', 'ProviderTransient', 'Provider5xx', 'server_error_5xx', 'stream_broken', true, 'unknown'],
  ['5xx', 'overloaded', 'ProviderTransient', 'Provider5xx', 'server_error_5xx', 'overloaded', true, 'none'],
  ['429', undefined, 'ProviderTransient', 'RateLimited', 'rate_limited', 'upstream_limit', true, 'none'],
  ['429', 'quota', 'ProviderTransient', 'RateLimited', 'rate_limited', 'quota', true, 'none'],
  ['400_invalid', undefined, 'ToolTerminal', 'InputInvalid', 'invalid_request', 'invalid_input', true, 'none'],
  [
    '400_invalid',
    'context_window',
    'ProviderCapability',
    'ContextWindowTooSmall',
    'invalid_request',
    'context_window',
    true,
    'none',
  ],
  [
    '400_invalid',
    'content_refused',
    'ToolTerminal',
    'InputInvalid',
    'invalid_request',
    'content_refused',
    true,
    'none',
  ],
  ['401_unauthenticated', undefined, 'ToolTerminal', 'Forbidden', 'auth_expired', 'unauthenticated', true, 'none'],
  ['403_forbidden', undefined, 'ToolTerminal', 'Forbidden', 'policy_denied', 'forbidden', true, 'none'],
  ['404_not_found', undefined, 'ToolTerminal', 'NotFound', 'invalid_request', 'not_found', true, 'none'],
  ['409_conflict', undefined, 'ToolTerminal', 'ExecutionFailed', 'server_error_5xx', 'conflict', false, 'none'],
  [
    '409_conflict',
    'in_flight',
    'ToolTerminal',
    'ExecutionFailed',
    'idempotency_conflict',
    'in_flight',
    true,
    'unknown',
  ],
  [
    '409_conflict',
    'completed',
    'ToolTerminal',
    'ExecutionFailed',
    'idempotency_conflict',
    'completed',
    true,
    'unknown',
  ],
  ['409_conflict', 'mismatch', 'ToolTerminal', 'ExecutionFailed', 'idempotency_conflict', 'mismatch', true, 'none'],
  ['412_precondition', undefined, 'ToolTerminal', 'ExecutionFailed', 'invalid_request', 'precondition', true, 'none'],
  ['412_precondition', 'evidence', 'ToolTerminal', 'StaleEvidence', 'evidence_stale', 'evidence', true, 'none'],
  ['schema_validation', undefined, 'ToolTerminal', 'OutputMalformed', 'schema_mismatch', 'response', true, 'unknown'],
  ['schema_validation', 'request', 'ToolTerminal', 'InputInvalid', 'schema_mismatch', 'request', true, 'none'],
  ['schema_validation', 'response', 'ToolTerminal', 'OutputMalformed', 'schema_mismatch', 'response', true, 'unknown'],
  ['cancelled', undefined, 'Cancellation', 'ToolCancelled', 'cancelled', 'cancelled', true, 'unknown'],
  ['threw', undefined, 'ToolTerminal', 'ExecutionFailed', 'server_error_5xx', 'threw', false, 'unknown'],
  ['unknown', undefined, 'ToolTerminal', 'ExecutionFailed', 'server_error_5xx', 'unknown', false, 'unknown'],
] as const;

describe('classify', () => {
  test('[C5-kinds-2] answers for every kind, subject and effect class', () => {
    const carried: readonly string[] = errors.action_error.codes;
    for (const { kind, subject, effectClass } of every) {
      const found = classify(kind, subject, effectClass);
      const where = `${kind} ${subject ?? 'without subject'} ${effectClass}`;
      assert.ok(found.verdict in verdicts, where);
      assert.ok(carried.includes(found.code), where);
      assert.match(found.detail, /^[a-z_]+$/, where);
    }
  });

  for (const [kind, subject, errorClass, code, verdict, detail, recognised, effect] of goldens) {
    for (const effectClass of allEffectClasses) {
      const expected = effectClass === 'pure' ? 'none' : effect;
      test(`${kind} ${subject ?? 'without subject'} of a ${effectClass} tool is ${verdict}, effect ${expected}`, () => {
        assert.deepEqual(classify(kind, subject, effectClass), {
          class: errorClass,
          code,
          verdict,
          detail,
          recognised,
          effect: expected,
        });
      });
    }
  }

  test('the goldens cover every kind with each of its subjects, and every verdict', () => {
    const wanted = allKinds.flatMap((kind) =>
      [undefined, ...kinds[kind].subjects].map((subject) => `${kind} ${subject}`),
    );
    assert.deepEqual(goldens.map(([kind, subject]) => `${kind} ${subject}`).toSorted(), wanted.toSorted());
    assert.deepEqual([...new Set(goldens.map((golden) => golden[4]))].toSorted(), Object.keys(verdicts).toSorted());
  });

  test('a subject that does not belong to the kind counts as none', () => {
    for (const { kind, subject, effectClass } of every) {
      const own: readonly (string | undefined)[] = kinds[kind].subjects;
      if (own.includes(subject)) continue;
      assert.deepEqual(classify(kind, subject, effectClass), classify(kind, undefined, effectClass));
    }
  });

  test('a read never has an effect, and nobody ever claims that a failed call took effect', () => {
    for (const { kind, subject, effectClass } of every) {
      const { effect } = classify(kind, subject, effectClass);
      assert.notEqual(effect, 'applied');
      if (effectClass === 'pure') assert.equal(effect, 'none');
    }
  });

  test('a failure that nobody recognises is server_error_5xx', () => {
    for (const { kind, subject, effectClass } of every) {
      const { recognised, verdict } = classify(kind, subject, effectClass);
      if (!recognised) assert.equal(verdict, 'server_error_5xx');
    }
  });
});
