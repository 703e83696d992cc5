/** What is wrong with the file of a golden, with place and fix. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readGolden, writtenPairs } from './read-golden.ts';

const whole = `name: a read is sent again
call: { tool: orders/get, effect: pure }
results: [timeout, ok]
expect:
  events: [attempt_finished]
  outcome: { kind: succeeded_after_compensation }
  sends: 2
  state: SUCCEEDED
  effect: applied
`;

test('a golden without options has the defaults of a gateway', () => {
  const { golden, problems } = readGolden(whole, 'a.yaml');
  assert.deepEqual(problems, []);
  assert.equal(golden?.call.deadlineMs, 900_000);
  assert.deepEqual(golden?.results[1], { tookMs: 0, failure: null });
  assert.equal(golden?.results[0]?.failure?.error.kind, 'timeout');
});

const wrongs: readonly (readonly [string, string, string])[] = [
  ['an unknown key', whole.replace('results', 'result'), "a.yaml:3 there is no key 'result' here"],
  [
    'an unknown kind',
    whole.replace('timeout,', '{ status: error, error: { kind: oops } },'),
    "'oops' is not known here",
  ],
  ['an unknown event', whole.replace('attempt_finished', 'attempt_ended'), "'attempt_ended' is not known here"],
  ['no call', whole.replace(/^call.*\n/m, ''), "the key 'call' is missing"],
  ['no instant', `${whole}clock: 2026-02-31T99:00:00Z\n`, 'there is no such instant'],
  [
    'counts that do not match',
    `${whole}playbook: { server_error_5xx: { kind: retry_with_backoff, max_attempts: 3, backoff_ms: [1] } }\n`,
    'there are 1 pauses',
  ],
  ['a bad retry rule', `${whole}retry: { backoff: sometimes }\n`, 'backoff is fixed, linear or exponential'],
  ['nothing', '', 'there is no golden'],
];

for (const [name, text, expected] of wrongs)
  test(`a golden with ${name} is refused with its place`, () => {
    const { golden, problems } = readGolden(text, 'a.yaml');
    assert.equal(golden, null);
    const told = problems.map(({ file, line, message }) => `${file}:${line} ${message}`).join('\n');
    assert.ok(told.includes(expected), told);
    for (const { fix } of problems) assert.notEqual(fix, '');
  });

test('any text gives a golden or problems', () =>
  fc.assert(
    fc.property(fc.string(), (text) => {
      const { golden, problems } = readGolden(text, 'a.yaml');
      assert.equal(golden === null, problems.length > 0);
    }),
  ));

test('a playbook names pairs by verdict, for every effect class or for one', () => {
  const playbook = { rate_limited: 'escalate_to_human', cancelled: { plain: 'escalate_to_human' }, extends: 'none' };
  assert.deepEqual(writtenPairs(playbook), [
    { verdict: 'rate_limited', effect: null },
    { verdict: 'cancelled', effect: 'plain' },
  ]);
});
