import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { policyOf, ruleCall, writtenAgent } from '../../../test/support/written-policy.ts';
import type { Json } from '../values/json.ts';
import { type AgentPolicy, type Judgement, type Reach, reaches, type RuleCall, ruleEffects } from './policy.ts';
import { compileToolPattern, matchesTool } from './tool-pattern.ts';

/** Conditions with what they mean, said in JavaScript; null is an error. */
const conditions: readonly (readonly [when: string, means: (args: { readonly n?: unknown }) => boolean | null])[] = [
  ['true', () => true],
  ['false', () => false],
  ['args.n > 1', ({ n }) => (typeof n === 'number' ? n > 1 : null)],
  ['has(args.n)', ({ n }) => n !== undefined],
  ['args.n == "a"', ({ n }) => (n === undefined ? null : n === 'a')],
  ['!has(args.n) || args.n == 0', ({ n }) => n === undefined || n === 0],
];

const segment = fc.constantFrom('a', 'b', 'c');
const patterns = fc.oneof(
  fc.tuple(segment, segment).map((each) => each.join('/')),
  fc.constantFrom('**', '*', 'a/**', '*/b', '**/c', 'a/*', 'b*/**', 'a*/b'),
  segment,
);
const names = fc.oneof(
  segment,
  fc.tuple(segment, segment).map((each) => each.join('/')),
  fc.tuple(segment, segment, segment).map((each) => each.join('/')),
);
const rules = fc.array(
  fc.tuple(fc.constantFrom(...ruleEffects), patterns, fc.option(fc.constantFrom(...conditions), { nil: null })),
  { maxLength: 8 },
);
const args = fc.record(
  { n: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('a', 'b', null)) },
  { requiredKeys: [] },
);
const reach = fc.constantFrom(...reaches);
const agents = fc.record({
  rules,
  fallback: fc.option(fc.constantFrom(...ruleEffects), { nil: null }),
  ceiling: fc.option(reach, { nil: null }),
});
type Drawn = typeof agents extends fc.Arbitrary<infer Value> ? Value : never;

function compiled({ rules: drawn, fallback, ceiling }: Drawn): AgentPolicy {
  const lines = drawn.map(([effect, match, when]) => `${effect} ${match}${when === null ? '' : ` if ${when[0]}`}`);
  const policy = policyOf([
    writtenAgent(lines, {
      default: fallback === null ? null : { effect: fallback, ref: 'recourse.yaml:3' },
      ceiling: ceiling === null ? null : { reach: ceiling, ref: 'recourse.yaml:4' },
    }),
  ]);
  return policy.agents.get('clerk') ?? assert.fail();
}

/** Rule after rule, as it is written. */
function naive({ rules: drawn, fallback, ceiling }: Drawn, call: RuleCall): Pick<Judgement, 'effect' | 'by' | 'rule'> {
  if (ceiling !== null && reaches.indexOf(call.tool.reach) > reaches.indexOf(ceiling))
    return { effect: 'deny', by: 'ceiling', rule: null };
  for (const [rule, [effect, match, when]] of drawn.entries()) {
    const found = compileToolPattern(match);
    if (!found.ok || !matchesTool(found.pattern, call.tool.name)) continue;
    const held = when === null ? true : when[1](call.args as { readonly n?: unknown });
    if (held === null) return { effect: 'deny', by: 'broken_rule', rule };
    if (held) return { effect, by: 'rule', rule };
  }
  return { effect: fallback ?? 'deny', by: 'default', rule: null };
}

const callOf = (name: string, given: Json, reached: Reach): RuleCall =>
  ruleCall(name, { args: given, tool: { name, effect: 'plain', reach: reached, annotations: {} } });

test('judging is reading the rules in order, and explaining is judging', () => {
  const seen = new Map<string, number>();
  fc.assert(
    fc.property(agents, fc.array(fc.tuple(names, args, reach), { minLength: 8, maxLength: 8 }), (agent, calls) => {
      const policy = compiled(agent);
      for (const [name, given, reached] of calls) {
        const call = callOf(name, given as Json, reached);
        const judgement = policy.judge(call);
        const { effect, by, rule } = judgement;
        assert.deepEqual({ effect, by, rule }, naive(agent, call));
        assert.equal(judgement.problem === null, by !== 'broken_rule');
        seen.set(by, (seen.get(by) ?? 0) + 1);
        const explained = policy.explain(call);
        assert.deepEqual(explained.judgement, judgement);
        if (rule !== null)
          assert.deepEqual(
            explained.looks.map((look) => look.rule),
            Array.from({ length: rule + 1 }, (_, index) => index),
          );
      }
    }),
    { numRuns: 800, seed: 9 },
  );
  for (const by of ['rule', 'default', 'ceiling', 'broken_rule'])
    assert.ok((seen.get(by) ?? 0) > 150, `${by}: ${seen.get(by)}`);
});

test('what could never be permitted never is', () => {
  let never = 0;
  let permitted = 0;
  fc.assert(
    fc.property(agents, names, reach, fc.array(args, { minLength: 5, maxLength: 5 }), (agent, name, reached, many) => {
      const policy = compiled(agent);
      const could = policy.couldPermit(callOf(name, {}, reached).tool);
      if (!could) never++;
      for (const given of many) {
        const { effect } = policy.judge(callOf(name, given as Json, reached));
        if (effect === 'deny') continue;
        permitted++;
        assert.ok(could, `${name} was permitted`);
      }
    }),
    { numRuns: 2_000, seed: 10 },
  );
  assert.ok(never > 300 && permitted > 1_000, `${never} never, ${permitted} permitted`);
});

test('rules of more tools than are kept ready are found all the same', () => {
  const policy = policyOf([writtenAgent(['permit a*/t if args.n > 1', 'deny a7/**', 'permit **/t'])]);
  const agent = policy.agents.get('clerk') ?? assert.fail();
  for (let round = 0; round < 2; round++)
    for (let index = 0; index < 5_000; index++) {
      const { rule } = agent.judge(callOf(`a${index}/t`, { n: index % 3 }, 'network'));
      assert.equal(rule, index % 3 === 2 ? 0 : index === 7 ? 1 : 2);
    }
});

test('twenty thousand rules over the same tool are judged and explained in good time', () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `permit **/t${index % 3} if args.n == ${index % 50}`);
  const agent = policyOf([writtenAgent(lines)]).agents.get('clerk') ?? assert.fail();
  const { judgement, looks } = agent.explain(callOf('a/t1', { n: 60 }, 'network'));
  assert.equal(judgement.by, 'default');
  assert.equal(looks.length, 1_000);
});
