/** Refunds that a rule defers, and what a deferral looks like. */
import assert from 'node:assert/strict';
import { type ApprovalTerms, defaultTerms } from '../../src/core/approval/approval.ts';
import type { WrittenAgent } from '../../src/core/policy/policy.ts';
import { anAgent } from './a-policy.ts';
import { errorOf } from './check-reply.ts';

export const refunds = (terms: Partial<ApprovalTerms> = {}, more: Partial<WrittenAgent> = {}): WrittenAgent => {
  const rules = anAgent('local', [
    ['permit', 'orders/read'],
    ['defer', 'payments/refund', { reason: 'money leaves the house' }],
  ]).rules.map((rule) => (rule.effect === 'defer' ? { ...rule, terms: { ...defaultTerms, ...terms } } : rule));
  return { ...anAgent('local', []), rules, ...more };
};

export const ask = { tool: 'payments/refund', args: { amount: 100 } };

export const deferralOf = (reply: unknown) => {
  const denied = errorOf(reply as never, 'denied');
  assert.equal(denied.code, 'POLICY_DEFER');
  assert.equal(denied.resolution.type, 'pending_approval');
  const id = denied.resolution.type === 'pending_approval' ? denied.resolution.approval_id : '';
  return { ...denied, id };
};
