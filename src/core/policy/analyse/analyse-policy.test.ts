/** Each finding with its counterexample, beside policies that come near to it and are in order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyOf, refOfRule, ruleCall, writtenAgent } from '../../../../test/support/written-policy.ts';
import type { Json } from '../../values/json.ts';
import type { WrittenAgent } from '../policy.ts';
import { analysePolicy } from './analyse-policy.ts';
import type { KnownTool, PolicyAnalysis, PolicyContext } from './policy-analysis.ts';

const aTool = (name: string, inputSchema: Json = null): KnownTool => ({
  name,
  effect: 'plain',
  reach: 'network',
  annotations: {},
  inputSchema,
});
const currency: Json = { type: 'object', properties: { currency: { enum: ['EUR', 'USD'] } } };
const stripe = [aTool('stripe/charge', currency), aTool('stripe/refund', currency), aTool('files/read')];
const unknownTools: PolicyContext = { tools: null, workflows: new Map() };
const pinned: PolicyContext = { tools: stripe, workflows: new Map() };

function analyse(
  rules: readonly string[],
  context: PolicyContext,
  more: Partial<WrittenAgent> = { default: { effect: 'permit', ref: 'recourse.yaml:9' } },
): PolicyAnalysis {
  return analysePolicy(policyOf([writtenAgent(rules, more)]), context);
}

const told = ({ findings }: PolicyAnalysis): readonly string[] =>
  findings.map(({ kind, severity, refs: [ref] }) => `${severity} ${kind} ${ref}`);

interface Row {
  readonly says: string;
  readonly rules: readonly string[];
  readonly pinned?: true;
  /** The rule that is told, the others that decide first, and how bad it is; null for none. */
  readonly told: readonly [rule: number, by: readonly number[], severity: 'error' | 'warning'] | null;
}

const shadows: readonly Row[] = [
  { says: 'a rule for everything before it', rules: ['deny **', 'permit stripe/refund'], told: [1, [0], 'error'] },
  { says: 'a wider pattern', rules: ['permit stripe/*', 'deny stripe/refund'], told: [1, [0], 'error'] },
  {
    says: 'a wider pattern of the same effect',
    rules: ['deny stripe/*', 'deny stripe/re*'],
    told: [1, [0], 'warning'],
  },
  { says: 'the same name twice', rules: ['permit a/b', 'deny a/b'], told: [1, [0], 'error'] },
  { says: 'a condition that is always true', rules: ['deny ** if 1 < 2', 'permit a/b'], told: [1, [0], 'error'] },
  {
    says: 'the same condition on a wider pattern',
    rules: ['deny ** if args.x > 1', 'permit a/* if (args.x > 1)'],
    told: [1, [0], 'error'],
  },
  {
    says: 'a condition that asks for more',
    rules: ['deny ** if args.x > 1', 'permit a/* if args.y && args.x > 1'],
    told: [1, [0], 'error'],
  },
  {
    says: 'one of the ways of a condition',
    rules: ["deny ** if args.x == 'a' || args.x == 'b'", "permit a/* if args.x == 'b'"],
    told: [1, [0], 'error'],
  },
  {
    says: 'a narrower range',
    rules: ['permit a/b if args.amount < 100', 'deny a/b if args.amount < 50'],
    told: [1, [0], 'error'],
  },
  {
    says: 'two conditions that leave nothing over',
    rules: ['permit a/b if args.x > 3', 'defer a/b if args.x <= 3', 'deny a/b'],
    told: [2, [0, 1], 'error'],
  },
  {
    says: 'two patterns that cover every tool there is',
    rules: ['permit stripe/charge', 'defer stripe/refund', 'deny stripe/*'],
    pinned: true,
    told: [2, [0, 1], 'warning'],
  },
  {
    says: 'an enumeration that leaves nothing over',
    rules: [
      "permit stripe/refund if args.currency == 'EUR'",
      "defer stripe/* if args.currency == 'USD'",
      'deny stripe/refund',
    ],
    pinned: true,
    told: [2, [0, 1], 'error'],
  },
  {
    says: 'not: what denies everything else',
    rules: ['permit stripe/*', 'permit files/*', 'deny **'],
    pinned: true,
    told: null,
  },
  { says: 'not: an exception before the rule', rules: ['deny stripe/refund', 'permit stripe/*'], told: null },
  { says: 'not: a pattern that overlaps', rules: ['permit stripe/*', 'deny */refund'], told: null },
  { says: 'not: another depth', rules: ['permit stripe/*', 'deny stripe/**'], told: null },
  { says: 'not: a condition before it', rules: ['deny ** if args.x > 1', 'permit a/b'], told: null },
  { says: 'not: a wider range after it', rules: ['permit a/b if args.x < 50', 'deny a/b if args.x < 100'], told: null },
  { says: 'not: another condition', rules: ['deny ** if args.x > 1', 'permit a/* if args.y > 1'], told: null },
  {
    says: 'not: a condition that is never true',
    rules: ['deny a/b if args.x < 1 || args.y', 'permit a/b if args.x > 0'],
    told: null,
  },
  {
    says: 'not: the same patterns, while nobody knows which tools there are',
    rules: ['permit stripe/charge', 'defer stripe/refund', 'deny stripe/*'],
    told: null,
  },
  {
    says: 'not: one tool is left over',
    rules: ['permit stripe/charge', 'defer files/read', 'deny stripe/*'],
    pinned: true,
    told: null,
  },
];

