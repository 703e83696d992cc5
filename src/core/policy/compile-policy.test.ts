import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../values/json.ts';
import { canonicalFor } from './canonical-policy.ts';
import { compilePolicy } from './compile-policy.ts';
import type { AgentPolicy, Policy, PolicyProblem, RuleCall, ToolShape, WrittenAgent, WrittenRule } from './policy.ts';

const rule = (effect: WrittenRule['effect'], match: string, when: string | null = null, line = 2): WrittenRule => ({
  effect,
  match,
  when,
  reason: null,
  ref: `recourse.yaml:${line}`,
});

const agent = (rules: readonly WrittenRule[], change: Partial<WrittenAgent> = {}): WrittenAgent => ({
  agent: 'clerk',
  ref: 'recourse.yaml:1',
  default: null,
  rules,
  ceiling: null,
  models: null,
  redact: [],
  ...change,
});

const writtenOf = (agents: readonly WrittenAgent[]) => ({ mode: 'enforce', ref: 'recourse.yaml:0', agents }) as const;

function policyOf(agents: readonly WrittenAgent[], tools: readonly ToolShape[] | null = null): Policy {
  const compiled = compilePolicy(writtenOf(agents), tools);
  if (!compiled.ok) assert.fail(JSON.stringify(compiled.problems));
  return compiled.policy;
}

function clerk(...given: Parameters<typeof agent>): AgentPolicy {
  const found = policyOf([agent(...given)]).agents.get('clerk');
  assert.ok(found !== undefined);
  return found;
}

function problemsOf(
  agents: readonly WrittenAgent[],
  tools: readonly ToolShape[] | null = null,
): readonly PolicyProblem[] {
  const compiled = compilePolicy(writtenOf(agents), tools);
  return compiled.ok ? [] : compiled.problems;
}

const call = (name: string, args: Json = {}, change: Partial<RuleCall> = {}): RuleCall => ({
  tool: { name, effect: 'plain', reach: 'network', annotations: { readOnlyHint: false } },
  args,
  agent: { name: 'clerk' },
  principal: { tenant: 'acme', agent: 'clerk' },
  session: { id: null, seq: 3, workflow: null },
  state: null,
  model: null,
  host: 'api.example.com',
  nowMs: 1_798_761_600_000, // 2027-01-01T00:00:00Z, a Friday
  ...change,
});

test('the first rule that matches decides, and says where it stands', () => {
  const policy = clerk([
    rule('permit', 'pay/*', 'args.amount < 100', 4),
    rule('deny', 'pay/refund', null, 5),
    rule('defer', 'pay/**', null, 6),
  ]);
  const seen = (name: string, args: Json) => {
    const { effect, ref, by, rule: index } = policy.judge(call(name, args));
    return [effect, ref, by, index];
  };
  assert.deepEqual(seen('pay/refund', { amount: 99 }), ['permit', 'recourse.yaml:4', 'rule', 0]);
  assert.deepEqual(seen('pay/refund', { amount: 100 }), ['deny', 'recourse.yaml:5', 'rule', 1]);
  assert.deepEqual(seen('pay/out', { amount: 100 }), ['defer', 'recourse.yaml:6', 'rule', 2]);
  assert.deepEqual(seen('mail/send', {}), ['deny', 'recourse.yaml:1', 'default', null]);
});

test('the default decides where no rule does, by its own line', () => {
  const policy = clerk([], { default: { effect: 'permit', ref: 'recourse.yaml:9' } });
  assert.deepEqual(policy.judge(call('any')), {
    effect: 'permit',
    ref: 'recourse.yaml:9',
    by: 'default',
    reason: null,
    rule: null,
    problem: null,
    terms: null,
  });
});

test('a rule whose condition cannot be evaluated denies by name, whatever it would have said', () => {
  for (const effect of ['permit', 'defer', 'deny'] as const) {
    const policy = clerk([rule(effect, 'pay/*', 'args.amount < 100', 7), rule('permit', '**')]);
    for (const args of [{}, { amount: 'many' }, null, [], { amount: null }] as const)
      assert.deepEqual(
        { ...policy.judge(call('pay/out', args)), problem: null },
        {
          effect: 'deny',
          ref: 'recourse.yaml:7',
          by: 'broken_rule',
          reason: null,
          rule: 0,
          problem: null,
          terms: null,
        },
        JSON.stringify(args),
      );
    assert.match(policy.judge(call('pay/out')).problem ?? '', /no such key: amount/);
  }
});

