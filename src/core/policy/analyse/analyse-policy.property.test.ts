/**
 * Whatever is claimed about a rule, no call refutes it: random policies, random tools, random calls, judged for real.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { aLimit } from '../../../../test/support/limits/written-quotas.ts';
import { policyOf, ruleCall, writtenAgent } from '../../../../test/support/written-policy.ts';
import type { Json } from '../../values/json.ts';
import { type AgentPolicy, type PolicyTool, reaches, type RuleCall, ruleEffects } from '../policy.ts';
import { analysePolicy } from './analyse-policy.ts';
import { mayPermit } from './may-permit.ts';
import type { KnownTool } from './policy-analysis.ts';
import { createProofWork } from './proof-work.ts';
import { readRules } from './read-rules.ts';

const names = ['a', 'a/b', 'a/c', 'b/b', 'a/b/c', 'b/b/c'];
const patterns = [...names, '*', '**', 'a/*', '*/b', 'a/**', '**/c', 'b/b*', '*/*/c', 'a/*b'];
const kinds = ['x', 'y', 'z'];
const schema: Json = {
  type: 'object',
  properties: { n: { type: 'integer', minimum: 0, maximum: 6 }, s: { enum: kinds }, f: { type: 'boolean' } },
};

const comparison = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('args.n', 'args.n', 'session.seq'),
      fc.constantFrom('<', '<=', '>', '>=', '==', '!='),
      fc.nat(7),
    )
    .map((parts) => parts.join(' ')),
  fc
    .tuple(fc.constantFrom('==', '!='), fc.constantFrom(...kinds, 'w'))
    .map(([sign, kind]) => `args.s ${sign} '${kind}'`),
  fc.subarray(kinds, { minLength: 1 }).map((some) => `args.s in ${JSON.stringify(some)}`),
  fc.constantFrom(
    'args.f',
    '!args.f',
    'has(args.n)',
    '!has(args.n)',
    "tool.effect == 'pure'",
    "tool.reach == 'network'",
    "agent.name == 'clerk'",
    "state.value == 'paid'",
    "args.s.startsWith('x')",
    'args.n < args.m',
    'true',
    'false',
    '1 / 0 > 1',
  ),
);
const condition = fc.oneof(
  { weight: 3, arbitrary: comparison },
  { weight: 2, arbitrary: fc.tuple(comparison, comparison).map(([a, b]) => `${a} && ${b}`) },
  { weight: 2, arbitrary: fc.tuple(comparison, comparison).map(([a, b]) => `${a} || ${b}`) },
  {
    weight: 1,
    arbitrary: fc.tuple(comparison, comparison, comparison).map(([a, b, c]) => `(${a} || ${b}) && !(${c})`),
  },
);
const rule = fc
  .tuple(fc.constantFrom(...ruleEffects), fc.constantFrom(...patterns), fc.option(condition, { freq: 4 }))
  .map(([effect, match, when]) => `${effect} ${match}${when === null ? '' : ` if ${when}`}`);

const toolOf = (name: string) =>
  fc.record<PolicyTool>({
    name: fc.constant(name),
    effect: fc.constantFrom('pure', 'plain'),
    reach: fc.constantFrom('read_only', 'network', 'destructive'),
    annotations: fc.constant({}),
  });
const world = fc.record({
  rules: fc.array(rule, { minLength: 2, maxLength: 7 }),
  effect: fc.constantFrom(...ruleEffects),
  ceiling: fc.option(fc.constantFrom(...reaches), { freq: 5 }),
  tools: fc.subarray(names, { minLength: 1 }).chain((some) => fc.tuple(...some.map(toolOf))),
  isPinned: fc.boolean(),
});

/** Nobody checked them. */
const wildArgs = fc.dictionary(
  fc.constantFrom('n', 'm', 's', 'f'),
  fc.constantFrom<Json[]>(0, 1, 2, 3, 5, 7, -1, 2.5, 'x', 'y', 'w', true, false, null, [], {}),
);
/** As the schema wants them, though some may be missing. */
const tameArgs = fc.record(
  { n: fc.nat(6), s: fc.constantFrom(...kinds), f: fc.boolean(), m: fc.nat(6) },
  { requiredKeys: [] },
);
const states: readonly Json[] = [null, { value: 'paid', context: {} }, { value: 'open', context: {} }];
const asked = fc.record({
  pick: fc.nat(20),
  wild: wildArgs,
  tame: tameArgs,
  seq: fc.nat(7),
  state: fc.constantFrom(...states),
});

