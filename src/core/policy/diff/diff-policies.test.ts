import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { policyOf } from '../../../../test/support/open-approvals.ts';
import { type ApprovalTerms, defaultTerms } from '../../approval/approval.ts';
import { canonicalText } from '../../values/canonical.ts';
import type { Json } from '../../values/json.ts';
import type { Policy, WrittenAgent, WrittenPolicy, WrittenRule } from '../policy.ts';
import { diffPolicies } from './diff-policies.ts';
import type { Direction } from './policy-change.ts';

const rule = (
  effect: WrittenRule['effect'],
  match: string,
  line: number,
  more: Partial<WrittenRule> = {},
): WrittenRule => ({
  effect,
  match,
  when: null,
  reason: null,
  ref: `recourse.yaml:${line}`,
  ...more,
});
const agent = (rules: readonly WrittenRule[], more: Partial<WrittenAgent> = {}): WrittenAgent => ({
  agent: 'bot',
  ref: 'recourse.yaml:2',
  default: null,
  rules,
  ceiling: null,
  models: null,
  redact: [],
  ...more,
});
const policy = (agents: readonly WrittenAgent[], more: Partial<Pick<WrittenPolicy, 'mode' | 'roles'>> = {}): Policy =>
  policyOf({ agents, mode: 'enforce', roles: { finance: ['ann'], legal: ['eve'] }, ...more });

/** `! weaker`, `? maybe_weaker`, `~ other`, `^ stronger`, in the order in which they are told. */
const told = (before: Policy | null, after: Policy | null): readonly string[] =>
  diffPolicies(before, after).flatMap(({ agent: who, details }) =>
    details.map(({ says, direction }) => `${signs[direction]} ${who ?? '*'}: ${says}`),
  );
const signs: Readonly<Record<Direction, string>> = { weaker: '!', maybe_weaker: '?', other: '~', stronger: '^' };

const asks = (terms: Partial<ApprovalTerms>) => ({ terms: { ...defaultTerms, ...terms } });
const strict = asks({ roles: ['finance'], needed: 2, expiresMs: 3_600_000 });
const deferring = (more: Partial<WrittenRule> = strict) => policy([agent([rule('defer', 'pay/out', 5, more)])]);
const gated = (completion?: Partial<NonNullable<WrittenAgent['completion']>>) =>
  policy([
    agent(
      [],
      completion === undefined
        ? {}
        : { completion: { require: ['a/x', 'a/y'], when: null, condition: null, ref: '', ...completion } },
    ),
  ]);
const framed = (more: Partial<WrittenAgent>) => policy([agent([], more)]);
const ruled = (...rules: readonly WrittenRule[]) => policy([agent(rules)]);
const at = { ref: 'recourse.yaml:3' };