test('the ceiling speaks before every rule, and for what stands above it only', () => {
  const ceiling = { reach: 'local_write', ref: 'recourse.yaml:3' } as const;
  const policy = clerk([rule('permit', '**')], { ceiling });
  const at = (reach: RuleCall['tool']['reach']) => {
    const { tool } = call('a');
    return policy.judge(call('a', {}, { tool: { ...tool, reach } }));
  };
  assert.deepEqual(at('network'), {
    effect: 'deny',
    ref: 'recourse.yaml:3',
    by: 'ceiling',
    reason: 'local_write',
    rule: null,
    problem: null,
    terms: null,
  });
  assert.deepEqual(
    (['read_only', 'local_write', 'network', 'delegated', 'destructive'] as const).map((reach) => at(reach).effect),
    ['permit', 'permit', 'deny', 'deny', 'deny'],
  );
  assert.equal(at('unheard_of' as 'network').by, 'ceiling');
});

test('every problem is told at once, each with its place and a fix', () => {
  const problems = problemsOf([
    agent([rule('permit', 'a//b'), rule('permit', 'a', 'args.x >'), rule('deny', '***', 'agnt.name == "x"')], {
      redact: ['args.ok', 'card'],
      models: { allow: ['gpt-*', ''], ref: 'recourse.yaml:8' },
    }),
    agent([rule('permit', 'a', '1 + 1')], { agent: 'other' }),
  ]);
  assert.deepEqual(
    problems.map((problem) => [problem.agent, problem.rule, problem.field, problem.index ?? null]),
    [
      ['clerk', 0, 'match', null],
      ['clerk', 1, 'when', null],
      ['clerk', 2, 'match', null],
      ['clerk', 2, 'when', null],
      ['clerk', null, 'models', 1],
      ['clerk', null, 'redact', 1],
      ['other', 0, 'when', null],
    ],
  );
  for (const { message, fix } of problems) assert.ok(message !== '' && fix !== '');
  assert.match(problems[3]?.message ?? '', /no variable agnt here; did you mean agent/);
  assert.deepEqual(problems[1]?.at, { line: 1, column: 9 });
});

test('models: by glob, any without a list, and whoever names none only where any may', () => {
  const allows = (...allow: string[]) => clerk([], { models: { allow, ref: 'r:1' } });
  assert.ok(clerk([]).permitsModel(null) && clerk([]).permitsModel('anything'));
  const some = allows('gpt-4*', 'anthropic/**');
  assert.deepEqual(
    ['gpt-4o', 'anthropic/claude', 'anthropic', 'gpt-3.5-turbo', null].map((model) => some.permitsModel(model)),
    [true, true, true, false, false],
  );
  assert.deepEqual([allows().permitsModel('gpt-4o'), allows('**').permitsModel(null)], [false, true]);
});

test('an explanation lists every look up to the one that decided', () => {
  const policy = clerk([
    rule('deny', 'mail/*', null, 2),
    rule('deny', 'pay/*', 'args.amount > 10', 3),
    rule('permit', 'pay/*', 'args.to == "x"', 4),
    rule('permit', '**', null, 5),
  ]);
  const resultsFor = (name: string, args: Json) =>
    policy.explain(call(name, args)).looks.map(({ ref, result }) => `${ref.slice(-1)} ${result}`);
  assert.deepEqual(resultsFor('pay/out', { amount: 1, to: 'x' }), ['2 other_tool', '3 condition_false', '4 matched']);
  assert.deepEqual(resultsFor('pay/out', { amount: 1 }), ['2 other_tool', '3 condition_false', '4 broken']);
  assert.deepEqual(resultsFor('x', {}), ['2 other_tool', '3 other_tool', '4 other_tool', '5 matched']);
  const { judgement, looks } = clerk([rule('permit', 'a'), rule('permit', 'b', 'false')]).explain(call('b'));
  assert.deepEqual([judgement.by, ...looks.map(({ result }) => result)], ['default', 'other_tool', 'condition_false']);
});