for (const { says, rules, pinned: isPinned, told: expected } of shadows)
  test(`shadowed ${says}: ${rules.join('; ')}`, () => {
    const { findings } = analyse(rules, isPinned === true ? pinned : unknownTools);
    const found = findings.filter(({ kind }) => kind === 'shadowed_rule');
    if (expected === null) return assert.deepEqual(found, []);
    const [rule, by, severity] = expected;
    assert.deepEqual(
      found.map((each) => [each.rule, each.refs, each.severity]),
      [[rule, [refOfRule(rule), ...by.map(refOfRule)], severity]],
    );
    const [{ counterexample } = assert.fail()] = found;
    assert.ok(counterexample.kind === 'rules');
    // The tool it names is really one that both match: alone, each of them decides about it.
    for (const each of [rule, ...by]) {
      const [, match = ''] = (rules[each] ?? '').split(' ');
      const alone = policyOf([writtenAgent([`permit ${match}`])]).agents.get('clerk');
      if (each === rule || by.length === 1)
        assert.equal(alone?.judge(ruleCall(counterexample.tool)).effect, 'permit', `${match} ${counterexample.tool}`);
    }
  });

const nevers: readonly (readonly [when: string, mayBreak: boolean])[] = [
  ['false', false],
  ['1 > 2', false],
  ['args.amount < 5 && args.amount > 10', true],
  ["args.x == 'a' && args.x == 'b'", true],
  ["agent.name == 'somebody else'", true],
  ["args.currency == 'EURO'", true],
];

for (const [when, mayBreak] of nevers)
  test(`never matches: ${when}`, () => {
    const { findings } = analyse([`deny stripe/* if ${when}`], pinned);
    assert.deepEqual(
      findings.map(({ kind, severity, rule, mayBreak: breaks }) => [kind, severity, rule, breaks]),
      [['never_matches', 'error', 0, mayBreak]],
    );
    const [{ counterexample } = assert.fail()] = findings;
    assert.ok(counterexample.kind === 'conflict' && counterexample.groups.length > 0);
    // Its parts are parts of the condition.
    for (const text of counterexample.groups.flat()) assert.ok(when.includes(text), text);
  });

test('a condition that breaks on every call never matches, and is said to deny', () => {
  const { findings } = analyse(['permit stripe/* if 1 / 0 > 1'], pinned);
  assert.deepEqual(
    findings.map(({ kind, mayBreak }) => [kind, mayBreak]),
    [['never_matches', true]],
  );
});

for (const rule of [
  'deny stripe/* if args.amount > 5 && args.amount < 10',
  "deny stripe/* if args.currency == 'EUR'",
  // Only one of its tools has the schema.
  "deny ** if args.currency == 'EURO'",
  "deny stripe/* if agent.name == 'clerk'",
])
  test(`not claimed: ${rule}`, () => assert.deepEqual(told(analyse([rule], pinned)), []));

test('a rule for a tool that does not exist, with the name that was probably meant', () => {
  const rules = [
    'deny stripe/refunds',
    'deny strip/*',
    'permit stripe/*',
    'deny zzz/**',
    'deny refund',
    'deny file/read',
  ];
  const { findings } = analyse(rules, pinned);
  assert.deepEqual(
    findings.map(({ kind, severity, rule, fix }) => [kind, severity, rule, fix]),
    [
      ['unknown_tool', 'error', 0, 'did you mean stripe/refund?'],
      ['unknown_tool', 'warning', 1, 'did you mean stripe/*?'],
      ['unknown_tool', 'warning', 3, 'correct the name, or pin the tools again with: recourse pin'],
      // A program may have such tools, which are in no file.
      ['unknown_tool', 'warning', 4, 'correct the name, or pin the tools again with: recourse pin'],
      ['unknown_tool', 'warning', 5, 'did you mean files/read?'],
    ],
  );
});

