/** Several who ask at once for one approved call: who loses leaves the winner alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultTerms } from '../../src/core/approval.ts';
import { anAgent } from '../support/a-policy.ts';
import { errorOf } from '../support/check-reply.ts';
import { ana, openApprovals } from '../support/open-approvals.ts';
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
