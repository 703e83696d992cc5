import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCatalogue, aRequest, aTool, facts } from '../../../test/support/builders.ts';
import { answerOf, aPolicyFact } from '../../../test/support/gate-facts.ts';
import type { SessionId } from '../call/call.ts';
import type { Facts, PolicyFact, SessionFact } from './facts.ts';
import { neverPermitted, policy } from './policy.ts';

const by = (fact: PolicyFact, more: Partial<Facts> = {}) => facts({ policy: fact, ...more });
const readOnly = { ...facts().session, id: 'ses_1~read_only' as SessionId } as SessionFact;
const ofAmount = aPolicyFact([['permit', 'pay', { when: 'args.amount > 4' }]]);
const stranger: PolicyFact = { mode: 'enforce', agent: null, ref: 'recourse.yaml:4' };
const denied = 'refuse POLICY_DENY';

/** What the gate answers before the input is looked at, and after. */
const cases: readonly (readonly [string, Facts, string, string])[] = [
  ['passes without a policy', facts(), 'pass', 'pass'],
  ['passes what a rule permits', by(aPolicyFact([['permit', 'pay']])), 'pass', 'pass'],
  ['passes what a rule defers, for the approval gate to hold', by(aPolicyFact([['defer', 'pay']])), 'pass', 'pass'],
  [
    'refuses what no call could be permitted, before its input is looked at',
    by(aPolicyFact([['deny', 'pay']])),
    denied,
    denied,
  ],
  ['refuses what no rule names', by(aPolicyFact([])), denied, denied],
  ['refuses an agent that policy does not know', by(stranger), denied, denied],
  [
    'judges a condition on arguments only after the input',
    by(ofAmount, { arguments: { ok: true, args: { amount: 4 } } }),
    'pass',
    denied,
  ],
  [
    'judges the arguments as the validator left them',
    by(ofAmount, { arguments: { ok: true, args: { amount: 5 } } }),
    'pass',
    'pass',
  ],
  ['denies where a condition cannot be evaluated', by(ofAmount), 'pass', denied],
  [
    'refuses what is beyond the ceiling of the session, with or without a policy',
    facts({ session: readOnly }),
    denied,
    denied,
  ],
  [
    'passes a tool that is not there, early: that is for `known` to say',
    by(stranger, { catalogue: aCatalogue() }),
    'pass',
    'throws',
  ],
];

for (const [behaviour, given, early, late] of cases)
  test(behaviour, () => {
    assert.equal(answerOf(neverPermitted, {}, given), early);
    if (late === 'throws') assert.throws(() => answerOf(policy, {}, given), /policy is asked about tools that exist/);
    else assert.equal(answerOf(policy, {}, given), late);
  });

test('the first rule that matches decides, and the answer names it', () => {
  const rules = by(
    aPolicyFact([
      ['permit', 'look'],
      ['permit', 'pay'],
      ['deny', '*'],
    ]),
  );
  assert.deepEqual(policy.check(aRequest(), rules, []), { kind: 'pass', rule: 'recourse.yaml:11' });
});

test('a deferred call passes with an obligation', () => {
  const answer = policy.check(aRequest(), by(aPolicyFact([['defer', 'pay', { reason: 'ask' }]])), []);
  assert.ok(answer.kind === 'pass');
  assert.deepEqual([answer.obligation?.ref, answer.obligation?.reason], ['recourse.yaml:10', 'ask']);
});

test('the ceiling of a session is named before an agent that is not known', () => {
  const given = by(stranger, { session: readOnly, catalogue: aCatalogue(aTool()) });
  const answer = policy.check(aRequest(), given, []);
  assert.ok(answer.kind === 'refuse');
  assert.match(answer.refusal.message, /beyond what this session may reach \(read_only\)/);
});
