/** What the commit of an intent records and takes: the part of each rider. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { JsonObject } from '../../core/values/json.ts';
import { anAgent } from '../../../test/support/a-policy.ts';
import {
  anAsked,
  approvedRefund,
  nextOf,
  openJob,
  openShell,
  permitAll,
  prepared,
} from '../../../test/support/an-asked.ts';
import { successOf } from '../../../test/support/check-reply.ts';
import { ask, refunds } from '../../../test/support/refunds.ts';
import { aTool } from '../../../test/support/tools.ts';
import type { CommitParts } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';
import { intentParts } from './intent.ts';
import { take } from './take.ts';

const pay = { tool: 'pay', args: { amount: 1 } };
const paying = [aTool('pay', () => 'paid')];

const bodyOf = ({ body }: CommitParts): JsonObject => body?.prepared ?? {};

async function partsOf(shell: Shell, raw: object) {
  const { intent, call } = await prepared(anAsked(shell, raw), shell);
  return { parts: intentParts(intent, shell), intent, call };
}

test('the call: who asked for what, with which arguments, in an open session', async (t) => {
  const { shell } = await openShell(t, paying);
  const { parts, call } = await partsOf(shell, { ...pay, turn: 't1', expected_seq: 0 });
  const { tenant, agent, tool, turn, effect_class: effectClass, deadline_ms: deadline } = bodyOf(parts);
  assert.deepEqual([tenant, agent, tool, turn, effectClass], ['default', 'local', 'pay', 't1', 'plain']);
  assert.deepEqual([deadline, parts.expectSeq, parts.expectOpen], [call.deadlineAtMs, 0, true]);
  assert.deepEqual(parts.payloads?.prepared, [{ part: 'args', text: '{"amount":1}' }]);
  assert.deepEqual([parts.key, parts.workflow, parts.approvals], [undefined, undefined, []]);
});

const always2 = { '~standard': { version: 1, vendor: 'test', validate: () => ({ value: { amount: 2 } }) } };

test('the call: what a validator changed is on record beside what was sent', async (t) => {
  const { shell } = await openShell(t, [aTool('pay', () => 'paid', { input: always2 })]);
  const { parts } = await partsOf(shell, pay);
  assert.deepEqual(parts.payloads?.prepared, [
    { part: 'args', text: '{"amount":2}' },
    { part: 'args_as_sent', text: '{"amount":1}' },
  ]);
});

const masks = anAgent('local', [['permit', 'pay']], { redact: ['args.card'] });

test('the call: what policy masks is not on record', async (t) => {
  const { shell } = await openShell(t, paying, { agents: [masks] });
  const { parts } = await partsOf(shell, { tool: 'pay', args: { card: '4111' } });
  assert.doesNotMatch(JSON.stringify(parts.payloads), /4111/);
});

test('the key: claimed for this call and its fingerprint', async (t) => {
  const { shell } = await openShell(t, paying);
  const { parts, call } = await partsOf(shell, { ...pay, key: 'k' });
  const { id: callId, fingerprint } = call;
  const { keyRetentionMs: keepMs } = shell.limits;
  assert.deepEqual(parts.key, { tenant: 'default', agent: 'local', key: 'k', fingerprint, callId, keepMs });
});

test('the tool, its playbook and the policy: their texts go along until a commit has carried them, their hashes always', async (t) => {
  const { shell, call } = await openShell(t, paying);
  const before = (await partsOf(shell, pay)).parts;
  const { manifest, policy, playbook } = bodyOf(before);
  assert.deepEqual(before.blobs?.map(({ hash }) => hash).toSorted(), [manifest, policy, playbook].toSorted());
  successOf(await call(pay));
  const after = (await partsOf(shell, pay)).parts;
  assert.deepEqual([after.blobs, bodyOf(after)['manifest'], bodyOf(after)['policy']], [[], manifest, policy]);
});

test('the policy: on record is the one that decided, also if another is in force by now', async (t) => {
  const { shell, change } = await openShell(t, paying);
  const { intent } = await partsOf(shell, pay);
  const decided = shell.policy();
  change({ agents: [permitAll, anAgent('other', [])] });
  const { sha256 } = shell.ports;
  const { policy } = bodyOf(intentParts(intent, shell));
  assert.equal(policy, sha256(decided?.canonical ?? ''));
  assert.notEqual(policy, sha256(shell.policy()?.canonical ?? ''));
});

test('the policy: the rule that permitted, and what audit mode let pass', async (t) => {
  const ruled = await openShell(t, paying, { agents: [masks] });
  assert.equal(bodyOf((await partsOf(ruled.shell, pay)).parts)['rule'], 'recourse.yaml:10');
  ruled.change({ agents: [anAgent('local', [['deny', 'pay']])], mode: 'audit' });
  const softened = [{ gate: 'policy', code: 'POLICY_DENY', rule: 'recourse.yaml:10' }];
  assert.deepEqual(bodyOf((await partsOf(ruled.shell, pay)).parts)['softened'], softened);
});

test('the workflow: the turn is taken, from the one state for which the step was decided', async (t) => {
  const { shell, work } = await openJob(t);
  const { parts, call, intent } = await partsOf(shell, work());
  const { state_before: before, step, workflow } = bodyOf(parts);
  assert.deepEqual([before, step, (workflow as JsonObject)['name']], [intent.step?.digest, 0, 'job']);
  const { turn, call: taker, snapshot, fence } = parts.workflow ?? assert.fail('no change of the workflow');
  assert.deepEqual([parts.expectSeq, turn, taker, snapshot, fence], [0, 'take', call.id, null, null]);
});

async function takenRefund(t: TestContext, args?: { amount: number }) {
  const opened = await openShell(t, [aTool('payments/refund', () => 'done')], { agents: [refunds()] });
  const { shell } = opened;
  const { approval, waiting } = await approvedRefund(opened, args);
  const asked = anAsked(shell, ask);
  const { intent } = nextOf(await take(asked, await prepared(asked, shell), shell));
  return { parts: intentParts(intent, shell), approval, waiting, asked };
}

test('the approval: used up against the version that was read, with a record for whom', async (t) => {
  const { parts, approval, waiting, asked } = await takenRefund(t);
  const [write] = parts.approvals ?? [];
  assert.deepEqual([write?.approval.state, write?.expect, parts.approvals?.length], ['used', approval.version, 1]);
  const [used] = parts.notes ?? [];
  assert.deepEqual([used?.kind, used?.call], ['approval_used', waiting]);
  const body = { approval: approval.id, approved_by: ['ana'], asked_as: asked.call.id };
  assert.deepEqual(JSON.parse(used?.body ?? '{}'), body);
});
