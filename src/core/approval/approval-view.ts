/**
 * The wire types of an approval, as approvers and the requesting agent see it, and the notice that goes with a changed
 * call.
 */
import type { Approval, ApprovalState } from './approval.ts';
import { type Json, isObject } from '../values/json.ts';
import { quoteName } from '../values/quote.ts';
import type { Notice } from '../call/reply.ts';

/** An approval on the wire. What its agent's policy masks is masked. */
export interface ApprovalView {
  readonly approval_id: string;
  readonly state: ApprovalState;
  readonly agent: string;
  readonly tool: string;
  readonly session: string | null;
  /** The call that waits, or that ran under it. */
  readonly call_id: string;
  /** What the agent wants to send; null once it was erased. */
  readonly args: Json;
  /** What will be sent instead; absent unless an approver changed it. */
  readonly edited_args?: Json;
  /** `file:line` of the rule that asks for it. */
  readonly rule_ref: string;
  /** The rule's own words. */
  readonly reason: string | null;
  /** The roles of which somebody must approve; null for every approver. */
  readonly approvers: readonly string[] | null;
  readonly needed: number;
  readonly approved_by: readonly { readonly by: string; readonly at: string }[];
  readonly decided: { readonly by: string; readonly at: string; readonly reason: string | null } | null;
  readonly on_approve: 'wait' | 'run';
  readonly opened_at: string;
  readonly expires_at: string;
  /** Hash of what is shown here to decide on: an approver who sends it back decides about nothing else. */
  readonly shown: string;
}

/** What can happen to an approval, each with the kind of record that tells it. */
export const approvalChanges = {
  approval_opened: 'opened',
  approval_approved: 'approved',
  approval_denied: 'denied',
  approval_revoked: 'revoked',
  approval_used: 'used',
  approval_expired: 'expired',
  approval_voided: 'voided',
} as const;

export type ApprovalChange = (typeof approvalChanges)[keyof typeof approvalChanges];

/** A change as a stream tells it. `approval` is the approval as it is when the change is told. */
export interface ApprovalEvent {
  readonly position: string;
  readonly change: ApprovalChange;
  readonly at: string;
  readonly approval: ApprovalView;
}

const maxNamed = 8;

/** `asked` is what the agent sent, `sent` what was approved in its place. */
export function editNotice({ id, edit }: Approval, asked: Json, sent: Json): Notice {
  const fields = changedFields(asked, sent);
  const what = fields.length === 0 ? 'its arguments' : fields.slice(0, maxNamed).map(quoteName).join(', ');
  const by = edit?.by ?? 'an approver';
  return {
    code: 'APPROVAL_EDITED',
    human_message: `approved with changes by ${by}: ${what} (approval ${id})`,
    resolution: { type: 'replan', reason: `${by} changed ${what} before the call ran` },
  };
}

function changedFields(asked: Json, sent: Json): readonly string[] {
  if (!isObject(asked) || !isObject(sent)) return [];
  const [before, after] = [asked as Readonly<Record<string, Json>>, sent as Readonly<Record<string, Json>>];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
