/**
 * A gateway in a process of its own that runs a call which an approver changed. Says that its body began, and waits to
 * be killed.
 */
import { defaultTerms } from '../../src/core/approval/approval.ts';
import { openGateway } from '../../src/main.ts';
import { createApprovals } from '../../src/shell/approval/approvals.ts';
import { ana, policyOf } from './open-approvals.ts';
import { ask, deferralOf, refunds } from './refunds.ts';
import { aTool } from './tools.ts';

const refund = aTool(
  ask.tool,
  () => {
    process.send?.({ call: id });
    return new Promise(() => undefined);
  },
  { effect: 'pure' },
);
const policy = policyOf({ agents: [refunds(defaultTerms)] });
const { gateway, shell } = await openGateway({
  tools: [refund],
  file: process.argv[2] ?? '',
  policy: () => policy,
  onNotice: () => undefined,
});
const deferred = deferralOf(await gateway.handle({ ...ask, key: 'k1' }, {}));
const id = deferred.call_id;
await createApprovals(shell).approve(deferred.id, ana, { args: { amount: 50 } });
process.on('disconnect', () => process.exit());
await gateway.handle({ ...ask, key: 'k1' }, {});
