/**
 * Seed 003, row by row: each verdict by the kind that an adapter names, each entry of the default playbook, and each
 * outcome of the dispatcher by a golden that shows it.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { classify } from '../../../src/core/recovery/classify.ts';
import { differencesOf, type Golden } from '../../../src/core/recovery/golden.ts';
import { defaultPlaybook, missingPairs, recoveryOfUpstream } from '../../../src/core/recovery/playbook.ts';
import { runGolden } from '../../../src/core/recovery/run-golden.ts';
import {
  type Compensation,
  type ErrorKind,
  type ErrorSubject,
  kinds,
  type Verdict,
  verdicts,
} from '../../../src/core/taxonomy.ts';
import { readGoldens } from '../../support/recovery/read-goldens.ts';

const root = path.join(import.meta.dirname, '../../..');
const goldens = readGoldens();
const effectClasses = ['pure', 'keyed', 'probeable', 'plain'] as const;

function golden(file: string): Golden {
  const found = goldens.find(({ ref }) => ref === `goldens/${file}.yaml`);
  assert.ok(found, `goldens/${file}.yaml is there`);
  return found;
}

/** As it comes out today, which must be as it is expected. */
function run(file: string) {
  const made = runGolden(golden(file), recoveryOfUpstream('up'));
  assert.deepEqual(differencesOf(golden(file), made), []);
  return made;
}

const kindsIn = (file: string): readonly string[] => run(file).events.map(({ kind }) => kind);

const verdictRows: readonly (readonly [
  id: string,
  kind: ErrorKind,
  subject: ErrorSubject | undefined,
  verdict: Verdict,
])[] = [
  ['S003-verdict-1', 'timeout', undefined, 'transient_timeout'],
  ['S003-verdict-2', '5xx', undefined, 'server_error_5xx'],
  ['S003-verdict-3', '409_conflict', 'completed', 'idempotency_conflict'],
  ['S003-verdict-4', '412_precondition', 'evidence', 'evidence_stale'],
  ['S003-verdict-5', '403_forbidden', undefined, 'policy_denied'],
  ['S003-verdict-6', 'schema_validation', undefined, 'schema_mismatch'],
];

describe('seed 003, verdicts', () => {
  for (const [id, kind, subject, verdict] of verdictRows)
    test(`[${id}] ${kind} ${subject ?? ''} is ${verdict}, of every effect class`, () => {
      for (const effectClass of effectClasses) assert.equal(classify(kind, subject, effectClass).verdict, verdict);
    });

  test('[S003-verdict-7] a success has none, and needs no compensation', () => {
    const { events, outcome } = run('success-is-no-compensation');
    assert.deepEqual([events, outcome], [[], null]);
  });

  test('[S003-verdict-8] [S003-verdict-9] what nobody recognises is server_error_5xx, sent once, and a ticket', () => {
    for (const file of ['error-without-a-description', 'unknown-failure-is-sent-once']) {
      const { sends, events } = run(file);
      assert.deepEqual([sends, events.find(({ kind }) => kind === 'ticket_opened') !== undefined], [1, true], file);
      const classified = events.find(({ kind }) => kind === 'failure_classified');
      assert.equal(classified?.fields['verdict'], 'server_error_5xx', file);
    }
  });

  test('[S003-verdict-10] [S003-change-1] the list was extended by four, each with its decision record and a golden', () => {
    const own = verdictRows.map(([, , , verdict]) => verdict);
    const more = Object.keys(verdicts).filter((name) => !own.includes(name as Verdict));
    assert.deepEqual(more.toSorted(), ['auth_expired', 'cancelled', 'invalid_request', 'rate_limited']);
    assert.ok(existsSync(path.join(root, 'docs/decisions/0010-four-more-verdicts.md')));
  });

  test('[S003-adapter-1] [S003-effect-3] the kind decides, and no word of the message', () => {
    for (const file of ['conflict-by-message-alone', 'conflict-without-a-message', 'forbidden-whatever-it-says'])
      assert.equal(run(file).isShort, false, file);
    const verdictOf = (file: string) =>
      run(file).events.find(({ kind }) => kind === 'failure_classified')?.fields['verdict'];
    assert.equal(verdictOf('conflict-by-message-alone'), 'server_error_5xx', 'the word idempotency changes nothing');
    assert.equal(verdictOf('completed-key-without-a-read'), 'idempotency_conflict');
    for (const kind of Object.keys(kinds) as ErrorKind[]) assert.ok(kinds[kind].meaning.length > 0, kind);
  });
});

const playbookRows: readonly (readonly [id: string, verdict: Verdict, action: Compensation])[] = [
  [
    'S003-playbook-2',
    'transient_timeout',
    { kind: 'retry_with_backoff', max_attempts: 3, backoff_ms: [200, 600, 1_800] },
  ],
  ['S003-playbook-3', 'server_error_5xx', { kind: 'retry_with_backoff', max_attempts: 2, backoff_ms: [500, 2_000] }],
  [
    'S003-playbook-4',
    'idempotency_conflict',
    { kind: 'deprecate_tool_call', reason: 'upstream already processed this idempotency_key', replan: true },
  ],
  ['S003-playbook-5', 'evidence_stale', { kind: 'refresh_evidence', then: 'retry' }],
  ['S003-playbook-6', 'policy_denied', { kind: 'escalate_to_human', queue: 'policy_review' }],
];

