/** What covers what, and who may say it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultTerms, joinObligations, nameOf, type ApprovalTerms } from './approval.ts';

const joined = (...terms: readonly Partial<ApprovalTerms>[]) =>
  joinObligations(terms.map((each) => ({ ref: 'recourse.yaml:1', reason: null, terms: { ...defaultTerms, ...each } })));

test('of several obligations the strictest of each term counts', () => {
  const cases: readonly [readonly Partial<ApprovalTerms>[], Partial<ApprovalTerms>][] = [
    [[{ needed: 1 }, { needed: 3 }], { needed: 3 }],
    [[{ expiresMs: 5_000 }, { expiresMs: 1_000 }], { expiresMs: 1_000 }],
    [[{ onApprove: 'run' }, { onApprove: 'wait' }], { onApprove: 'wait' }],
    [[{ onApprove: 'run' }, { onApprove: 'run' }], { onApprove: 'run' }],
    [[{ clientMayApprove: true }, { clientMayApprove: false }], { clientMayApprove: false }],
    [[{ roles: ['finance', 'board'] }, { roles: ['board'] }], { roles: ['board'] }],
    [[{ roles: null }, { roles: ['board'] }], { roles: ['board'] }],
    [[{ roles: ['finance'] }, { roles: ['board'] }], { roles: [] }],
  ];
  for (const [terms, expected] of cases) assert.deepEqual(joined(...terms), { ...defaultTerms, ...expected });
});

test("no person has the name of a client's user: theirs hold no spaces", () => {
  assert.equal(nameOf({ kind: 'client', tenant: 'default', agent: 'support' }), 'the user of support');
});
