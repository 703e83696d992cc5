/**
 * How does an approval become a row, and a row an approval? What is searched for, and what can be erased, has a column of its own;
 * the rest is one text.
 */
import { type Approval, type ApprovalState, approvalStates } from '../../../core/approval/approval.ts';
import type { CallId } from '../../../core/call/call.ts';
import { canonicalText } from '../../../core/values/canonical.ts';
import type { StoredTask } from '../../../ports/store.ts';

export interface ApprovalRow {
  readonly id: string;
  readonly tenant: string;
  readonly agent: string;
  readonly subject: string;
  readonly edited_subject: string | null;
  readonly state: string;
  readonly call_id: string;
  readonly session: string | null;
  readonly version: number;
  readonly opened_at: number;
  readonly expires_at: number;
  readonly on_approve: string;
  readonly edited_args: string | null;
  readonly body: string;
}

type Body = Pick<
  Approval,
  'tool' | 'rules' | 'evidence' | 'refs' | 'reason' | 'terms' | 'shown' | 'model' | 'votes' | 'decided'
> & { readonly editedBy: string | null };

export function approvalOf(row: ApprovalRow): Approval {
  const { editedBy, ...body } = JSON.parse(row.body) as Body;
  return {
    ...body,
    id: row.id as Approval['id'],
    version: row.version,
    tenant: row.tenant,
    agent: row.agent,
    session: row.session as Approval['session'],
    subject: row.subject,
    callId: row.call_id as CallId,
    // INVARIANT: a state that this version does not know covers nothing.
    state: Object.hasOwn(approvalStates, row.state) ? (row.state as ApprovalState) : 'void',
    edit:
      editedBy === null
        ? null
        : { by: editedBy, argsText: row.edited_args, subject: row.edited_subject ?? row.subject },
    openedAtMs: row.opened_at,
    expiresAtMs: row.expires_at,
  };
}

/** What an update writes, in the order of its statement; the opening adds what never changes. */
export function changingColumns(approval: Approval) {
  const { tool, rules, evidence, refs, reason, terms, shown, model, votes, decided, edit } = approval;
  const editedBy = edit?.by ?? null;
  const body: Body = { tool, rules, evidence, refs, reason, terms, shown, model, votes, decided, editedBy };
  return [
    approval.state,
    approval.version,
    approval.callId,
    approval.session,
    approval.expiresAtMs,
    terms.onApprove,
    edit?.subject ?? null,
    edit?.argsText ?? null,
    canonicalText(body),
  ] as const;
}

export interface TaskRow {
  readonly call_id: string;
  readonly due_at: number;
  readonly state: string;
}

export function taskOf(row: TaskRow): StoredTask {
  return { call: row.call_id as CallId, dueAtMs: row.due_at, state: row.state as StoredTask['state'] };
}
