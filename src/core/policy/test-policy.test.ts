/** Policy tests, tested: what passes, what fails and how that reads, and which rules count as exercised. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyOf, refOfRule, writtenAgent } from '../../../test/support/written-policy.ts';
import { type CaseTool, type PolicyCase, standardNowMs, testPolicy } from './test-policy.ts';

const toolNamed = (name: string): CaseTool => ({
  name,
  effect: name.startsWith('read') ? 'pure' : 'plain',
  reach: name.startsWith('read') ? 'read_only' : 'destructive',
  annotations: {},
  host: name.startsWith('web') ? 'api.example.com' : null,
});

const aCase = (more: Partial<PolicyCase>): PolicyCase => ({
  name: 'a case',
  ref: 'recourse.test.yaml:2',
  agent: 'clerk',
  tool: 'pay/refund',
  args: {},
  model: null,
  session: { seq: 0, workflow: null },
  state: null,
  nowMs: null,
  expect: 'permit',
  code: null,
  rule: null,
  ...more,
});

const clerk = writtenAgent(
  [
    'deny pay/refund if args.amount > 100',
    'defer pay/refund if args.amount > 10',
    "permit pay/* if now < timestamp('2026-06-01T00:00:00Z')",
    'permit read/*',
    "permit web/* if host == 'api.example.com' && model != null",
    "permit shop/* if session.workflow == 'shop' && session.seq > 1 && state.value == 'open'",
  ],
  {
    default: { effect: 'deny', ref: 'recourse.yaml:9' },
    models: { allow: ['**'], ref: 'recourse.yaml:20' },
  },
);
const strict = writtenAgent(['permit **'], {
  agent: 'strict',
  ref: 'recourse.yaml:30',
  ceiling: { reach: 'read_only', ref: 'recourse.yaml:31' },
  models: { allow: ['good-*'], ref: 'recourse.yaml:32' },
});
const policy = policyOf([clerk, strict]);

type Row = readonly [says: string, PolicyCase, wrong: readonly RegExp[], decided: string];

const rows: readonly Row[] = [
  ['permitted, at the standard instant', aCase({ args: { amount: 5 } }), [], `permit ${refOfRule(2)}`],
  [
    'denied at an instant of its own',
    aCase({ args: { amount: 5 }, nowMs: Date.UTC(2027, 0, 1), expect: 'deny', rule: 9 }),
    [],
    'deny recourse.yaml:9',
  ],
  [
    'deferred, by its code and the place of its rule',
    aCase({ args: { amount: 50 }, expect: 'defer', code: 'POLICY_DEFER', rule: refOfRule(1) }),
    [],
    `defer ${refOfRule(1)}`,
  ],
  [
    'another effect than expected',
    aCase({ args: { amount: 500 } }),
    [/^permit was expected, and it was decided to deny$/],
    `deny ${refOfRule(0)}`,
  ],
  [
    'another rule than expected',
    aCase({ args: { amount: 5 }, rule: refOfRule(3) }),
    [/^recourse\.yaml:13 was expected to decide, and it was recourse\.yaml:12$/],
    `permit ${refOfRule(2)}`,
  ],
  [
    'a place where nothing decides',
    aCase({ args: { amount: 5 }, rule: 99 }),
    [/^line 99 was expected to decide, .*; nothing that decides stands at line 99$/],
    `permit ${refOfRule(2)}`,
  ],
  // 12 is the line, and neither 2 nor 112.
  [
    'a line is a whole line',
    aCase({ args: { amount: 5 }, rule: 2 }),
    [/nothing that decides/],
    `permit ${refOfRule(2)}`,
  ],
  [
    'a condition that breaks denies, by its rule',
    aCase({ args: {}, expect: 'deny', code: 'POLICY_DENY', rule: refOfRule(0) }),
    [],
    `deny ${refOfRule(0)}`,
  ],
  ['the host of the tool', aCase({ tool: 'web/get', model: 'any' }), [], `permit ${refOfRule(4)}`],
  [
    'session and state',
    aCase({ tool: 'shop/pay', session: { seq: 2, workflow: 'shop' }, state: { value: 'open', context: {} } }),
    [],
    `permit ${refOfRule(5)}`,
  ],
  [
    'the ceiling',
    aCase({ agent: 'strict', expect: 'deny', code: 'POLICY_DENY', rule: 31 }),
    [],
    'deny recourse.yaml:31',
  ],
  [
    'a model that is not permitted, once the rules have permitted the call',
    aCase({ agent: 'strict', tool: 'read/x', model: 'bad', expect: 'deny', code: 'MODEL_DENIED', rule: 32 }),
    [],
    'deny recourse.yaml:32',
  ],
  [
    'another code than expected',
    aCase({ agent: 'strict', tool: 'read/x', model: 'bad', expect: 'deny', code: 'POLICY_DENY' }),
    [/^the code POLICY_DENY was expected, and it is MODEL_DENIED$/],
    'deny recourse.yaml:32',
  ],
  [
    'a model that is permitted',
    aCase({ agent: 'strict', tool: 'read/x', model: 'good-1' }),
    [],
    'permit recourse.yaml:10',
  ],
  ['nobody', aCase({ agent: 'nobody', expect: 'deny' }), [/^there is no agent 'nobody'$/], 'deny recourse.yaml:7'],
];

for (const [says, given, wrong, decided] of rows)
  test(says, () => {
    const [result] = testPolicy(policy, [given], toolNamed).results;
    assert.ok(result !== undefined);
    assert.equal(`${result.decision.effect} ${result.decision.ref}`, decided);
    assert.equal(result.wrong.length, wrong.length, result.wrong.join('; '));
    for (const [at, pattern] of wrong.entries()) assert.match(result.wrong[at] ?? '', pattern);
  });

test('the standard instant is told where a rule for the tool reads the time, and only there', () => {
  const assumed = (more: Partial<PolicyCase>) =>
    testPolicy(policy, [aCase(more)], toolNamed).results.map(({ assumedNow }) => assumedNow);
  assert.deepEqual(assumed({}), [true]);
  assert.deepEqual(assumed({ nowMs: 0 }), [false]);
  assert.deepEqual(assumed({ tool: 'read/x' }), [false]);
  assert.equal(standardNowMs, Date.UTC(2026, 0, 1, 12));
});

test('a file named from its own folder is the same file, and another one is not', () => {
  const written = writtenAgent(['permit **']);
  const [rule = assert.fail()] = written.rules;
  const elsewhere = policyOf([{ ...written, rules: [{ ...rule, ref: 'app/recourse.yaml:10' }] }]);
  const wrongOf = (place: string) =>
    testPolicy(elsewhere, [aCase({ rule: place })], toolNamed).results[0]?.wrong.length;
  assert.deepEqual(
    ['recourse.yaml:10', 'app/recourse.yaml:10', 'course.yaml:10', 'recourse.yaml:1'].map(wrongOf),
    [0, 0, 1, 1],
  );
});

test('looks are those at rules for the tool, in order, with why each did not decide', () => {
  const [result] = testPolicy(policy, [aCase({ args: { amount: 50 } })], toolNamed).results;
  assert.deepEqual(
    result?.looks.map(({ ref, result: seen }) => [ref, seen]),
    [
      [refOfRule(0), 'condition_false'],
      [refOfRule(1), 'matched'],
    ],
  );
});

test('rules that decided are counted, agent by agent, the default among them', () => {
  const cases = [
    aCase({ name: 'a', args: { amount: 5 } }),
    aCase({ name: 'b', args: { amount: 6 } }),
    aCase({ name: 'c', tool: 'zzz', expect: 'deny' }),
    // Its first rule breaks without an amount, and shows nothing.
    aCase({ name: 'f', expect: 'deny' }),
    // The ceiling and the models are no rules.
    aCase({ name: 'd', agent: 'strict', expect: 'deny' }),
    aCase({ name: 'e', agent: 'strict', tool: 'read/x', model: 'bad', expect: 'deny' }),
  ];
  const { coverage } = testPolicy(policy, cases, toolNamed);
  assert.deepEqual(
    coverage.map(({ agent, rules }) => [agent, rules.map(({ decided }) => decided)]),
    [
      ['clerk', [0, 0, 2, 0, 0, 0, 1]],
      ['strict', [0, 0]],
    ],
  );
  assert.deepEqual(coverage[1]?.rules.at(-1), { effect: 'deny', ref: 'recourse.yaml:30', match: null, decided: 0 });
});