const weakenings: readonly (readonly [what: string, strong: Policy, weak: Policy, says: RegExp])[] = [
  [
    'fewer people',
    deferring(),
    deferring(asks({ ...strict.terms, needed: 1 })),
    /defer pay\/out: needs: 2 → 1 \(recourse\.yaml:5\)/,
  ],
  [
    'more roles',
    deferring(),
    deferring(asks({ ...strict.terms, roles: ['finance', 'legal'] })),
    /approvers: finance → finance, legal/,
  ],
  ['any approver', deferring(), deferring(asks({ ...strict.terms, roles: null })), /approvers: finance → any/],
  [
    "the client's user",
    deferring(),
    deferring(asks({ ...strict.terms, clientMayApprove: true })),
    /client_may_approve: false → true/,
  ],
  ['a longer time', deferring(), deferring(asks({ ...strict.terms, expiresMs: 7_200_000 })), /expires: 1h → 2h/],
  ['running by itself', deferring(), deferring(asks({ ...strict.terms, onApprove: 'run' })), /on_approve: wait → run/],
  [
    'more people in a role',
    ruled(),
    policy([agent([])], { roles: { finance: ['ann', 'bob'], legal: ['eve'] } }),
    /roles: finance: ann → ann, bob/,
  ],
  [
    'a new role',
    ruled(),
    policy([agent([])], { roles: { finance: ['ann'], legal: ['eve'], it: ['ida'] } }),
    /roles: it: none → ida/,
  ],
  ['no completion', gated({}), gated(), /completion: nothing is asked for any more/],
  ['a tool less to be called', gated({}), gated({ require: ['a/x'] }), /completion: require: a\/x, a\/y → a\/x/],
  [
    'a completion that sometimes counts',
    gated({}),
    gated({ when: 'session.seq > 1.0' }),
    /completion: when: none → session\.seq > 1\.0/,
  ],
  [
    'no condition of a completion',
    gated({ condition: 'session.seq > 1.0' }),
    gated({}),
    /completion: condition: session\.seq > 1\.0 → none/,
  ],
  [
    'a deny that defers',
    ruled(rule('deny', 'a/x', 5)),
    ruled(rule('defer', 'a/x', 5)),
    /defer a\/x: effect: deny → defer \(recourse\.yaml:5\)/,
  ],
  [
    'a defer that permits',
    ruled(rule('defer', 'a/x', 5)),
    ruled(rule('permit', 'a/x', 5)),
    /permit a\/x: effect: defer → permit/,
  ],
  ['a rule that permits', ruled(), ruled(rule('permit', 'a/x', 9)), /\+ permit a\/x \(recourse\.yaml:9\)/],
  [
    'a rule that defers what was denied',
    ruled(),
    ruled(rule('defer', 'a/x', 9, strict)),
    /\+ defer a\/x approvers finance needs 2 expires 1h \(/,
  ],
  [
    'a deny that goes',
    ruled(rule('deny', 'a/x', 5), rule('permit', 'a/*', 6)),
    ruled(rule('permit', 'a/*', 6)),
    /- deny a\/x/,
  ],
  [
    'a defer that goes',
    ruled(rule('defer', 'a/x', 5), rule('permit', '**', 6)),
    ruled(rule('permit', '**', 6)),
    /- defer a\/x/,
  ],
  [
    'a permit that always counts',
    ruled(rule('permit', 'a/x', 5, { when: 'args.n < 5.0' })),
    ruled(rule('permit', 'a/x', 5)),
    /permit a\/x: when: args\.n < 5\.0 → always/,
  ],
  [
    'a deny that sometimes counts',
    ruled(rule('deny', 'a/x', 5), rule('permit', '**', 6)),
    ruled(rule('deny', 'a/x', 5, { when: 'args.n > 5.0' }), rule('permit', '**', 6)),
    /deny a\/x: when: always → args\.n > 5\.0/,
  ],
  [
    'a deny behind a permit',
    ruled(rule('deny', 'a/x', 5), rule('permit', 'a/*', 6)),
    ruled(rule('permit', 'a/*', 5), rule('deny', 'a/x', 6)),
    /deny a\/x stands behind permit a\/\* now/,
  ],
  [
    'another default',
    framed({ default: { effect: 'deny', ...at } }),
    framed({ default: { effect: 'permit', ...at } }),
    /default: deny → permit/,
  ],
  [
    'a default that asks for less',
    framed({ default: { effect: 'defer', ...at, ...strict } }),
    framed({ default: { effect: 'defer', ...at, ...asks({ ...strict.terms, needed: 1 }) } }),
    /default: needs: 2 → 1/,
  ],
  [
    'a higher ceiling',
    framed({ ceiling: { reach: 'read_only', ...at } }),
    framed({ ceiling: { reach: 'network', ...at } }),
    /mode: read_only → network/,
  ],
  ['no ceiling', framed({ ceiling: { reach: 'network', ...at } }), framed({}), /mode: network → any/],
  [
    'more models',
    framed({ models: { allow: ['a-*'], ...at } }),
    framed({ models: { allow: ['a-*', 'b'], ...at } }),
    /models: "a-\*" → "a-\*", b/,
  ],
  ['less that is masked', framed({ redact: ['args.card'] }), framed({}), /redact: args\.card → none/],
  ['a new agent that may do something', policy([]), ruled(rule('permit', 'a/x', 5)), /1 rule, default deny/],
  ['audit mode', ruled(), policy([agent([])], { mode: 'audit' }), /mode: enforce → audit/],
];

for (const [what, strong, weak, says] of weakenings)
  test(`${what}: told as a weakening, and the way back as none`, () => {
    const [first, ...more] = told(strong, weak);
    assert.match(first ?? '', /^! /);
    assert.match(first ?? '', says);
    assert.deepEqual(more, []);
    assert.ok(
      told(weak, strong).every((line) => !line.startsWith('!')) && told(weak, strong).length > 0,
      told(weak, strong).join('\n'),
    );
    assert.deepEqual([told(strong, strong), told(weak, weak)], [[], []]);
  });

test('what cannot be told to be weaker is told nevertheless', () => {
  const told1 = (before: Policy, after: Policy) => told(before, after).join('\n');
  const reason = (text: string) => ruled(rule('deny', 'a/x', 5, { reason: text }));
  assert.equal(told1(reason('no'), reason('never')), '~ bot: deny a/x: reason: no → never (recourse.yaml:5)');
  const when = (text: string) => ruled(rule('permit', 'a/x', 5, { when: text }));
  assert.equal(
    told1(when('args.n < 5.0'), when('args.n < 9.0')),
    '? bot: permit a/x: when: args.n < 5.0 → args.n < 9.0 (recourse.yaml:5)',
  );
  const [one, other] = [rule('permit', 'a/*', 5), rule('deny', 'b/*', 6)];
  assert.equal(told1(ruled(one, other), ruled(other, one)), '~ bot: the rules stand in another order');
  assert.equal(told1(ruled(one), ruled(one, one)), '~ bot: + permit a/* (recourse.yaml:5)');
});

test('weakenings come first, within an agent and among agents', () => {
  const before = policy([agent([rule('permit', 'a/x', 5)]), agent([rule('deny', 'b', 6)], { agent: 'cat' })]);
  const after = policy([
    agent([rule('permit', 'a/x', 5, { reason: 'yes' })]),
    agent([], { agent: 'cat', redact: ['args.card'], default: { effect: 'permit', ...at } }),
  ]);
  assert.deepEqual(told(before, after), [
    '! cat: - deny b',
    '! cat: default: deny → permit',
    '^ cat: redact: none → args.card',
    '~ bot: permit a/x: reason: none → yes (recourse.yaml:5)',
  ]);
});

test('lines that moved are no difference; agents come and go', () => {
  assert.deepEqual(told(ruled(rule('permit', 'a/*', 4)), ruled(rule('permit', 'a/*', 40))), []);
  assert.deepEqual(told(ruled(), policy([])), ['^ bot: its calls are denied from now on']);
  assert.deepEqual(told(null, ruled()), ['~ bot: 0 rules, default deny']);
  assert.deepEqual(told(null, null), []);
});

const whole = policy(
  [
    agent(
      [rule('defer', 'pay/out', 5, { ...strict, when: 'args.n > 5.0', reason: 'money' }), rule('permit', 'a/*', 6)],
      {
        default: { effect: 'defer', ...at, ...strict },
        ceiling: { reach: 'network', ...at },
        models: { allow: ['m-*'], ...at },
        redact: ['args.card'],
        completion: { require: ['a/x'], when: 'session.seq > 1.0', condition: 'session.seq > 2.0', ref: '' },
      },
    ),
  ],
  { mode: 'audit' },
);

type Path = readonly (string | number)[];

function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  const inside = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [path, ...inside.flatMap(([key, each]) => pathsIn(each, [...path, Array.isArray(value) ? Number(key) : key]))];
}

