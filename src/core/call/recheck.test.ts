import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anApproval } from '../../../test/conformance/approval-fixtures.ts';
import { aPolicyFact } from '../../../test/support/gate-facts.ts';
import { aCatalogue, aRequest, aTool, facts } from '../../../test/support/builders.ts';
import { aModelUse } from '../../../test/support/models/a-model-use.ts';
import type { Approval } from '../approval/approval.ts';
import type { PolicyFact } from '../gates/facts.ts';
import { baseLadder, workflowLadder } from './decide.ts';
import { recheck, resendLadder } from './recheck.ts';

const permits = aPolicyFact([['permit', 'pay']]);
const defers = aPolicyFact([['defer', 'pay']]);
const denies = aPolicyFact([['deny', 'pay']]);
const readsModel = aPolicyFact([['permit', 'pay', { when: "model == 'opus'" }]]);
const stranger: PolicyFact = { mode: 'enforce', agent: null, ref: 'recourse.yaml:4' };
const revoked = anApproval({ state: 'revoked' });
const used = anApproval({ state: 'used' });
const pending = anApproval({ state: 'pending' });
const needsApproval = { kind: 'need', fact: 'approval' };
const permitted = { kind: 'permitted' };
const notApproved = { kind: 'denied', message: 'pay is not approved' };
const takenBack = { kind: 'denied', message: 'the approval of pay was revoked' };

const cases: readonly (readonly [string, PolicyFact | undefined, Approval | null | undefined, object])[] = [
  ['without a policy it may be sent again, whatever became of its approval', undefined, revoked, permitted],
  ['in audit mode it may be sent again', { ...denies, mode: 'audit' }, undefined, permitted],
  ['a rule that denies now is heard before the approval is fetched', denies, undefined, { kind: 'denied' }],
  ['an agent that is no longer declared is denied', stranger, undefined, { kind: 'denied' }],
  ['a rule that reads the model denies, for it is not on record', readsModel, undefined, { kind: 'denied' }],
  ['a permitted call asks for its approval, which may have been revoked', permits, undefined, needsApproval],
  ['a permitted call without an approval may be sent again', permits, null, permitted],
  ['a permitted call whose approval was revoked may not', permits, revoked, takenBack],
  ['a deferred call asks for its approval', defers, undefined, needsApproval],
  ['a deferred call that has used its approval may be sent again', defers, used, permitted],
  ['a deferred call whose approval is pending may not', defers, pending, notApproved],
  ['a deferred call that never had an approval may not', defers, null, notApproved],
  ['a deferred call whose approval was revoked may not', defers, revoked, takenBack],
];

for (const [behaviour, policy, approval, expected] of cases) {
  test(behaviour, () => {
    const answer = recheck(aRequest(), facts(policy === undefined ? {} : { policy }), approval);
    assert.deepEqual({ ...answer, ...expected }, answer);
  });
}

test('the gates that are asked again stand on both ladders, in the same order', () => {
  const again = resendLadder.map(({ name }) => name);
  for (const ladder of [baseLadder, workflowLadder]) {
    const names = [...new Set(ladder.map(({ name }) => name))];
    assert.deepEqual(
      names.filter((name) => again.includes(name)),
      again,
    );
  }
});

test('the model that the arguments ask for is judged again, and who asked for it is not', () => {
  const chat = aTool({ name: 'chat', models: aModelUse('opus') });
  const allowing = (...allow: readonly string[]) => ({
    catalogue: aCatalogue(chat),
    policy: aPolicyFact([['permit', 'chat']], { models: { allow, ref: 'recourse.yaml:8' } }),
  });
  const ask = (...allow: readonly string[]) => recheck(aRequest({ tool: 'chat' }), facts(allowing(...allow)), null);
  assert.deepEqual(ask('opus'), permitted);
  assert.deepEqual(ask('haiku'), { kind: 'denied', message: "denied: model 'opus' is not permitted" });
});