describe('seed 003, the default playbook', () => {
  test('[S003-playbook-1] [S003-shape-1] every verdict has a compensation, for every effect class', () => {
    assert.deepEqual(missingPairs(defaultPlaybook), []);
    assert.equal(missingPairs({ ...defaultPlaybook, policy_denied: {} }).length, effectClasses.length);
  });

  for (const [id, verdict, action] of playbookRows)
    test(`[${id}] ${verdict}`, () => {
      for (const effectClass of effectClasses) assert.deepEqual(defaultPlaybook[verdict][effectClass].action, action);
    });

  test('[S003-playbook-5] evidence that changed is not retried, and evidence that is the same is', () => {
    assert.deepEqual([run('stale-evidence-that-changed').sends, run('stale-evidence-that-is-the-same').sends], [1, 2]);
  });

  test('[S003-playbook-8] schema_mismatch is given up with replan, and opens a ticket', () => {
    const action = defaultPlaybook.schema_mismatch.plain.action;
    const reason = 'adapter response failed schema validation';
    assert.deepEqual(action, { kind: 'deprecate_tool_call', reason, replan: true });
    assert.ok(kindsIn('malformed-request').includes('ticket_opened'));
    assert.equal(run('malformed-request').sends, 1);
  });

  test('[S003-effect-1] a write that has already happened is never retried', () => {
    for (const file of ['worked-refund', 'timeout-then-conflict', 'completed-key-without-a-read']) {
      const { events, sends } = run(file);
      const conflict = events.findIndex(({ fields }) => fields['verdict'] === 'idempotency_conflict');
      assert.ok(conflict >= 0, file);
      assert.ok(!events.slice(conflict).some(({ kind }) => kind === 'attempt_started'), `${file}, sent ${sends} times`);
    }
  });
});

describe('seed 003, the dispatcher', () => {
  test('[S003-dispatch-1] [S003-effect-2] a failure is classified on record before anything is done about it', () => {
    for (const each of goldens) {
      const kindsOf = runGolden(each, recoveryOfUpstream('up')).events.map(({ kind }) => kind);
      kindsOf.forEach((kind, at) => {
        if (kind === 'compensation_selected') assert.ok(kindsOf.slice(0, at).includes('failure_classified'), each.ref);
        if (kind === 'attempt_started') assert.ok(kindsOf.slice(0, at).includes('compensation_selected'), each.ref);
      });
    }
  });

  test('[S003-dispatch-2] a retry that succeeds is succeeded_after_compensation', () =>
    assert.equal(run('timeout-then-success').outcome?.kind, 'succeeded_after_compensation'));

  test('[S003-dispatch-3] retries that are used up are exhausted, with the last error and the first', () => {
    const { outcome } = run('exhausted-carries-every-error');
    assert.ok(outcome?.kind === 'exhausted');
    const errors = golden('exhausted-carries-every-error').results.map(({ failure }) => failure?.error.message);
    assert.deepEqual([outcome.first_error?.message, outcome.final_error?.message], [errors[0], errors.at(-1)]);
  });

  test('[S003-dispatch-4] a refresh that aborts, or after which the call fails again, is deprecated', () => {
    for (const file of ['stale-evidence-aborts', 'stale-evidence-twice'])
      assert.equal(run(file).outcome?.kind, 'deprecated', file);
  });

  test('[S003-dispatch-5] an escalation opens a ticket in its queue, and is the outcome', () => {
    const { outcome, events } = run('forbidden-escalates');
    assert.ok(outcome?.kind === 'escalated');
    assert.equal(events.find(({ kind }) => kind === 'ticket_opened')?.fields['queue'], outcome.queue);
  });

  test('[S003-reversal-1] [S003-reversal-2] without a token nothing is reversed: an event says why, and it is exhausted', () => {
    const { events, outcome } = run('reversal-without-a-token');
    assert.equal(outcome?.kind, 'exhausted');
    const refused = events.find(({ kind }) => kind === 'reversal_refused');
    assert.match(String(refused?.fields['reason']), /no reversal token/);
  });

  test('[S003-dispatch-7] a call that is given up is deprecated, with the reason and replan', () => {
    const { outcome } = run('worked-refund');
    assert.deepEqual(outcome, {
      kind: 'deprecated',
      reason: 'upstream already processed this idempotency_key',
      replan: true,
    });
  });

  test('[S003-dispatch-8] each send of the retries has its number', () => {
    const { events } = run('timeout-of-a-read-is-retried-three-times');
    const sends = events.flatMap(({ kind, fields }) => (kind === 'attempt_started' ? [fields['attempt']] : []));
    assert.deepEqual(sends, [2, 3, 4]);
  });
});