/** The value at a path replaced; undefined takes it away. */
function replaced(value: unknown, [step, ...rest]: Path, by: unknown): unknown {
  if (step === undefined) return by;
  if (Array.isArray(value))
    return value.flatMap((each, at): unknown[] => {
      const next: unknown = at === step ? replaced(each, rest, by) : (each as unknown);
      return next === undefined ? [] : [next];
    });
  const next = replaced((value as Record<string, unknown>)[step], rest, by);
  const { [step]: _, ...others } = value as Record<string, unknown>;
  return next === undefined ? others : { ...others, [step]: next };
}

test('whatever moves the hash is told, also a field that nobody has heard of', () => {
  const text = JSON.parse(whole.canonical) as Json;
  const paths = pathsIn(text).filter((path) => path.length > 0);
  const other = fc.constantFrom<unknown>(undefined, null, true, false, 7, 'zzz', [], ['zzz'], {});
  const isAgent = (path: Path) => path.length <= 2 && path[0] === 'agents';
  let moved = 0;
  const property = fc.property(fc.constantFrom(...paths), other, fc.boolean(), (path, by, isNew) => {
    // Agents and their lists of rules keep their form; everything in them may become anything.
    if (!isNew && (isAgent(path) || path.at(-1) === 'rules' || typeof path.at(-1) === 'number')) return;
    const place = isNew ? [...path.slice(0, -1), 'unheard_of'] : path;
    const around = isNew && typeof path.at(-1) === 'number' ? path : place;
    if (isNew && (around !== place || (path[0] === 'agents' && path.length === 2))) return;
    const canonical = canonicalText(replaced(text, place, by) as Json);
    if (canonical === whole.canonical) return;
    moved += 1;
    const after = { ...whole, canonical };
    assert.ok(told(whole, after).length > 0, `${place.join('.')} became ${JSON.stringify(by)}`);
    assert.ok(told(after, whole).length > 0, `and back: ${place.join('.')}`);
  });
  fc.assert(property, { seed: 20_261_117, numRuns: 3_000 });
  assert.ok(moved > 500, String(moved));
});
