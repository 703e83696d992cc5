import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anApproval } from '../../../test/conformance/approval-fixtures.ts';
import { aRequest, facts } from '../../../test/support/builders.ts';
import { answerOf, anApprovalFact, anObligation, aPolicyFact } from '../../../test/support/gate-facts.ts';
import type { Approval, ApprovalState, Obligation } from '../approval/approval.ts';
import type { CallId } from '../call/call.ts';
import { approval } from './approval.ts';
import type { ApprovalFact } from './facts.ts';

const given = (change: Partial<ApprovalFact>) => facts({ approval: anApprovalFact(change) });
const found = (state: ApprovalState, change: Partial<Approval> = {}, fact: Partial<ApprovalFact> = {}) =>
  given({ found: anApproval({ state, rules: 'r', openedAtMs: 0, expiresAtMs: 9_000, ...change }), ...fact });
const full = { now: 10, max: 10 };
const one = [anObligation];
const two = [{ ...anObligation, terms: { ...anObligation.terms, needed: 2 } }];

const cases: readonly (readonly [string, readonly Obligation[], ReturnType<typeof facts>, string])[] = [
  ['passes a call that no rule defers', [], facts(), 'pass'],
  ['needs the approval of a deferred call', one, facts(), 'need approval'],
  ['holds a call without an approval', one, given({}), 'hold POLICY_DEFER'],
  ['holds while the approval is pending', one, found('pending'), 'hold POLICY_DEFER'],
  ['passes once it is granted', one, found('granted'), 'pass'],
  ['passes a call that ran under its approval', one, given({ ran: 'call_9' as CallId }), 'pass'],
  ['refuses what a person denied', one, found('denied'), 'refuse POLICY_DENY'],
  ['refuses it also with other evidence', one, found('denied', { evidence: 'e' }), 'refuse POLICY_DENY'],
  ['asks again once the denial has expired', one, found('denied', { expiresAtMs: 500 }), 'hold POLICY_DEFER'],
  ['asks again if the rules have changed since', one, found('granted', { rules: 'old' }), 'hold POLICY_DEFER'],
  ['asks again if the evidence is other', one, found('granted', { evidence: 'e' }), 'hold POLICY_DEFER'],
  ['asks again if more people must approve now', two, found('granted'), 'hold POLICY_DEFER'],
  ['asks again if the approval is used up', one, found('used'), 'hold POLICY_DEFER'],
  ['asks again if the approval was revoked', one, found('revoked'), 'hold POLICY_DEFER'],
  ['refuses to open one more than an agent may have', one, given({ open: full }), 'refuse POLICY_DENY'],
  [
    'counts a pending approval that is replaced as free',
    one,
    found('pending', { evidence: 'e' }, { open: full }),
    'hold POLICY_DEFER',
  ],
];

for (const [behaviour, obligations, known, expected] of cases)
  test(behaviour, () => assert.equal(answerOf(approval, {}, known, obligations), expected));

test('a held call says whether its approval is shared, new, or takes the place of another', () => {
  const heldFor = (known: ReturnType<typeof facts>) => {
    const answer = approval.check(aRequest(), known, one);
    assert.ok(answer.kind === 'hold' && answer.approval !== null);
    const held = answer.approval;
    return held.kind === 'shared' ? 'shared' : `fresh${held.replaces === null ? '' : ` for ${held.replaces.state}`}`;
  };
  assert.equal(heldFor(found('pending')), 'shared');
  assert.equal(heldFor(given({})), 'fresh');
  assert.equal(heldFor(found('used')), 'fresh for used');
});

test('audit mode holds without looking for an approval, and opens none', () => {
  const audit = facts({ policy: aPolicyFact([], {}, 'audit') });
  const answer = approval.check(aRequest(), audit, one);
  assert.ok(answer.kind === 'hold');
  assert.equal(answer.approval, null);
});
