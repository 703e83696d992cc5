import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { policyOf, ruleCall, writtenAgent } from '../../../../test/support/written-policy.ts';
import { type ApprovalTerms, defaultTerms } from '../../approval/approval.ts';
import type { Judgement, Policy, WrittenRule } from '../policy.ts';
import { diffPolicies } from './diff-policies.ts';

interface Said {
  readonly text: string;
  readonly terms?: Partial<ApprovalTerms>;
}

const asks = (text: string, terms: Partial<ApprovalTerms>): Said => ({ text, terms });
const ruled = (rules: readonly (Said | string)[], otherwise: WrittenRule['effect'] = 'deny'): Policy => {
  const said = rules.map((each) => (typeof each === 'string' ? { text: each } : each));
  const agent = writtenAgent(
    said.map(({ text }) => text),
    { default: { effect: otherwise, ref: 'recourse.yaml:3' } },
  );
  const withTerms = agent.rules.map((rule, at) => ({ ...rule, terms: { ...defaultTerms, ...said[at]?.terms } }));
  return policyOf([{ ...agent, rules: withTerms }]);
};

const told = (before: Policy, after: Policy): readonly string[] =>
  diffPolicies(before, after).flatMap(({ details }) =>
    details.map(({ says, direction }) => `${direction} ${says.replace(/ \(recourse\.yaml:\d+\)$/, '')}`),
  );

const strict = asks('defer h/pay', { needed: 2, expiresMs: 3_600_000 });
const lax = asks('defer h/**', { clientMayApprove: true, expiresMs: 30 * 86_400_000 });
const small = asks('defer h/pay if args.n < 1000000', { clientMayApprove: true });
const both = ruled([strict, lax]);
const strictText = 'defer h/pay needs 2 expires 1h';
const laxText = 'defer h/** expires 30d client_may_approve true';

const changes: readonly (readonly [what: string, before: Policy, after: Policy, says: readonly string[]])[] = [
  ['a strict deferral goes', both, ruled([lax]), [`weaker - ${strictText}`]],
  ['it comes back', ruled([lax]), both, [`stronger + ${strictText}`]],
  [
    'one that asks for less comes in front',
    both,
    ruled([small, strict, lax]),
    ['weaker + defer h/pay when args.n < 1000000 client_may_approve true'],
  ],
  [
    'a strict deferral counts sometimes',
    both,
    ruled([asks('defer h/pay if args.n > 1000000', strict.terms ?? {}), lax]),
    ['weaker defer h/pay: when: always → args.n > 1000000'],
  ],
  ['two deferrals change places', both, ruled([lax, strict]), [`weaker ${strictText} stands behind ${laxText} now`]],
  ['and back', ruled([lax, strict]), both, ['other the rules stand in another order']],
  [
    'a strict deferral goes, and the default asks for less',
    ruled([strict], 'defer'),
    ruled([], 'defer'),
    [`weaker - ${strictText}`],
  ],
  [
    'another condition, where others answer otherwise',
    ruled(['deny h/pay if args.n > 5', lax]),
    ruled(['deny h/pay if args.n > 9', lax]),
    ['maybe_weaker deny h/pay: when: args.n > 5 → args.n > 9'],
  ],
  [
    'another condition, where others answer the same',
    ruled(['deny h/pay if args.n > 5']),
    ruled(['deny h/pay if args.n > 9']),
    ['other deny h/pay: when: args.n > 5 → args.n > 9'],
  ],
  [
    'a condition goes that another may stand in for',
    ruled(['deny h/pay if args.n > 5', 'deny h/pay if args.n > 4', 'permit **']),
    ruled(['deny h/pay if args.n > 4', 'permit **']),
    ['maybe_weaker - deny h/pay when args.n > 5'],
  ],
  [
    'two conditions change places',
    ruled(['deny h/pay if args.n > 5', 'permit h/pay if args.n > 9']),
    ruled(['permit h/pay if args.n > 9', 'deny h/pay if args.n > 5']),
    ['maybe_weaker deny h/pay when args.n > 5 stands behind permit h/pay when args.n > 9 now'],
  ],
  ['a deny in front', both, ruled(['deny h/*', strict, lax]), ['stronger + deny h/*']],
  ['a deny in front of denials', ruled(['deny h/pay']), ruled(['deny h/*', 'deny h/pay']), ['other + deny h/*']],
  ['a deferral that denies', both, ruled(['deny h/pay', lax]), ['stronger deny h/pay: effect: defer → deny']],
  [
    'a deny behind all permits, before a default that denies',
    ruled(['permit h/a', 'deny **']),
    ruled(['permit h/a']),
    ['other - deny **'],
  ],
  [
    'a rule that never decided goes',
    ruled(['permit h/**', 'deny h/pay']),
    ruled(['permit h/**']),
    ['other - deny h/pay'],
  ],
  [
    'rules for other tools change places',
    ruled(['deny a/x', 'permit b/x']),
    ruled(['permit b/x', 'deny a/x']),
    ['other the rules stand in another order'],
  ],
];

