/** What follows a failed attempt: by verdict, effect class, what was tried, and how much time is left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aCall } from '../../../test/support/builders.ts';
import { effectClasses, type EffectClass, type ErrorKind, type ErrorSubject, kinds, verdicts } from '../taxonomy.ts';
import { classify } from './classify.ts';
import { type History, nothingTried, plan, type PlanFacts, remember, type Trouble } from './plan.ts';
import { defaultPlaybook, missingPairs, overlay, pausesOf, recoveryOfUpstream, type RetryRule } from './playbook.ts';

const recovery = recoveryOfUpstream('up');
const allKinds = Object.keys(kinds) as ErrorKind[];
const allEffects = Object.keys(effectClasses) as EffectClass[];

function trouble(kind: ErrorKind, effectClass: EffectClass, more: Partial<Trouble['error']> = {}): Trouble {
  const classification = classify(kind, more.subject, effectClass);
  return { error: { kind, message: 'no', ...more }, classification, effect: classification.effect };
}

function factsFor(kind: ErrorKind, effectClass: EffectClass, more: Partial<PlanFacts> = {}): PlanFacts {
  return {
    call: aCall({ state: 'DISPATCHED', attempt: 1, effectClass, createdAtMs: 0, deadlineAtMs: 900_000 }),
    trouble: trouble(kind, effectClass),
    history: nothingTried,
    recovery,
    dedupeWindowMs: effectClass === 'keyed' ? 86_400_000 : null,
    nowMs: 1_000,
    chance: 0.5,
    maxRetryAfterMs: 900_000,
    budgetLeft: true,
    ...more,
  };
}

/** Plans until something else than a retry comes of it; each attempt fails in the same way. */
function pausesUntilEnd(facts: PlanFacts): readonly number[] {
  const pauses: number[] = [];
  let history: History = facts.history;
  for (;;) {
    const planned = plan({ ...facts, history });
    if (planned.kind !== 'retry') return pauses;
    pauses.push(planned.pauseMs);
    history = remember(history, facts.trouble, planned);
  }
}

const schedules: readonly (readonly [ErrorKind, EffectClass, readonly number[]])[] = [
  ['timeout', 'pure', [200, 600, 1_800]],
  ['timeout', 'keyed', [200, 600, 1_800]],
  ['timeout', 'probeable', []],
  ['timeout', 'plain', []],
  ['never_sent', 'plain', [200, 600, 1_800]],
  ['5xx', 'pure', [500, 2_000]],
  ['5xx', 'plain', []],
  ['429', 'plain', [5_000, 10_000, 20_000, 40_000, 80_000, 160_000]],
  ['400_invalid', 'pure', []],
  ['401_unauthenticated', 'pure', []],
  ['403_forbidden', 'pure', []],
  ['404_not_found', 'pure', []],
  ['unknown', 'pure', []],
  ['threw', 'keyed', []],
];

for (const [kind, effectClass, pauses] of schedules)
  test(`a ${effectClass} call that meets ${kind} is sent again after ${pauses.join(', ') || 'no pause: never'}`, () =>
    assert.deepEqual(pausesUntilEnd(factsFor(kind, effectClass)), pauses));

const compensations: readonly (readonly [ErrorKind, ErrorSubject | undefined, string])[] = [
  ['409_conflict', 'completed', 'deprecated'],
  ['409_conflict', 'mismatch', 'escalated'],
  ['409_conflict', undefined, 'escalated'],
  ['412_precondition', 'evidence', 'refresh'],
  ['403_forbidden', undefined, 'escalated'],
  ['401_unauthenticated', undefined, 'escalated'],
  ['schema_validation', 'response', 'deprecated'],
  ['400_invalid', undefined, 'deprecated'],
  ['cancelled', undefined, 'deprecated'],
  ['unknown', undefined, 'escalated'],
];

for (const [kind, subject, expected] of compensations)
  test(`${kind} ${subject ?? ''} of a plain call is ${expected}`, () => {
    const facts = factsFor(kind, 'plain', {
      trouble: trouble(kind, 'plain', subject === undefined ? {} : { subject }),
    });
    assert.equal(plan(facts).kind, expected);
  });

