/** The payloads of seed 002, word for word, and the handler of its last page with the names of this package. */
import { type AnyTool, ToolDeniedError } from '../../../src/client/index.ts';
import type { ErrorReply } from '../../../src/index.ts';

type Denied = Extract<ErrorReply, { error: 'denied' }>;
type Payload = Pick<Denied, 'code' | 'human_message' | 'resolution' | 'rule_ref' | 'budget_id' | 'provider'>;

export const payloads = {
  POLICY_DENY: {
    code: 'POLICY_DENY',
    rule_ref: 'governance.fms:12',
    human_message: 'denied: stripe/payouts blocked by policy',
    resolution: { type: 'rule_block', rule_id: 'governance.fms:12' },
  },
  POLICY_DEFER: {
    code: 'POLICY_DEFER',
    rule_ref: 'governance.fms:14',
    human_message: 'stripe/refund deferred for operator approval',
    resolution: { type: 'pending_approval', approval_id: 'apr-9001' },
  },
  RATE_EXCEEDED: {
    code: 'RATE_EXCEEDED',
    human_message: 'denied: stripe/charge rate limit (10/minute) exceeded',
    resolution: { type: 'retry_after', retry_after_seconds: 43 },
  },
  BUDGET_EXCEEDED: {
    code: 'BUDGET_EXCEEDED',
    budget_id: 'daily',
    human_message: 'denied: daily budget ceiling ($500.00) reached',
    resolution: { type: 'budget_reset', resets_at: '2026-05-18T00:00:00Z' },
  },
  DAEMON_NOT_READY: {
    code: 'DAEMON_NOT_READY',
    human_message: 'denied: daemon is initializing, retry in a moment',
    resolution: { type: 'retry_after', retry_after_seconds: 2 },
  },
  COMPLETION_BLOCKED: {
    code: 'COMPLETION_BLOCKED',
    human_message: 'agent cannot complete: 2 approvals pending',
    resolution: { type: 'pending_approvals', approval_ids: ['apr-8821', 'apr-8822'] },
  },
  EGRESS_DENIED: {
    code: 'EGRESS_DENIED',
    human_message: "denied: host 'evil.example.com' not in egress allow list",
    resolution: { type: 'rule_block', rule_id: 'egress' },
  },
  MODEL_DENIED: {
    code: 'MODEL_DENIED',
    human_message: "denied: model 'gpt-3.5-turbo' is not permitted",
    resolution: { type: 'rule_block', rule_id: 'model_policy' },
  },
  CREDENTIAL_UNAVAILABLE: {
    code: 'CREDENTIAL_UNAVAILABLE',
    provider: 'vault',
    human_message: 'vault provider returned: connection refused',
    resolution: { type: 'retry_after', retry_after_seconds: 30 },
  },
} as const satisfies Record<Denied['code'], Payload>;

export const replyWith = (payload: Payload): Denied => ({
  error: 'denied',
  requested: 'stripe/refund',
  class: 'Governance',
  message: payload.human_message,
  effect: 'none',
  valid_next_actions: ['stripe/read'],
  call_id: 'call_1',
  session: null,
  ...payload,
});

/** What the handler did: queued an approval, planned to ask again, got a result. */
export type Handled = readonly [done: string, with_: unknown];
const queueApproval = (approvalId: string | null): Handled => ['queued', approvalId];
const retryAfter = (seconds: number): Handled => ['asks again after', seconds];

/** The shape that seed 002 calls: a tool with `invoke`. */
export interface Invokable {
  readonly invoke: (args: object) => Promise<unknown>;
}
export const asTool = (run: AnyTool): Invokable => ({ invoke: run as Invokable['invoke'] });

export async function handler(tool: Invokable, args: object): Promise<Handled> {
  try {
    return ['ran', await tool.invoke(args)];
  } catch (err) {
    if (err instanceof ToolDeniedError) {
      if (err.code === 'POLICY_DEFER') return queueApproval(err.approvalId);
      if (err.resolution?.type === 'retry_after') return retryAfter(err.resolution.retryAfterSeconds);
      throw err;
    }
    throw err;
  }
}
