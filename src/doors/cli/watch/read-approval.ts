/**
 * Reads an approval from a gateway's answer. Requires the fields that are shown or sent back; a newer gateway may send
 * more.
 */
import { approvalStates } from '../../../core/approval/approval.ts';
import type { ApprovalEvent, ApprovalView } from '../../../core/approval/approval-view.ts';
import { isObject } from '../../../core/values/json.ts';

const texts = ['approval_id', 'agent', 'tool', 'call_id', 'rule_ref', 'opened_at', 'expires_at', 'shown'] as const;

export function readApproval(body: unknown): ApprovalView | null {
  if (!isObject(body) || !texts.every((name) => typeof body[name] === 'string')) return null;
  const { state, needed, approved_by: votes, decided, approvers } = body;
  const isOne =
    typeof state === 'string' &&
    Object.hasOwn(approvalStates, state) &&
    typeof needed === 'number' &&
    Array.isArray(votes) &&
    votes.every((vote) => isObject(vote) && typeof vote['by'] === 'string') &&
    (decided === null || (isObject(decided) && typeof decided['by'] === 'string')) &&
    (approvers === null || (Array.isArray(approvers) && approvers.every((role) => typeof role === 'string')));
  return isOne ? (body as unknown as ApprovalView) : null;
}

export function readApprovals(body: Readonly<Record<string, unknown>>): readonly ApprovalView[] | null {
  const { approvals } = body;
  if (!Array.isArray(approvals)) return null;
  const read = approvals.map(readApproval);
  return read.includes(null) ? null : (read as readonly ApprovalView[]);
}

export function readApprovalEvent(data: unknown): ApprovalEvent | null {
  if (!isObject(data) || typeof data['change'] !== 'string' || typeof data['at'] !== 'string') return null;
  return readApproval(data['approval']) === null ? null : (data as unknown as ApprovalEvent);
}