const limitsOf = (agent: AgentPolicy, tool: string): readonly string[] =>
  agent.limitsFor(tool).map(({ written }) => written.ref);

const callsPerPolicy = 30;
const policies = 700;

test('a rule that is said never to decide never decides, and an idle agent is never permitted anything', () => {
  const claims = {
    shadowed_rule: 0,
    never_matches: 0,
    unknown_tool: 0,
    idle_agent: 0,
    policy_dead_end: 0,
    never_completes: 0,
    idle_limit: 0,
    idle_budget: 0,
    unmeetable_budget: 0,
    always_warns: 0,
  };
  let judged = 0;
  let byCondition = 0;
  fc.assert(
    fc.property(world, fc.array(asked, { minLength: callsPerPolicy, maxLength: callsPerPolicy }), (drawn, calls) => {
      const { rules, effect, ceiling, tools, isPinned } = drawn;
      const required = tools[0]?.name ?? '';
      const more = {
        completion: { require: [required], when: null, condition: null, ref: 'recourse.yaml:9' },
        default: { effect, ref: 'recourse.yaml:9' },
        limits: patterns.map((match) => aLimit(match, '1/day', { ref: match })),
        ceiling: ceiling === null ? null : { reach: ceiling, ref: 'recourse.yaml:9' },
      };
      const written = writtenAgent(rules, more);
      const policy = policyOf([written]);
      const known: readonly KnownTool[] = tools.map((tool) => ({ ...tool, inputSchema: schema }));
      const { findings } = analysePolicy(policy, { tools: isPinned ? known : null, workflows: new Map() });
      for (const { kind, mayBreak } of findings) {
        claims[kind]++;
        if (kind === 'shadowed_rule' && mayBreak) byCondition++;
      }
      const clerk = policy.agents.get('clerk') ?? assert.fail();
      const agent = { name: 'clerk', policy: clerk, rules: readRules(written) };
      const work = createProofWork({ maxPatternPairs: 1_000, maxRulePairs: 1_000, maxQuestions: 1_000 });
      for (const { pick, wild, tame, seq, state } of calls) {
        const pinnedTool = tools[pick % tools.length] ?? assert.fail();
        const anyTool = { ...pinnedTool, name: names[pick % names.length] ?? '' };
        const tool = isPinned ? pinnedTool : anyTool;
        const call: RuleCall = ruleCall(tool.name, {
          tool,
          args: (isPinned ? tame : wild) as Json,
          session: { id: null, seq, workflow: null },
          state,
        });
        const judgement = clerk.judge(call);
        judged++;
        const says = `${JSON.stringify(rules)} on ${JSON.stringify(call)}: ${JSON.stringify(judgement)}`;
        for (const { kind, rule: about, mayBreak, refs } of findings) {
          if (kind === 'idle_limit' && limitsOf(clerk, tool.name).includes(refs[0] ?? ''))
            assert.equal(judgement.effect, 'deny', `${refs[0]}: ${says}`);
          if (kind === 'never_completes' && tool.name === required) assert.equal(judgement.effect, 'deny', says);
          if (kind === 'idle_agent') assert.equal(judgement.effect, 'deny', says);
          if (kind === 'unknown_tool' && isPinned) assert.notEqual(judgement.rule, about, says);
          if ((kind !== 'shadowed_rule' && kind !== 'never_matches') || judgement.rule !== about) continue;
          assert.ok(mayBreak && judgement.by === 'broken_rule', says);
        }
        const permitting = mayPermit(agent, { tool, schema: isPinned ? schema : null }, null, work);
        if (judgement.effect !== 'deny') assert.ok(permitting.may, says);
        else assert.ok(!permitting.sure, says);
      }
    }),
    { numRuns: policies, seed: 11 },
  );
  assert.equal(judged, policies * callsPerPolicy);
  assert.ok(claims.shadowed_rule > 300 && claims.never_matches > 100 && claims.idle_agent > 15, JSON.stringify(claims));
  assert.ok(claims.never_completes > 50 && claims.idle_limit > 300, JSON.stringify(claims));
  assert.ok(byCondition > 30, `only ${byCondition} rules were shadowed by conditions`);
});
