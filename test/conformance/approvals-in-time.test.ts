/** CONTRACT section 6, Approvals: what ends while a call is being decided or sent, and what its reply still says. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { test } from 'node:test';
import type { CallId } from '../../src/core/call/call.ts';
import { errorOf, successOf } from '../support/check-reply.ts';
import { ana, fileOf, openApprovals } from '../support/open-approvals.ts';
import { ask, deferralOf, refunds } from '../support/refunds.ts';
import { createShiftedClock } from '../support/shifted-clock.ts';
import { aTool, createCountingTool } from '../support/tools.ts';

test('[C6-approval-19] an approval that expires while the gates are asked covers nothing', async (t) => {
  const clock = createShiftedClock();
  let expires = false;
  // The evidence is read after the approval was found to be granted.
  const read = aTool(
    'orders/read',
    () => {
      if (expires) clock.forward(61_000);
      return { total: 100 };
    },
    { effect: 'pure' },
  );
  const refund = createCountingTool(ask.tool);
  const agents = [refunds({ expiresMs: 60_000 })];
  const { call, approvals } = await openApprovals(t, [read, refund.definition], { agents, clock });
  const asked = { ...ask, evidence_refs: [successOf(await call({ tool: 'orders/read' })).call_id] };
  const { id } = deferralOf(await call(asked));
  assert.ok((await approvals.approve(id, ana, {})).ok);
  expires = true;
  const again = deferralOf(await call(asked));
  assert.notEqual(again.id, id, 'it asks a person anew');
  assert.equal(refund.runs(), 0);
  assert.equal((await approvals.read(id, { tenant: 'default', agent: null }))?.state, 'expired');
});

test('[C6-approval-9] a changed call that is cancelled after a crash says that it was changed', async (t) => {
  const child = fork(path.join(import.meta.dirname, '../support/edited-child.ts'), [fileOf(t)]);
  t.after(() => child.kill('SIGKILL'));
  const [{ call: id }] = (await once(child, 'message')) as [{ call: CallId }];
  child.kill('SIGKILL');
  await once(child, 'exit');
  const refund = createCountingTool(ask.tool, { effect: 'pure' });
  const limits = { sweepEveryMs: 3_600_000 };
  const { call, gateway } = await openApprovals(t, [refund.definition], { agents: [refunds()], limits });
  assert.equal(await gateway.cancel({ call: id }), 'cancelled');
  const reply = errorOf(await call({ ...ask, key: 'k1' }), 'cancelled');
  assert.equal(reply.call_id, id);
  assert.deepEqual(
    reply.notices?.map(({ code }) => code),
    ['APPROVAL_EDITED'],
  );
  assert.equal(refund.runs(), 0);
});
