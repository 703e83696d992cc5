/** Phase 5: a call is sent only in time, and only under an approval that is still to be had. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  againOf,
  anAsked,
  approvedRefund,
  nextOf,
  openShell,
  prepared,
  replyOf,
} from '../../../test/support/an-asked.ts';
import { errorOf } from '../../../test/support/check-reply.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { ask, refunds } from '../../../test/support/refunds.ts';
import { createCountingTool } from '../../../test/support/tools.ts';
import { take } from './take.ts';

const expiresMs = 60_000;

async function open(t: TestContext) {
  const refund = createCountingTool('payments/refund');
  const read = createCountingTool('orders/read');
  const clock = createManualClock();
  const parts = { agents: [refunds({ expiresMs })], clock };
  return { ...(await openShell(t, [refund.definition, read.definition], parts)), clock, read };
}

const readOrders = { tool: 'orders/read', args: {}, deadline_seconds: 30 };

test('a call that needs no approval goes on as it is', async (t) => {
  const { shell } = await open(t);
  const asked = anAsked(shell, readOrders);
  const passed = await prepared(asked, shell);
  const { intent, work } = nextOf(await take(asked, passed, shell));
  assert.deepEqual([intent, work], [passed.intent, passed.work]);
});

test('a call whose deadline passed is answered, and is on record as expired and never sent', async (t) => {
  const { shell, clock, read } = await open(t);
  const asked = anAsked(shell, { ...readOrders, key: 'k' });
  const passed = await prepared(asked, shell);
  clock.forward(30_000);
  const reply = replyOf(await take(asked, passed, shell));
  const { effect, timeout_seconds: seconds } = errorOf(reply, 'action_timeout');
  assert.deepEqual([effect, seconds, read.runs()], ['none', 30, 0]);
  assert.equal((await shell.ports.store.call(asked.call.id))?.state, 'EXPIRED');
  assert.equal((await shell.ports.store.key('default', 'local', 'k'))?.callId, asked.call.id);
});

test('a granted approval: the call that waited goes on, as the one who asks now', async (t) => {
  const opened = await open(t);
  const { shell } = opened;
  const { approval, waiting } = await approvedRefund(opened);
  const asked = anAsked(shell, ask);
  const { intent } = nextOf(await take(asked, await prepared(asked, shell), shell));
  assert.deepEqual([intent.call.id, intent.call.state], [waiting, 'AWAITING_APPROVAL']);
  assert.deepEqual(intent.uses, { approval, askedAs: asked.call.id, notices: [] });
  assert.equal((await shell.ports.store.approval(approval.id))?.state, 'granted');
});

test('an approval that expired meanwhile covers nothing: the call is decided again', async (t) => {
  const opened = await open(t);
  const { shell, clock } = opened;
  await approvedRefund(opened);
  const asked = anAsked(shell, ask);
  const passed = await prepared(asked, shell);
  clock.forward(expiresMs);
  assert.equal(againOf(await take(asked, passed, shell)), asked);
});

test('arguments that the approver changed are decided again in place of those that were sent', async (t) => {
  const opened = await open(t);
  const { shell } = opened;
  const { approval } = await approvedRefund(opened, { amount: 50 });
  const asked = anAsked(shell, ask);
  const theirs = againOf(await take(asked, await prepared(asked, shell), shell));
  assert.deepEqual([theirs.request.args, theirs.under?.id, theirs.own], [{ amount: 50 }, approval.id, asked]);
});

test('changed arguments go on with a notice that says so; if the approval expired, as they were sent', async (t) => {
  const opened = await open(t);
  const { shell, clock } = opened;
  await approvedRefund(opened, { amount: 50 });
  const asked = anAsked(shell, ask);
  const theirs = againOf(await take(asked, await prepared(asked, shell), shell));
  const passed = await prepared(theirs, shell);
  const { intent, work } = nextOf(await take(theirs, passed, shell));
  assert.deepEqual([work.args, work.notices?.length, work.notices], [{ amount: 50 }, 1, intent.uses?.notices]);
  clock.forward(expiresMs);
  assert.equal(againOf(await take(theirs, passed, shell)), asked);
});
