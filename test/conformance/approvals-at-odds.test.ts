/**
 * CONTRACT section 6 where approvals of several calls end up about one and the same: a no stands, and nobody waits for
 * ever.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { denialOf } from '../support/a-policy.ts';
import { successOf } from '../support/check-reply.ts';
import { eventually } from '../support/eventually.ts';
import { ana, ben, openApprovals } from '../support/open-approvals.ts';
import { deferralOf, refunds } from '../support/refunds.ts';
import { createCountingTool } from '../support/tools.ts';

const of = (amount: number) => ({ tool: 'payments/refund', args: { amount } });
const everything = { tenant: 'default', agent: null };

async function opened(t: Parameters<typeof openApprovals>[0], onApprove: 'wait' | 'run' = 'wait') {
  const refund = createCountingTool('payments/refund');
  return { refund, ...(await openApprovals(t, [refund.definition], { agents: [refunds({ onApprove })] })) };
}

describe('of two approvals that are about the same call by now', () => {
  test('[C6-approval-6] a no counts against a yes to the other that was changed into it before', async (t) => {
    const { call, approvals, refund } = await opened(t);
    const { id: asked } = deferralOf(await call(of(19)));
    const { id: changed } = deferralOf(await call(of(11)));
    assert.ok((await approvals.approve(changed, ana, { args: { amount: 19 } })).ok);
    assert.ok((await approvals.deny(asked, ben, { reason: 'never 19' })).ok);
    for (const amount of [11, 19, 11]) assert.match(denialOf(await call(of(amount))).human_message, /ben: never 19/);
    assert.equal(refund.runs(), 0);
    assert.ok((await approvals.revoke(asked, ben, {})).ok);
    successOf(await call(of(11)));
    assert.equal(refund.runs(), 1, 'once the no is taken back the yes counts again');
  });

  test('[C6-approval-6] a no keeps the gateway from running the other by itself', async (t) => {
    const { call, approvals, refund } = await opened(t, 'run');
    const { id: asked } = deferralOf(await call(of(19)));
    const { id: changed } = deferralOf(await call(of(11)));
    assert.ok((await approvals.deny(asked, ben, {})).ok);
    const said = await approvals.approve(changed, ana, { args: { amount: 19 } });
    assert.equal(said.ok ? said.approval.state : said.problem, 'bad_edit');
    assert.equal(refund.runs(), 0);
  });

  test('[C6-approval-9] one that is over does not hide another that is not', async (t) => {
    const { call, approvals, refund } = await opened(t);
    const { id: asked } = deferralOf(await call(of(19)));
    const { id: changed } = deferralOf(await call(of(11)));
    assert.ok((await approvals.approve(changed, ana, { args: { amount: 19 } })).ok);
    successOf(await call(of(11)));
    assert.equal(deferralOf(await call(of(19))).id, asked, 'it waits as before');
    assert.ok((await approvals.deny(asked, ben, { reason: 'once is enough' })).ok);
    denialOf(await call(of(19)));
    assert.ok((await approvals.revoke(asked, ben, {})).ok);
    const { id: again } = deferralOf(await call(of(19)));
    assert.notEqual(again, asked);
    assert.ok((await approvals.approve(again, ben, {})).ok);
    successOf(await call(of(19)));
    assert.equal(refund.runs(), 2);
  });

  test('[C6-approval-10] what the gateway runs by itself it runs once for each yes', async (t) => {
    const { call, approvals, refund } = await opened(t, 'run');
    const { id: asked } = deferralOf(await call(of(19)));
    const { id: changed } = deferralOf(await call(of(11)));
    assert.ok((await approvals.approve(changed, ana, { args: { amount: 19 } })).ok);
    assert.ok((await approvals.approve(asked, ben, {})).ok);
    for (const id of [asked, changed])
      await eventually(`${id} is used`, async () => (await approvals.read(id, everything))?.state === 'used');
    // An approval is used when its call is recorded, before it is sent.
    await eventually('both have run', async () => refund.runs() >= 2);
    assert.equal(refund.runs(), 2);
  });
});