test('only a key that the upstream has completed is worth a read', () => {
  const planOf = (kind: ErrorKind, subject: ErrorSubject) =>
    plan(factsFor(kind, 'keyed', { trouble: trouble(kind, 'keyed', { subject }) }));
  assert.deepEqual(planOf('409_conflict', 'completed'), {
    kind: 'deprecated',
    action: defaultPlaybook.idempotency_conflict.keyed.action,
    reason: 'upstream already processed this idempotency_key',
    probe: true,
  });
  assert.equal((planOf('schema_validation', 'response') as { probe?: boolean }).probe, false);
});

test('[C9-conflict-3] a key in flight is polled with the same key where that is safe, and never for a plain write', () => {
  const of = (effectClass: EffectClass) =>
    pausesUntilEnd(
      factsFor('409_conflict', effectClass, {
        trouble: trouble('409_conflict', effectClass, { subject: 'in_flight' }),
      }),
    );
  assert.deepEqual([of('keyed').length, of('plain').length], [5, 0]);
});

test('Retry-After is obeyed exactly, without jitter', () => {
  const facts = factsFor('429', 'plain', { trouble: trouble('429', 'plain', { retry_after: 7.5 }), chance: 0.99 });
  assert.deepEqual(plan(facts), {
    kind: 'retry',
    action: defaultPlaybook.rate_limited.plain.action,
    atMs: 8_500,
    pauseMs: 7_500,
  });
});

test('the jitter of a rate limit is a fifth in either direction', () => {
  const pause = (chance: number) => pausesUntilEnd(factsFor('429', 'plain', { chance }))[0];
  assert.deepEqual([pause(0), pause(0.5), pause(1)], [4_000, 5_000, 6_000]);
});

const ends: readonly (readonly [string, Partial<PlanFacts>])[] = [
  ['without a token in the budget', { budgetLeft: false }],
  ['if the pause would pass the deadline', { nowMs: 899_900 }],
  ['after a keyed window has passed', { dedupeWindowMs: 600, nowMs: 700 }],
  ['if the upstream asks for more than the limit', { trouble: trouble('5xx', 'keyed', { retry_after: 1_000 }) }],
];

for (const [name, more] of ends)
  test(`nothing is sent again ${name}`, () => assert.equal(plan(factsFor('5xx', 'keyed', more)).kind, 'exhausted'));

test('[S001-rate-4] [C9-tokens-1] a rate limit needs no token of the budget', () =>
  assert.equal(plan(factsFor('429', 'plain', { budgetLeft: false })).kind, 'retry'));

test('an answer of which a part was relayed is never asked for again, whatever the retry rule says', () => {
  const rule: RetryRule = {
    retryable: true,
    maxAttempts: 9,
    backoff: 'fixed',
    baseMs: 1,
    jitter: 0,
    classifier: { Provider5xx: 'retry' },
  };
  for (const effectClass of allEffects) {
    const broken = trouble('5xx', effectClass, { subject: 'stream_broken' });
    const planned = plan(factsFor('5xx', effectClass, { trouble: broken, recovery: { ...recovery, retry: rule } }));
    assert.deepEqual(
      [planned.kind, 'why' in planned ? planned.why : ''],
      ['exhausted', 'a part of the answer was relayed'],
    );
  }
});

test('a provider that is overloaded did nothing, so also a write is sent again', () => {
  const overloaded = trouble('5xx', 'plain', { subject: 'overloaded' });
  assert.deepEqual(pausesUntilEnd(factsFor('5xx', 'plain', { trouble: overloaded })), [500, 2_000]);
});

test('another verdict has retries of its own', () => {
  const history = { first: null, last: 'transient_timeout', retries: { transient_timeout: 3 } } as const;
  assert.equal(plan(factsFor('timeout', 'pure', { history })).kind, 'exhausted');
  assert.equal(plan(factsFor('5xx', 'pure', { history })).kind, 'retry');
});

