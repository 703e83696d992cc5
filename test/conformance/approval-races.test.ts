/** Several who ask at once for one approved call: who loses leaves the winner alone. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { defaultTerms } from '../../src/core/approval/approval.ts';
import { anAgent } from '../support/a-policy.ts';
import { errorOf } from '../support/check-reply.ts';
import { ana, fileOf, openApprovals } from '../support/open-approvals.ts';
import { createHeldTool } from '../support/tools.ts';

const ask = { tool: 'payments/refund', args: { amount: 100 } };

test('[C6-approval-2] a call that many asked for at once can still be cancelled by whoever has it', async (t) => {
  const refund = createHeldTool(ask.tool);
  const { rules, ...agent } = anAgent('local', [['defer', ask.tool]]);
  const agents = [{ ...agent, rules: rules.map((rule) => ({ ...rule, terms: defaultTerms })) }];
  const { call, approvals, gateway } = await openApprovals(t, [refund.definition], { agents });
  const { resolution } = errorOf(await call(ask), 'denied');
  assert.ok(resolution.type === 'pending_approval');
  assert.ok((await approvals.approve(resolution.approval_id, ana, {})).ok);
  const replies = Array.from({ length: 10 }, () => call(ask));
  const run = await refund.begun();
  // All but the winner have been told to wait for another approval.
  const losers = new Set<unknown>();
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  for (const reply of replies) void reply.then((given) => losers.add(given).size === replies.length - 1 && resolve());
  await lost;
  assert.equal(await gateway.cancel({ call: run.context.call_id }), 'cancelled');
  assert.ok(run.context.signal.aborted, 'the body that runs is told');
  const given = await Promise.all(replies);
  const codes = given.map((reply) => ('error' in reply ? reply.code : 'success')).sort();
  assert.deepEqual(codes, [...Array.from({ length: 9 }, () => 'POLICY_DEFER'), 'ToolCancelled'].sort());
});

/** A process that owns the store of this test, and can be stopped. */
async function anOwner(t: TestContext) {
  const script = path.join(import.meta.dirname, 'store-child.ts');
  const child = spawn(process.execPath, [script, 'hold', fileOf(t)], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test('[C6-approval-18] of equal calls under several keys that ask while the owner is stopped one has the approved call, and each key its own answer', async (t) => {
  const owner = await anOwner(t);
  const refund = createHeldTool(ask.tool);
  const { rules, ...agent } = anAgent('local', [['defer', ask.tool]]);
  const agents = [{ ...agent, rules: rules.map((rule) => ({ ...rule, terms: defaultTerms })) }];
  const { call, approvals, gateway } = await openApprovals(t, [refund.definition], { agents });
  assert.equal(gateway.role, 'forwarder');
  const keys = ['k1', 'k2', 'k3'];
  const asked = (key: string) => call({ ...ask, key });
  const deferred = await Promise.all(keys.map(asked));
  const ids = new Set(deferred.map((reply) => errorOf(reply, 'denied').resolution));
  const [first] = [...ids];
  assert.ok(first?.type === 'pending_approval');
  assert.ok((await approvals.approve(first.approval_id, ana, {})).ok);

  owner.kill('SIGSTOP');
  const replies = keys.map(asked);
  // Longer than a commit waits for its answer: nobody can say whether the owner has it.
  await pause(11_000);
  owner.kill('SIGCONT');
  (await refund.begun()).finish('refunded');
  const given = await Promise.all(replies);
  const successes = given.filter((reply) => 'result' in reply);
  assert.equal(successes.length, 1, JSON.stringify(given));
  const others = given.filter((reply) => !('result' in reply)).map((reply) => errorOf(reply, 'denied'));
  assert.ok(others.every(({ code, call_id: id }) => code === 'POLICY_DEFER' && id !== successes[0]?.call_id));
  assert.equal(refund.runs.length, 1);
  // Asked again, each key hears the same: its own result, or that it waits.
  const again = await Promise.all(keys.map(asked));
  for (const [at, reply] of again.entries())
    assert.equal('result' in reply, 'result' in (given[at] ?? {}), JSON.stringify(reply));
});
