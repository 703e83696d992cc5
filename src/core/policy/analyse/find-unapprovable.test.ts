import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aBudget } from '../../../../test/support/limits/written-quotas.ts';
import { writtenAgent } from '../../../../test/support/written-policy.ts';
import { type ApprovalTerms, defaultTerms } from '../../approval/approval.ts';
import type { WrittenPolicy } from '../policy.ts';
import { findUnapprovable } from './find-unapprovable.ts';

const terms = (change: Partial<ApprovalTerms>): ApprovalTerms => ({ ...defaultTerms, ...change });

interface Case {
  readonly terms: Partial<ApprovalTerms>;
  readonly roles?: WrittenPolicy['roles'];
  /** Who has a key; nobody knows if not given. */
  readonly keys?: readonly string[];
  readonly waitMs?: number;
}

const people = { finance: ['ann', 'bob'], robots: ['clerk'], both: ['ann', 'clerk'] };

function foundIn({ terms: change, roles = people, keys, waitMs = 60_000 }: Case): readonly string[] {
  const { rules, ...agent } = writtenAgent(['defer pay/out']);
  const deferring = rules.map((rule) => ({ ...rule, terms: terms(change) }));
  const policy: WrittenPolicy = { mode: 'enforce', ref: 'f:1', agents: [{ ...agent, rules: deferring }], roles };
  const found = findUnapprovable(policy, { waitMs, holders: keys === undefined ? null : new Set(keys) });
  return found.map(({ severity, field, message, fix }) => `${severity} ${field}: ${message}; ${fix}`);
}

const two = { roles: ['finance'], needed: 2 };
const noApprovers =
  'warning approvers: what is deferred for clerk names no approvers: every key of role approver or admin may approve; add approvers: [role] to the agent or the rule, and who has it under roles';
const add = (name: string) => `make one with: recourse agents add ${name} --role approver`;

const cases: readonly (readonly [what: string, given: Case, found: readonly string[]])[] = [
  ['a role that somebody has', { terms: { roles: ['finance'] } }, []],
  ['two of two people', { terms: two }, []],
  [
    'a role that is not there',
    { terms: { roles: ['finanse', 'finance'] } },
    ["error approvers: there is no role 'finanse' under roles: nobody could approve; did you mean finance?"],
  ],
  [
    'a role that is not there, where there are none',
    { terms: { roles: ['x'] }, roles: {} },
    ["error approvers: there is no role 'x' under roles: nobody could approve; add x under roles, with its people"],
  ],
  [
    'a role that nobody has',
    { terms: { roles: ['x'] }, roles: { x: [] } },
    ["error approvers: nobody has the role 'x': nobody could approve; add x under roles, with its people"],
  ],
  [
    'only the one who asks',
    { terms: { roles: ['robots'] } },
    [
      'error approvers: only clerk itself could approve as robots, and who asks may not; add other people to robots under roles',
    ],
  ],
  ['only the one who asks, and the user of its client', { terms: { roles: ['robots'], clientMayApprove: true } }, []],
  [
    'more people than there are',
    { terms: { ...two, needed: 3 } },
    [
      'error needs: 3 people must approve, and as finance only 2 could: ann, bob; add people to finance, or use needs: 2',
    ],
  ],
  [
    'the same people in two roles, one of them the agent',
    { terms: { roles: ['finance', 'both'], needed: 3 } },
    [
      'error needs: 3 people must approve, and as finance, both only 2 could: ann, bob; clerk itself may not; add people to finance, both, or use needs: 2',
    ],
  ],
  ['three of two people and the user of the client', { terms: { ...two, needed: 3, clientMayApprove: true } }, []],
  [
    'four of two people and the user of the client',
    { terms: { ...two, needed: 4, clientMayApprove: true } },
    [
      'error needs: 4 people must approve, and as finance only 3 could: ann, bob, the user of its client; add people to finance, or use needs: 3',
    ],
  ],
  ['no approvers at all', { terms: {} }, [noApprovers]],
  [
    'an expiry before the client stops waiting',
    { terms: { roles: ['finance'], expiresMs: 30_000 } },
    [
      'warning expires: this expires after 30s, and a client waits 1m for an approval; use expires: 1m or longer, or a smaller approval_wait_ms under runtime.limits',
    ],
  ],
  ['an expiry when the client stops waiting', { terms: { roles: ['finance'], expiresMs: 60_000 } }, []],
  ['a client that waits for less', { terms: { roles: ['finance'], expiresMs: 30_000 }, waitMs: 20_000 }, []],
  ['people with keys', { terms: two, keys: ['ann', 'bob'] }, []],
  ['a person without a key where one is enough', { terms: { roles: ['finance'] }, keys: ['bob'] }, []],
  [
    'people without keys',
    { terms: { roles: ['finance'] }, keys: ['operator'] },
    [`warning approvers: nobody of finance has a key of role approver or admin; ann, bob have none; ${add('ann')}`],
  ],
  [
    'too few keys',
    { terms: two, keys: ['bob', 'operator'] },
    [
      `warning approvers: 2 people must approve, and only bob of finance has a key of role approver or admin; ann has none; ${add('ann')}`,
    ],
  ],
  [
    'two of anybody, with one key',
    { terms: { needed: 2 }, keys: ['operator', 'clerk'] },
    [
      noApprovers,
      `warning approvers: 2 people must approve, and only operator has a key of role approver or admin; ${add('NAME')}`,
    ],
  ],
  [
    'two of anybody, with one key and the user of the client',
    { terms: { needed: 2, clientMayApprove: true }, keys: ['operator'] },
    [noApprovers],
  ],
  [
    'no keys at all',
    { terms: { roles: ['finance'] }, keys: [] },
    [`warning approvers: calls are deferred, and nobody has a key of role approver or admin; ${add('NAME')}`],
  ],
  [
    'no keys at all, and the user of the client is enough',
    { terms: { clientMayApprove: true }, keys: [] },
    [noApprovers],
  ],
];

