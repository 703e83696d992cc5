/** An approval as a gateway would show it, for a script that says no more than its id and state. */
import type { ApprovalState } from '../../core/approval/approval.ts';
import type { ApprovalView } from '../../core/approval/approval-view.ts';

const time = '2026-01-01T00:00:00Z';
/** In these somebody has said yes. */
const approved: readonly ApprovalState[] = ['granted', 'used'];
/** In these somebody has said something. */
const decided: readonly ApprovalState[] = [...approved, 'denied', 'revoked'];

export function scriptedApproval(id: string, state: ApprovalState): ApprovalView {
  return {
    approval_id: id,
    state,
    agent: 'scripted',
    tool: 'scripted',
    session: null,
    call_id: 'call_scripted',
    args: {},
    rule_ref: 'recourse.yaml:1',
    reason: null,
    approvers: null,
    needed: 1,
    approved_by: approved.includes(state) ? [{ by: 'approver', at: time }] : [],
    decided: decided.includes(state) ? { by: 'approver', at: time, reason: null } : null,
    on_approve: 'wait',
    opened_at: time,
    expires_at: '2026-01-02T00:00:00Z',
    shown: '0'.repeat(64),
  };
}