test('while nobody knows which tools there are, no tool is missing, and that is said', () => {
  const { findings, undecided } = analyse(['deny stripe/refunds'], unknownTools);
  assert.deepEqual(findings, []);
  assert.match(undecided.join('\n'), /which tools there are is not known/);
});

const idles: readonly (readonly [
  says: string,
  rules: readonly string[],
  more: Partial<WrittenAgent>,
  idle: boolean,
])[] = [
  ['no rule at all', [], {}, true],
  ['only denials', ['deny stripe/*'], {}, true],
  ['a permission that a denial shadows', ['deny **', 'permit stripe/refund'], {}, true],
  ['a permission that never matches', ['permit ** if false'], {}, true],
  ['a ceiling that no tool is under', ['permit **'], { ceiling: { reach: 'read_only', ref: 'recourse.yaml:9' } }, true],
  ['a permission', ['permit stripe/refund'], {}, false],
  ['a deferral under a condition', ['defer files/* if args.x > 3'], {}, false],
  ['a default that permits', ['deny stripe/*'], { default: { effect: 'permit', ref: 'recourse.yaml:9' } }, false],
];

for (const [says, rules, more, idle] of idles)
  test(`${idle ? 'idle' : 'not idle'}: an agent with ${says}`, () => {
    const found = analyse(rules, pinned, more).findings.filter(({ kind }) => kind === 'idle_agent');
    assert.deepEqual(
      found.map(({ severity, refs }) => [severity, refs]),
      idle ? [['warning', ['recourse.yaml:8']]] : [],
    );
  });

test('idle without knowing the tools: told by the rules alone', () => {
  const idleOf = (rules: readonly string[], more: Partial<WrittenAgent>) =>
    analyse(rules, unknownTools, more).findings.some(({ kind }) => kind === 'idle_agent');
  const permits = { default: { effect: 'permit', ref: 'recourse.yaml:9' } } as const;
  assert.deepEqual(
    [idleOf([], {}), idleOf(['deny **'], permits), idleOf(['deny a/*'], permits), idleOf(['permit a/b'], {})],
    [true, true, false, false],
  );
});

test('what is not followed is said, rule by rule, unless it was proven all the same', () => {
  const { undecided } = analyse(
    [
      'deny a/a if args.x.startsWith("a")',
      'deny a/b if args.x < 3',
      'deny a/c if args.x < args.y',
      'deny a/d if false',
    ],
    unknownTools,
  );
  const free = undecided.find((each) => each.includes('taken to be free')) ?? '';
  assert.deepEqual(free.match(/recourse\.yaml:\d+/g), [refOfRule(0), refOfRule(2)]);
});

test('what lies beyond a limit is not decided, and said', () => {
  const rules = Array.from({ length: 5 }, (_, at) => `permit a${at}/b*c`);
  const policy = policyOf([writtenAgent([...rules, 'deny **/x'])]);
  const few = analysePolicy(policy, unknownTools, { maxPatternPairs: 2 });
  assert.match(few.undecided.join('\n'), /only 2 pairs of patterns/);
  const none = analysePolicy(policy, unknownTools, { maxRulePairs: 0 });
  assert.match(none.undecided.join('\n'), /only 0 pairs of rules/);
  const asked = policyOf([writtenAgent(['deny a/a if args.x < 3', 'deny a/b if args.x < 3 && args.x > 4'])]);
  const silent = analysePolicy(asked, unknownTools, { maxQuestions: 0 });
  assert.deepEqual(
    [silent.findings.some(({ kind }) => kind === 'never_matches'), silent.undecided.length > 0],
    [false, true],
  );
  const many = policyOf([writtenAgent(Array.from({ length: 5 }, () => 'deny **'))]);
  const listed = analysePolicy(many, unknownTools, { maxFindings: 2 });
  assert.equal(listed.findings.filter(({ kind }) => kind === 'shadowed_rule').length, 2);
  assert.match(listed.undecided.join('\n'), /2 more of shadowed_rule are not listed/);
});

test('ten thousand rules are analysed in seconds', () => {
  const rules = Array.from({ length: 10_000 }, (_, at) => `permit server${at % 100}/tool${at} if args.x < ${at}`);
  const policy = policyOf([writtenAgent(rules)]);
  assert.deepEqual(analysePolicy(policy, unknownTools).findings, []);
});