for (const [what, given, found] of cases) test(what, () => assert.deepEqual(foundIn(given), found));

test('a default that defers is asked about as well, and what does not defer is not', () => {
  const agents = [
    writtenAgent(['permit a'], {
      agent: 'one',
      default: { effect: 'defer', ref: 'f:2', terms: terms({ roles: ['x'] }) },
    }),
    writtenAgent(['deny b'], { agent: 'two', default: { effect: 'permit', ref: 'f:3' } }),
    writtenAgent(['defer c'], { agent: 'three' }),
  ];
  const found = findUnapprovable({ mode: 'enforce', ref: 'f:1', agents }, { waitMs: 1, holders: new Set() });
  assert.deepEqual(
    found.map(({ agent, rule, severity }) => [agent, rule, severity]),
    [
      ['one', null, 'error'],
      ['three', 0, 'warning'],
      ['three', 0, 'warning'],
    ],
  );
});

test('a thousand roles named by a hundred thousand rules are looked through once', () => {
  const shared = terms({ roles: Array.from({ length: 1_000 }, (_, at) => `role${at}`) });
  const { rules, ...agent } = writtenAgent(['defer pay/out']);
  const many = Array.from({ length: 100_000 }, () => ({ ...rules[0]!, terms: { ...shared } }));
  const policy: WrittenPolicy = { mode: 'enforce', ref: 'f:1', agents: [{ ...agent, rules: many }], roles: people };
  assert.equal(findUnapprovable(policy, { waitMs: 1, holders: null }).length, 1_000);
});

const budgetCases: readonly (readonly [what: string, given: Case, found: readonly string[]])[] = [
  ['a role that somebody has', { terms: { roles: ['finance'] } }, []],
  [
    'a role that is not there',
    { terms: { roles: ['finanse'] } },
    ["error approvers: there is no role 'finanse' under roles: nobody could approve; did you mean finance?"],
  ],
  [
    'a role that nobody has',
    { terms: { roles: ['x'] }, roles: { x: [] } },
    ["error approvers: nobody has the role 'x': nobody could approve; add x under roles, with its people"],
  ],
  [
    'more people than there are',
    { terms: { roles: ['finance'], needed: 3 } },
    [
      'error needs: 3 people must approve, and as finance only 2 could: ann, bob; add people to finance, or use needs: 2',
    ],
  ],
  [
    'no approvers at all',
    { terms: {} },
    [
      'warning approvers: spending beyond the budget daily names no approvers: every key of role approver or admin may approve; add approvers: [role] to the budget, and who has it under roles',
    ],
  ],
  [
    'people without a key',
    { terms: { roles: ['finance'] }, keys: ['zoe'] },
    [`warning approvers: nobody of finance has a key of role approver or admin; ann, bob have none; ${add('ann')}`],
  ],
];

for (const owner of ['clerk', ''])
  for (const [what, { terms: change, roles = people, keys }, told] of budgetCases)
    test(`the end of a ${owner === '' ? 'shared ' : ''}budget defers to ${what}`, () => {
      const budgets = [
        aBudget('5 USD', { onExceed: 'defer', terms: terms(change) }),
        aBudget('5 USD', { name: 'free' }),
      ];
      const agent = writtenAgent(['permit **'], owner === '' ? {} : { budgets });
      const shared = owner === '' ? { budgets } : {};
      const policy: WrittenPolicy = { mode: 'enforce', ref: 'f:1', agents: [agent], roles, ...shared };
      const found = findUnapprovable(policy, { waitMs: 60_000, holders: keys === undefined ? null : new Set(keys) });
      assert.deepEqual(
        found.map(({ severity, part, message, fix }) => `${severity} ${part}: ${message}; ${fix}`),
        told,
      );
      for (const { agent: of, field, budget } of found)
        assert.deepEqual([of, field, budget], [owner, 'budgets', 'daily']);
    });
