/** The inbox: approvals and tickets that wait for a person, in one list. Pure. */
import type { ApprovalView } from '../approval/approval-view.ts';
import type { TicketView } from '../recovery/ticket-view.ts';

export const inboxKinds = ['approval', 'ticket'] as const;

export interface InboxItem {
  readonly kind: (typeof inboxKinds)[number];
  /** Of the approval or the ticket. */
  readonly id: string;
  /** What it waits for, in words. */
  readonly waits_for: string;
  readonly agent: string;
  readonly tool: string;
  readonly session: string | null;
  readonly call_id: string;
  /** Null for an approval. */
  readonly queue: string | null;
  readonly assignee: string | null;
  readonly opened_at: string;
  /** When somebody should have looked: of an approval, when it expires. */
  readonly due_at: string | null;
  readonly expires_at: string | null;
  readonly overdue: boolean;
  /** The one that `kind` names; the other is null. */
  readonly approval: ApprovalView | null;
  readonly ticket: TicketView | null;
}

export interface Inbox {
  readonly items: readonly InboxItem[];
  /** How many wait in all; more than are listed if the list was cut. */
  readonly total: number;
}

/** `now`: RFC 3339, which sorts as text. */
export function inboxOf(approvals: readonly ApprovalView[], tickets: readonly TicketView[]): readonly InboxItem[] {
  return [...approvals.map(ofApproval), ...tickets.map(ofTicket)].sort(byUrgency);
}

function ofApproval(approval: ApprovalView): InboxItem {
  const { approval_id: id, agent, tool, session, call_id: call, reason, opened_at: at, expires_at: expires } = approval;
  const left = approval.needed - approval.approved_by.length;
  const people = left > 1 ? `${left} approvals` : 'an approval';
  return {
    kind: 'approval',
    id,
    waits_for: `${people} of ${tool}${reason === null ? '' : `: ${reason}`}`,
    agent,
    tool,
    session,
    call_id: call,
    queue: null,
    assignee: null,
    opened_at: at,
    due_at: expires,
    expires_at: expires,
    overdue: false,
    approval,
    ticket: null,
  };
}

function ofTicket(ticket: TicketView): InboxItem {
  const { ticket_id: id, agent, tool, session, call_id: call, queue, assignee, opened_at: at } = ticket;
  return {
    kind: 'ticket',
    id,
    waits_for: `an answer about ${tool}: ${ticket.says}`,
    agent,
    tool,
    session,
    call_id: call,
    queue,
    assignee,
    opened_at: at,
    due_at: ticket.due_at,
    expires_at: ticket.expires_at,
    overdue: ticket.overdue,
    approval: null,
    ticket,
  };
}

/** The first to be due or to end comes first; what never is comes last; of equal ones the older. */
function byUrgency(one: InboxItem, other: InboxItem): number {
  return (
    compare(one.due_at ?? one.expires_at ?? '~', other.due_at ?? other.expires_at ?? '~') ||
    compare(one.opened_at, other.opened_at) ||
    compare(one.id, other.id)
  );
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
