/**
 * Maps rows of calls, sessions, approvals, tickets and tasks to the types of the port. Of an approval, what is searched for or
 * can be erased has a column of its own; the rest is one text.
 */
import { type Approval, type ApprovalState, approvalStates } from '../../../core/approval/approval.ts';
import type { CallId, IncarnationId, SessionId } from '../../../core/call/call.ts';
import type { Position } from '../../../core/journal/record.ts';
import { nextLookAtMs, type Ticket, ticketReasons, ticketWork } from '../../../core/recovery/ticket.ts';
import type { CallState, EffectClass } from '../../../core/taxonomy.ts';
import { canonicalText } from '../../../core/values/canonical.ts';
import type { Session, StoredCall, StoredTask, WorkflowSession } from '../../../ports/store.ts';
import { epochStride } from '../file/schema.ts';

export interface CallRow {
  readonly id: string;
  readonly tenant: string;
  readonly agent: string;
  readonly session: string | null;
  readonly turn: string | null;
  readonly tool: string;
  readonly key: string | null;
  readonly fingerprint: string;
  readonly effect_class: string;
  readonly state: string;
  readonly attempt: number;
  readonly owner: string | null;
  readonly tainted: number;
  readonly kept: number;
  readonly stop_asked: number;
  readonly created_at: number;
  readonly deadline_at: number;
  readonly due_at: number | null;
  readonly seq: number;
  readonly updated_at: number;
  readonly requester_left_at: number | null;
  readonly repeats: number;
  readonly counted: number;
  readonly token: string;
  readonly last_at: number | null;
  readonly args_payload: number | null;
  readonly reply_payload: number | null;
  readonly reply_at: number | null;
}

export function callOf(row: CallRow): StoredCall {
  return {
    id: row.id as CallId,
    tenant: row.tenant,
    agent: row.agent,
    session: row.session as SessionId | null,
    turn: row.turn,
    tool: row.tool,
    key: row.key,
    fingerprint: row.fingerprint,
    effectClass: row.effect_class as EffectClass,
    state: row.state as CallState,
    attempt: row.attempt,
    owner: row.owner as IncarnationId | null,
    tainted: row.tainted === 1,
    ...(row.kept === 1 ? { kept: true } : {}),
    createdAtMs: row.created_at,
    deadlineAtMs: row.deadline_at,
    dueAtMs: row.due_at,
    seq: row.seq,
    updatedAtMs: row.updated_at,
    requesterLeftAtMs: row.requester_left_at,
    replyAt: row.reply_at === null ? null : positionOf(row.reply_at),
    repeats: row.repeats,
    ...(row.stop_asked === 1 ? { stopAsked: true } : {}),
  };
}

export interface SessionRow {
  readonly id: string;
  readonly tenant: string;
  readonly agent: string;
  readonly standing: number;
  readonly state: string;
  readonly seq: number;
  readonly entries: number;
  readonly opened_at: number;
  readonly used_at: number;
  readonly workflow: string | null;
  readonly manifest: string | null;
  readonly turn_call: string | null;
  readonly operation: string | null;
  readonly timer_at: number | null;
  readonly reason: string | null;
  readonly pinned_at: number;
}

const sessionStates: ReadonlySet<string> = new Set<Session['state']>(['open', 'cancelled', 'stopped', 'closed']);

export function sessionOf(row: SessionRow): Session {
  return {
    id: row.id as SessionId,
    tenant: row.tenant,
    agent: row.agent,
    standing: row.standing === 1,
    // INVARIANT: a state that this version does not know lets nothing pass.
    state: sessionStates.has(row.state) ? (row.state as Session['state']) : 'closed',
    seq: row.seq,
    entries: row.entries,
    openedAtMs: row.opened_at,
    usedAtMs: row.used_at,
    workflow: row.workflow === null ? null : workflowOf(row, row.workflow),
  };
}

function workflowOf(row: SessionRow, name: string): WorkflowSession {
  return {
    name,
    manifest: row.manifest ?? '',
    pinnedAtSeq: row.pinned_at,
    turn: row.turn_call === null ? null : { call: row.turn_call as CallId, operation: row.operation ?? '' },
    timerAtMs: row.timer_at,
    reason: row.reason,
  };
}

export function positionOf(at: number): Position {
  return { epoch: Math.floor(at / epochStride), seq: at % epochStride };
}

export function placeOf(position: Position): number {
  return position.epoch * epochStride + position.seq;
}

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
  'tool' | 'rules' | 'evidence' | 'refs' | 'reason' | 'terms' | 'shown' | 'model' | 'votes' | 'decided' | 'spending'
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
  const { tool, rules, evidence, refs, reason, terms, shown, model, votes, decided, edit, spending } = approval;
  const editedBy = edit?.by ?? null;
  const common = { tool, rules, evidence, refs, reason, terms, shown, model, votes, decided, editedBy };
  const body: Body = spending === undefined ? common : { ...common, spending };
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

export interface TicketRow {
  readonly id: string;
  readonly tenant: string;
  readonly agent: string;
  readonly session: string | null;
  readonly call_id: string;
  readonly tool: string;
  readonly queue: string;
  readonly reason: string;
  readonly state: string;
  readonly opened_at: number;
  readonly closed_at: number | null;
  readonly closed_by: string | null;
  readonly version: number;
  readonly due_at: number | null;
  readonly expires_at: number | null;
  readonly overdue_at: number | null;
  readonly assignee: string | null;
  readonly fence_session: string | null;
  readonly fence_operation: string | null;
  readonly end: string | null;
  readonly work: string;
  readonly continuation: string | null;
  readonly answer: string | null;
  readonly credential: string | null;
}

export function ticketOf(row: TicketRow): Ticket {
  return {
    id: row.id as Ticket['id'],
    tenant: row.tenant,
    agent: row.agent,
    session: row.session as Ticket['session'],
    call: row.call_id as CallId,
    tool: row.tool,
    queue: row.queue,
    reason: Object.hasOwn(ticketReasons, row.reason) ? (row.reason as Ticket['reason']) : 'playbook',
    state: row.state === 'closed' ? 'closed' : 'open',
    openedAtMs: row.opened_at,
    closedAtMs: row.closed_at,
    closedBy: row.closed_by,
    version: row.version,
    dueAtMs: row.due_at,
    expiresAtMs: row.expires_at,
    overdueAtMs: row.overdue_at,
    assignee: row.assignee,
    fence:
      row.fence_session === null
        ? null
        : { session: row.fence_session as SessionId, operation: row.fence_operation ?? row.tool },
    end: row.end as Ticket['end'],
    // INVARIANT: what this version does not know is not run.
    work: Object.hasOwn(ticketWork, row.work) ? (row.work as Ticket['work']) : 'told',
    continuation: row.continuation as CallId | null,
    answerText: row.answer,
    credential: row.credential,
  };
}

/** What changes of a ticket, in the order of its statements. */
export const changingColumnsOfTicket = (ticket: Ticket) =>
  [
    ticket.state,
    ticket.closedAtMs,
    ticket.closedBy,
    ticket.version,
    ticket.dueAtMs,
    ticket.expiresAtMs,
    ticket.overdueAtMs,
    nextLookAtMs(ticket),
    ticket.assignee,
    ticket.fence?.session ?? null,
    ticket.fence?.operation ?? null,
    ticket.end,
    ticket.work,
    ticket.continuation,
    ticket.answerText,
    ticket.credential,
  ] as const;
