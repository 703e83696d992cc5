/** Files of policy tests: what a case becomes, and everything that makes one meaningless told with its place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readPolicyTests } from './policy-tests.ts';

const agents = ['clerk', 'support'];
const read = (text: string) => readPolicyTests(text, 'recourse.test.yaml', agents);

test('a case with everything, and one with what is needed', () => {
  const { cases, problems } = read(`
cases:
  - name: all of it
    agent: clerk
    call: pay/refund
    args: { amount: 5, card: { brand: visa } }
    model: some-model
    session: { seq: 3, workflow: shop }
    state: { value: open, context: { total: 1 } }
    now: 2026-02-03T04:05:06+01:00
    expect: deny
    code: MODEL_DENIED
    rule: policies/recourse.yaml:14
  - { name: the least, agent: support, call: pay/refund, expect: permit, rule: 7 }
`);
  assert.deepEqual(problems, []);
  assert.deepEqual(cases, [
    {
      name: 'all of it',
      ref: 'recourse.test.yaml:3',
      agent: 'clerk',
      tool: 'pay/refund',
      args: { amount: 5, card: { brand: 'visa' } },
      model: 'some-model',
      session: { seq: 3, workflow: 'shop' },
      state: { value: 'open', context: { total: 1 } },
      nowMs: Date.UTC(2026, 1, 3, 3, 5, 6),
      expect: 'deny',
      code: 'MODEL_DENIED',
      rule: 'policies/recourse.yaml:14',
    },
    {
      name: 'the least',
      ref: 'recourse.test.yaml:14',
      agent: 'support',
      tool: 'pay/refund',
      args: {},
      model: null,
      session: { seq: 0, workflow: null },
      state: null,
      nowMs: null,
      expect: 'permit',
      code: null,
      rule: 7,
    },
  ]);
});

const wrongs: readonly (readonly [says: string, line: string, told: RegExp])[] = [
  ['an unknown key', 'expct: deny, expect: deny', /^1:\d+ there is no key 'expct' here.*did you mean expect\?$/],
  ['no expectation', '', /the key 'expect' is missing/],
  ['an effect that is none', 'expect: allow', /'allow' is not known here.*use one of permit, defer, deny$/],
  ['an agent that is none', 'expect: deny, agent: suport', /there is no agent 'suport'.*did you mean support\?$/],
  ['a code that is none', 'expect: deny, code: POLICY_DENIED', /'POLICY_DENIED' is not known here.*POLICY_DENY\?$/],
  ['a code that does not go with it', 'expect: defer, code: POLICY_DENY', /defer never has the code POLICY_DENY/],
  ['a code of what is permitted', 'expect: permit, code: POLICY_DENY', /permit never has the code .* leave it out$/],
  ['arguments that are no map', 'expect: deny, args: [1]', /a list stands here/],
  ['a rule that is no place', 'expect: deny, rule: fourteen', /this is no place of a rule/],
  ['a rule on no line', 'expect: deny, rule: 0', /this is no place of a rule/],
  ['an instant without an offset', "expect: deny, now: '2026-01-01T00:00:00'", /is not usable here/],
  ['an instant that never is', "expect: deny, now: '2026-13-01T00:00:00Z'", /there is no such instant/],
  ['a sequence that is no number', 'expect: deny, session: { seq: first }', /a whole number from 0/],
];

for (const [says, line, told] of wrongs)
  test(`refused: ${says}`, () => {
    const agent = line.includes('agent:') ? '' : 'agent: clerk, ';
    const { cases, problems } = read(`cases: [{ name: a, call: t, ${agent}${line} }]`);
    assert.deepEqual(cases, []);
    assert.equal(problems.length, 1, JSON.stringify(problems));
    const [{ line: at, column, message, fix } = assert.fail()] = problems;
    assert.match(`${at}:${column} ${message}; ${fix}`, told);
  });

test('two cases of one name, a file without cases, and an empty one', () => {
  const twice = read(
    'cases: [{ name: a, agent: clerk, call: t, expect: deny }, { name: a, agent: clerk, call: t, expect: deny }]',
  );
  assert.deepEqual([twice.cases.length, twice.problems[0]?.message], [1, 'another case has this name']);
  assert.match(read('cases: []').problems[0]?.message ?? '', /an empty list stands here/);
  assert.match(read('case: []').problems[0]?.fix ?? '', /did you mean cases/);
  assert.equal(read('').problems.length, 1);
  assert.equal(read('# nothing').problems.length, 1);
});

test('one wrong case does not hide the others', () => {
  const { cases, problems } = read(`
cases:
  - { name: a, agent: clerk, call: t, expect: deny }
  - { name: b, agent: clerk, call: t, expect: perhaps }
  - { name: c, agent: nobody, call: t, expect: deny }
`);
  assert.deepEqual([cases.map(({ name }) => name), problems.map(({ line }) => line)], [['a'], [4, 5]]);
});

test('any text gives cases or problems, and never throws', () => {
  const word = fc.constantFrom(
    'cases:',
    '- ',
    '  ',
    '\n',
    'name: a',
    'agent: clerk',
    'call: t',
    'expect: deny',
    '{',
    '}',
    '[',
    ']',
    ': ',
    '&a ',
    '*a',
    '!!x',
    '"',
    'now: 1',
    'rule: 1',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(word, { maxLength: 40 }).map((words) => words.join('')),
        fc.string(),
      ),
      (text) => {
        const { cases, problems } = read(text);
        assert.ok(cases.length > 0 || problems.length > 0);
      },
    ),
    { numRuns: 500 },
  );
});