test('the canonical text: places do not count, everything that decides does', () => {
  const base = [rule('permit', 'a', 'args.x > 1', 2), rule('deny', 'b', null, 3)];
  const moved = base.map((each) => ({ ...each, ref: `elsewhere.yaml:${each.ref.length}` }));
  assert.equal(clerk(base).canonical, clerk(moved, { ref: 'x:9' }).canonical);
  const changes: readonly (readonly [readonly WrittenRule[], Partial<WrittenAgent>])[] = [
    [base.toReversed(), {}],
    [base.slice(0, 1), {}],
    [[rule('permit', 'a', 'args.x > 2'), ...base.slice(1)], {}],
    [[rule('defer', 'a', 'args.x > 1'), ...base.slice(1)], {}],
    [base, { default: { effect: 'permit', ref: 'x' } }],
    [base, { ceiling: { reach: 'network', ref: 'x' } }],
    [base, { redact: ['args.a'] }],
    [base, { models: { allow: ['m'], ref: 'x' } }],
  ];
  const texts = changes.map((change) => clerk(...change).canonical);
  assert.equal(new Set([...texts, clerk(base).canonical]).size, changes.length + 1);
});

test('what an approval of one tool binds: its own rules, in order, and nothing about others', () => {
  const base = [rule('permit', 'a', 'args.x > 1'), rule('deny', 'b'), rule('defer', 'a', 'args.x > 5')];
  const same: readonly (readonly WrittenRule[])[] = [
    [base[1], base[0], base[2]],
    [base[0], base[2]],
    [...base, rule('permit', 'c/**')],
  ].map((rules) => rules.filter((each) => each !== undefined));
  for (const rules of same) assert.equal(canonicalFor(clerk(rules), 'a'), canonicalFor(clerk(base), 'a'));
  const other: readonly (readonly WrittenRule[])[] = [
    base.toReversed(),
    base.slice(0, 2),
    [rule('deny', '*'), ...base],
  ];
  for (const rules of other) assert.notEqual(canonicalFor(clerk(rules), 'a'), canonicalFor(clerk(base), 'a'));
});

test('what is too much is refused before it is looked through', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => rule('permit', `t${index}`));
  const first = (agents: readonly WrittenAgent[]) => problemsOf(agents)[0]?.message;
  assert.equal(first([agent(many(20_001))]), 'there are more than 20000 rules');
  assert.equal(first([agent([], { redact: Array(201).fill('args.a') })]), 'there are more than 200 paths to redact');
  assert.equal(
    first([agent([], { models: { allow: Array(201).fill('m'), ref: 'x' } })]),
    'there are more than 200 globs over models',
  );
  const crowd = Array.from({ length: 1_001 }, (_, index) => agent([], { agent: `a${index}` }));
  assert.equal(first(crowd), 'there are more than 1000 agents');
  assert.equal(
    first(Array.from({ length: 6 }, (_, index) => agent(many(20_000), { agent: `a${index}` }))),
    'there are more than 100000 rules of all agents together',
  );
  assert.match(first([agent([]), agent([])]) ?? '', /declared twice/);
  assert.equal(problemsOf([agent(Array(300).fill(rule('permit', '')))]).length, 200);
});

test('a rate limit that could not be counted exactly, or that is there twice, is refused', () => {
  const limit = (rate: string, burst: number | null = null) => ({ match: 'pay', rate, burst, ref: 'recourse.yaml:3' });
  const said = (...limits: ReturnType<typeof limit>[]) =>
    problemsOf([agent([], { limits })]).map(({ message, index }) => [message, index]);
  assert.deepEqual(said(limit('1/day', 36_600), limit('999999999/second', 1_000_000_000)), []);
  assert.deepEqual(said(limit('1/day', 36_601)), [
    ['36601 calls at 1/day take more than a hundred years to come back', 0],
  ]);
  assert.deepEqual(said(limit('1/day'), limit('2/day')), [['pay is limited by the day twice', 1]]);
});