test('[C5-playbook-1] the default playbook is total, and a gap in another is named', () => {
  assert.deepEqual(missingPairs(defaultPlaybook), []);
  const { rate_limited, ...others } = defaultPlaybook;
  const { plain: _, ...three } = rate_limited;
  assert.deepEqual(missingPairs({ ...others, rate_limited: three }), ['rate_limited × plain']);
  assert.equal(missingPairs({}).length, Object.keys(verdicts).length * 4);
});

test('an overlay changes the pairs that it names and no others', () => {
  const entry = { action: { kind: 'escalate_to_human', queue: 'ops' }, jitter: 0 } as const;
  const merged = overlay(defaultPlaybook, { server_error_5xx: { plain: entry } });
  assert.equal(merged.server_error_5xx.plain, entry);
  assert.equal(merged.server_error_5xx.pure, defaultPlaybook.server_error_5xx.pure);
});

const rule: RetryRule = {
  retryable: true,
  maxAttempts: 3,
  backoff: 'exponential',
  baseMs: 100,
  jitter: 0,
  classifier: {},
};
const backoffs: readonly (readonly [RetryRule['backoff'], readonly number[]])[] = [
  ['fixed', [100, 100, 100]],
  ['linear', [100, 200, 300]],
  ['exponential', [100, 200, 400]],
];
for (const [backoff, pauses] of backoffs)
  test(`[S001-retry-1] [C9-attempts-1] a ${backoff} backoff has one pause for each retry`, () => {
    const retry = { ...rule, backoff };
    assert.deepEqual(pausesOf(retry), pauses);
    assert.deepEqual(pausesUntilEnd(factsFor('timeout', 'pure', { recovery: { ...recovery, retry } })), pauses);
  });

const rules: readonly (readonly [string, Partial<RetryRule>, ErrorKind, number])[] = [
  ['that is not retryable sends once', { retryable: false }, 'timeout', 0],
  ['calls a code terminal', { classifier: { ExecutionTimeout: 'terminal' } }, 'timeout', 0],
  ['calls another code terminal', { classifier: { ResourceBusy: 'terminal' } }, 'timeout', 3],
  ['never retries what the upstream refused', { classifier: { NotFound: 'retry' } }, '404_not_found', 0],
  ['never retries what nobody recognises', { classifier: { ExecutionFailed: 'retry' } }, 'unknown', 0],
];
for (const [name, more, kind, sends] of rules)
  test(`[S001-retry-1] a retry rule ${name}`, () => {
    const retry = { ...rule, ...more };
    assert.equal(pausesUntilEnd(factsFor(kind, 'pure', { recovery: { ...recovery, retry } })).length, sends);
  });

test('[S001-codes-3] every failure of every class has one plan, and no message changes it', () =>
  fc.assert(
    fc.property(
      fc.constantFrom(...allKinds),
      fc.constantFrom(...allKinds.flatMap((kind) => [undefined, ...kinds[kind].subjects])),
      fc.constantFrom(...allEffects),
      fc.string(),
      fc.boolean(),
      (kind, subject, effectClass, message, tainted) => {
        const call = aCall({
          state: 'DISPATCHED',
          attempt: 1,
          effectClass,
          createdAtMs: 0,
          deadlineAtMs: 900_000,
          tainted,
        });
        const more = subject === undefined ? {} : { subject: subject as ErrorSubject };
        const of = (text: string) =>
          plan(factsFor(kind, effectClass, { call, trouble: trouble(kind, effectClass, { ...more, message: text }) }));
        assert.deepEqual(of(message), of('no'));
        // INVARIANT: a plain write whose effect nobody can rule out is never sent again.
        const { effect } = trouble(kind, effectClass, more);
        const unsafe = (effect !== 'none' || tainted) && (effectClass === 'plain' || effectClass === 'probeable');
        if (unsafe) assert.notEqual(of(message).kind, 'retry');
      },
    ),
  ));
