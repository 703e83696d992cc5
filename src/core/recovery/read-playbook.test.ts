/** What a playbook may say, what is taken from the default, and what is refused with its place and a fix. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CompensationKind, compensations, type Verdict, verdicts } from '../taxonomy.ts';
import { defaultPlaybook, type Entry, overlay, retryableVerdicts } from './playbook.ts';
import { readPlaybook, whyNever } from './read-playbook.ts';

const allVerdicts = Object.keys(verdicts) as Verdict[];
const allKinds = Object.keys(compensations) as CompensationKind[];

function entryOf(verdict: Verdict, written: unknown): Entry | undefined {
  const { playbook, problems } = readPlaybook({ [verdict]: written });
  assert.deepEqual(problems, []);
  return playbook[verdict]?.plain;
}

const read: readonly (readonly [string, Verdict, unknown, Entry])[] = [
  [
    'a schedule of its own, and the jitter of the default',
    'rate_limited',
    { retry_with_backoff: { backoff_ms: [5, 10], max_attempts: 2 } },
    { action: { kind: 'retry_with_backoff', max_attempts: 2, backoff_ms: [5, 10] }, jitter: 0.2 },
  ],
  [
    'a jitter of its own, and the schedule of the default',
    'transient_timeout',
    { retry_with_backoff: { jitter: 0.1 } },
    { action: { kind: 'retry_with_backoff', max_attempts: 3, backoff_ms: [200, 600, 1_800] }, jitter: 0.1 },
  ],
  [
    'the queue of the default',
    'policy_denied',
    'escalate_to_human',
    { action: { kind: 'escalate_to_human', queue: 'policy_review' }, jitter: 0 },
  ],
  [
    'a queue named after the verdict where the default has none',
    'server_error_5xx',
    'escalate_to_human',
    { action: { kind: 'escalate_to_human', queue: 'server_error_5xx' }, jitter: 0 },
  ],
  [
    'a queue of its own',
    'policy_denied',
    { escalate_to_human: { queue: 'security' } },
    { action: { kind: 'escalate_to_human', queue: 'security' }, jitter: 0 },
  ],
  [
    'the reason of the default',
    'invalid_request',
    { deprecate_tool_call: {} },
    { action: defaultPlaybook.invalid_request.pure.action, jitter: 0 },
  ],
  [
    'evidence that is only read again',
    'evidence_stale',
    { refresh_evidence: { then: 'abort' } },
    { action: { kind: 'refresh_evidence', then: 'abort' }, jitter: 0 },
  ],
  [
    'a reversal',
    'schema_mismatch',
    { issue_reversal: { reason: 'unreadable' } },
    { action: { kind: 'issue_reversal', reason: 'unreadable' }, jitter: 0 },
  ],
];

for (const [name, verdict, written, expected] of read)
  test(`an entry has ${name}`, () => assert.deepEqual(entryOf(verdict, written), expected));

test('an entry by effect class changes each class by itself', () => {
  const stop = 'escalate_to_human';
  const written = { pure: { retry_with_backoff: { backoff_ms: [1] } }, keyed: stop, probeable: stop, plain: stop };
  const { playbook, problems } = readPlaybook({ server_error_5xx: written });
  assert.deepEqual(problems, []);
  const { pure, plain } = overlay(defaultPlaybook, playbook).server_error_5xx;
  assert.deepEqual([pure.action.kind, plain.action.kind], ['retry_with_backoff', 'escalate_to_human']);
});

const wrong: readonly (readonly [unknown, path: string, problem: RegExp])[] = [
  ['retry', '', /no playbook/],
  [{ timeout: 'escalate_to_human' }, 'timeout', /there is no verdict 'timeout'/],
  [{ extends: 'default' }, 'extends', /extends is 'none'/],
  [{ policy_denied: 'escalate' }, 'policy_denied', /there is no compensation 'escalate'/],
  [{ policy_denied: 7 }, 'policy_denied', /must be one compensation/],
  [{ policy_denied: {} }, 'policy_denied', /must be one compensation/],
  [{ policy_denied: { escalate_to_human: {}, issue_reversal: {} } }, 'policy_denied', /must be one compensation/],
  [{ policy_denied: { escalate_to_human: 'security' } }, 'policy_denied.escalate_to_human', /no set of fields/],
  [{ policy_denied: { escalate_to_human: { que: 'x' } } }, 'policy_denied.escalate_to_human.que', /no field 'que'/],
  [{ policy_denied: { escalate_to_human: { queue: 'a b' } } }, 'policy_denied.escalate_to_human.queue', /no name/],
  [{ cancelled: { issue_reversal: { reason: '' } } }, 'cancelled.issue_reversal.reason', /no reason/],
  [{ transient_timeout: 'refresh_evidence' }, 'transient_timeout', /has no meaning for transient_timeout/],
  [{ evidence_stale: { refresh_evidence: { then: 'go' } } }, 'evidence_stale.refresh_evidence.then', /retry or abort/],
  [
    { transient_timeout: { retry_with_backoff: { backoff_ms: [1, 2], max_attempts: 3 } } },
    'transient_timeout.retry_with_backoff.max_attempts',
    /must be the number of pauses, which is 2/,
  ],
  [
    { transient_timeout: { retry_with_backoff: { backoff_ms: [] } } },
    'transient_timeout.retry_with_backoff.backoff_ms',
    /1 to 20 times/,
  ],
  [
    { rate_limited: { retry_with_backoff: { backoff_ms: [3_600_001] } } },
    'rate_limited.retry_with_backoff.backoff_ms',
    /at most an hour/,
  ],
  [
    { rate_limited: { retry_with_backoff: { jitter: 2 } } },
    'rate_limited.retry_with_backoff.jitter',
    /number from 0 to 1/,
  ],
  [{ policy_denied: { pure: 'escalate_to_human', plane: 'x' } }, 'policy_denied.plane', /no effect class 'plane'/],
];

for (const [written, path, problem] of wrong)
  test(`${JSON.stringify(written)} is refused`, () => {
    const [first] = readPlaybook(written).problems;
    assert.equal(first?.path.join('.'), path);
    assert.match(first.problem, problem);
    assert.notEqual(first.fix, '');
  });

for (const verdict of allVerdicts)
  test(`${verdict} can be retried, or it is said why it never is`, () => {
    const { problems } = readPlaybook({ [verdict]: { retry_with_backoff: { backoff_ms: [1] } } });
    assert.equal(problems.length === 0, retryableVerdicts.has(verdict));
    assert.equal(whyNever(verdict) === null, retryableVerdicts.has(verdict));
    if (problems.length > 0) assert.match(problems[0]?.problem ?? '', new RegExp(`${verdict} is never retried: \\w`));
  });

test('each effect class that is missing is named', () => {
  const { problems } = readPlaybook({ rate_limited: { pure: 'escalate_to_human', keyed: 'escalate_to_human' } });
  assert.deepEqual(
    problems.map(({ problem }) => problem),
    ['rate_limited × probeable is missing', 'rate_limited × plain is missing'],
  );
});

test('without the default every pair must be written', () => {
  const all = Object.fromEntries(allVerdicts.map((verdict) => [verdict, 'escalate_to_human']));
  assert.deepEqual(readPlaybook({ ...all, extends: 'none' }).problems, []);
  const { cancelled: _, ...others } = all;
  assert.deepEqual(
    readPlaybook({ ...others, extends: 'none' }).problems.map(({ problem }) => problem),
    ['pure', 'keyed', 'probeable', 'plain'].map((name) => `cancelled × ${name} is missing`),
  );
  assert.deepEqual(readPlaybook(others).problems, []);
});

const anyEntry = fc.oneof(
  fc.constantFrom(...allKinds),
  fc.dictionary(fc.constantFrom(...allKinds, 'pure', 'plain', '__proto__'), fc.jsonValue(), { maxKeys: 3 }),
  fc.jsonValue(),
);

test('whatever is written, only verdicts that can be retried are, and nothing throws', () =>
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...allVerdicts, 'extends', 'toString'), anyEntry), (written) => {
      const { playbook } = readPlaybook(written);
      const merged = overlay(defaultPlaybook, playbook);
      for (const verdict of allVerdicts)
        for (const { action } of Object.values(merged[verdict]))
          if (action.kind === 'retry_with_backoff') {
            assert.ok(retryableVerdicts.has(verdict));
            assert.equal(action.max_attempts, action.backoff_ms.length);
          } else if (action.kind === 'refresh_evidence') assert.equal(verdict, 'evidence_stale');
    }),
  ));