for (const [what, before, after, says] of changes)
  test(`${what}: told as ${says.map((each) => each.split(' ', 1)[0]).join()}`, () => {
    assert.deepEqual(told(before, after), says);
  });

const effects = { deny: 0, defer: 1, permit: 2 } as const;

/** More passes, or with less. */
function isWeaker(was: Judgement, is: Judgement): boolean {
  if (was.effect !== is.effect) return effects[is.effect] > effects[was.effect];
  const [before, after] = [was.terms ?? defaultTerms, is.terms ?? defaultTerms];
  return (
    after.needed < before.needed ||
    after.expiresMs > before.expiresMs ||
    (after.clientMayApprove && !before.clientMayApprove)
  );
}

const aRule = fc
  .record({
    effect: fc.constantFrom('deny', 'defer', 'defer', 'permit'),
    match: fc.constantFrom('h/pay', 'h/p*', 'h/*y', 'h/*', 'h/**', '**', 'g/pay'),
    when: fc.constantFrom('', '', ' if args.n < 5', ' if args.n > 2', ' if args.n > 7'),
    terms: fc.constantFrom<Partial<ApprovalTerms>>(
      {},
      { needed: 2 },
      { clientMayApprove: true },
      { expiresMs: 5 * 60_000 },
    ),
  })
  .map(({ effect, match, when, terms }) => asks(`${effect} ${match}${when}`, terms));
const aList = fc.array(aRule, { maxLength: 5 });
const aDefault = fc.constantFrom('deny', 'defer', 'permit');

/** Another list, or the same with one rule less, more, elsewhere or changed. */
const aChange = fc
  .tuple(aList, aList, fc.nat(4), fc.nat(4), aRule, fc.nat(4))
  .map(([was, other, at, to, rule, how]) => {
    const rest = was.toSpliced(at, 1);
    const moved = was[at] === undefined ? was : rest.toSpliced(to, 0, was[at]);
    return { was, is: [other, rest, was.toSpliced(at, 0, rule), moved, was.toSpliced(at, 1, rule)][how] ?? other };
  });

test('INVARIANT: where nothing is told to be weaker, or that it may be, no call gets a weaker answer', () => {
  const calls = ['h/pay', 'h/pray', 'h/put', 'h/toy', 'h/a/b', 'g/pay', 'x'].flatMap((tool) =>
    [0, 3, 6, 9].map((n) => ruleCall(tool, { args: { n } })),
  );
  const judged = (policy: Policy, call: (typeof calls)[number]) =>
    policy.agents.get('clerk')?.judge(call) ?? assert.fail('no such agent');
  let unmarked = 0;
  const property = fc.property(aChange, aDefault, aDefault, ({ was, is }, otherwise, now) => {
    const [before, after] = [ruled(was, otherwise), ruled(is, now)];
    const lines = told(before, after);
    if (lines.some((line) => /^(?:maybe_)?weaker /.test(line))) return;
    unmarked += lines.length > 0 ? 1 : 0;
    for (const call of calls)
      assert.ok(
        !isWeaker(judged(before, call), judged(after, call)),
        `${JSON.stringify([call.tool.name, call.args])} in ${JSON.stringify([was, is, otherwise, now, lines])}`,
      );
  });
  fc.assert(property, { seed: 20_261_118, numRuns: 3_000 });
  assert.ok(unmarked > 300, String(unmarked));
});
