/** The table that is shown says what the dispatcher does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCall } from '../../../test/support/builders.ts';
import { effectClasses, type EffectClass, type ErrorKind, type ErrorSubject, kinds, verdicts } from '../taxonomy.ts';
import { classify } from './classify.ts';
import { effectiveRows, fixedRules } from './effective-playbook.ts';
import { nothingTried, plan } from './plan.ts';
import { recoveryOfUpstream, type RetryRule, type ToolRecovery } from './playbook.ts';

const classes = Object.keys(effectClasses) as EffectClass[];
const recovery = recoveryOfUpstream('up');
const rule: RetryRule = {
  retryable: true,
  maxAttempts: 2,
  backoff: 'fixed',
  baseMs: 10,
  jitter: 0,
  classifier: { ExecutionTimeout: 'terminal', OutputMalformed: 'retry' },
};
const fixed = [
  'in_flight',
  'mismatch',
  'breaker_open',
  'not_connected',
  'egress',
  'stream_broken',
  'overloaded',
  'quota',
];

function failures(effectClass: EffectClass) {
  return (Object.keys(kinds) as ErrorKind[]).flatMap((kind) =>
    [undefined, ...(kinds[kind].subjects as readonly ErrorSubject[])].map((subject) => ({
      error: { kind, message: '', ...(subject === undefined ? {} : { subject }) },
      classification: classify(kind, subject, effectClass),
    })),
  );
}

const declared: readonly (readonly [string, ToolRecovery])[] = [
  ['the default', recovery],
  ['a retry rule', { ...recovery, retry: rule }],
  ['a tool that is sent once', { ...recovery, retry: { ...rule, retryable: false } }],
];

for (const [name, each] of declared)
  test(`with ${name}, every recognised failure has one row, and it is what is planned`, () => {
    for (const effectClass of classes)
      for (const { error, classification } of failures(effectClass)) {
        const { verdict, code, detail, recognised, effect } = classification;
        if (!recognised || fixed.includes(detail)) continue;
        const rows = effectiveRows(each, [effectClass]).filter(
          (row) => row.verdict === verdict && (row.codes.length === 0 || row.codes.includes(code)),
        );
        assert.equal(rows.length, 1, `${verdict} × ${effectClass}, ${code}`);
        const [row] = rows;
        const planned = plan({
          call: aCall({ state: 'DISPATCHED', attempt: 1, effectClass, createdAtMs: 0, deadlineAtMs: 900_000 }),
          trouble: { error, classification, effect },
          history: nothingTried,
          recovery: each,
          dedupeWindowMs: effectClass === 'keyed' ? 86_400_000 : null,
          nowMs: 1_000,
          chance: 0.5,
          maxRetryAfterMs: 900_000,
          budgetLeft: true,
        });
        assert.deepEqual(planned.action, row?.entry.action);
        const action = row?.entry.action;
        const isResent =
          action?.kind === 'retry_with_backoff' && action.max_attempts > 0 && row?.guard?.kind !== 'never';
        assert.equal(planned.kind === 'retry', isResent, `${verdict} × ${effectClass}, ${code}`);
      }
  });

test('a plain write without an answer is never resent, and one that was never sent is', () => {
  const rows = effectiveRows(recovery, ['plain']).filter(({ verdict }) => verdict === 'transient_timeout');
  assert.deepEqual(
    rows.map(({ codes, guard }) => [codes, guard?.says ?? null]),
    [
      [['ExecutionTimeout'], 'never resent: plain write whose effect is unknown'],
      [['ResourceBusy'], null],
    ],
  );
});

test('every verdict has a row in every class', () => {
  const pairs = new Set(
    effectiveRows(recovery, classes).map(({ verdict, effectClass }) => `${verdict} ${effectClass}`),
  );
  assert.equal(pairs.size, Object.keys(verdicts).length * classes.length);
});

test('the rules that nothing changes are named', () => {
  assert.deepEqual(fixedRules(900_000).length, 10);
  assert.match(fixedRules(900_000).join('\n'), /up to 900 s.*\n.*InputInvalid, Forbidden, NotFound, StaleEvidence/);
});
