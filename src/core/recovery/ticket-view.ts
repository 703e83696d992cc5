/** The wire types of a ticket, as operators see it, and what closing it means. */
import type { Reply } from '../call/reply.ts';
import type { CallState, Effect, Verdict } from '../taxonomy.ts';
import type { PossibleAnswer } from '../ticket/answers.ts';
import type { Json } from '../values/json.ts';
import { type Ticket, type TicketEnd, type TicketReason, ticketReasons } from './ticket.ts';

export const ticketStates = ['open', 'closed'] as const satisfies readonly Ticket['state'][];

/** A ticket on the wire. */
export interface TicketView {
  readonly ticket_id: string;
  readonly state: Ticket['state'];
  readonly queue: string;
  readonly reason: TicketReason;
  /** The reason in words. */
  readonly says: string;
  readonly agent: string;
  readonly tool: string;
  readonly session: string | null;
  readonly call_id: string;
  readonly opened_at: string;
  /** When it is overdue, and when it ends by itself; null for never. */
  readonly due_at: string | null;
  readonly expires_at: string | null;
  readonly overdue: boolean;
  /** Who works on it; null if nobody does. */
  readonly assignee: string | null;
  /** How it ended: the answer, `expired`, or `settled` by itself. Null while it is open. */
  readonly answer: TicketEnd | null;
  /** The call that goes on for it; null if none does. */
  readonly continued_by: string | null;
  readonly closed_at: string | null;
  /** A person, or `recourse` when the call was settled by itself. */
  readonly closed_by: string | null;
}

/** What a ticket is about. What the agent's policy masks is masked. */
export interface TicketCall {
  readonly state: CallState;
  readonly effect: Effect;
  readonly attempts: number;
  /** What its failure means; null if it did not fail. */
  readonly verdict: Verdict | null;
  /** Null once they were erased. */
  readonly args: Json;
  /** What the agent was told; null if there is no reply, or it was erased. */
  readonly reply: Json;
  readonly created_at: string;
}

/** A ticket with its call; null if the store does not have it. */
export interface TicketStory extends TicketView {
  readonly age_seconds: number;
  /** What the person who closed it wrote. */
  readonly note: string | null;
  /** What follows from closing it. */
  readonly closing: string;
  /** What can be answered now; none once it is closed. */
  readonly answers: readonly PossibleAnswer[];
  /** Where a person signs in, while a sign-in waits; null otherwise. */
  readonly sign_in: TicketSignIn | null;
  /** The oldest first. */
  readonly comments: readonly TicketComment[];
  readonly call: TicketCall | null;
}

export interface TicketSignIn {
  readonly verification_uri: string;
  readonly user_code: string;
  readonly expires_at: string;
}

export interface TicketComment {
  readonly by: string;
  readonly at: string;
  /** Null once it was erased. */
  readonly text: string | null;
}

/** What the agent of a ticket gets: how it stands, what to do now, and the reply of its call once there is one. */
export interface TicketOutcome extends TicketView {
  /** What its agent should do now. */
  readonly next: string;
  /** Of the call that goes on, or that was settled; null while there is none to tell. */
  readonly reply: Reply | null;
}

/** `time` writes a time as RFC 3339 in whole seconds, which the core cannot. */
export function viewOfTicket(ticket: Ticket, time: (ms: number) => string): TicketView {
  return {
    ticket_id: ticket.id,
    state: ticket.state,
    queue: ticket.queue,
    reason: ticket.reason,
    says: ticketReasons[ticket.reason],
    agent: ticket.agent,
    tool: ticket.tool,
    session: ticket.session,
    call_id: ticket.call,
    opened_at: time(ticket.openedAtMs),
    due_at: ticket.dueAtMs === null ? null : time(ticket.dueAtMs),
    expires_at: ticket.expiresAtMs === null ? null : time(ticket.expiresAtMs),
    overdue: ticket.overdueAtMs !== null,
    assignee: ticket.assignee,
    answer: ticket.end,
    continued_by: ticket.continuation,
    closed_at: ticket.closedAtMs === null ? null : time(ticket.closedAtMs),
    closed_by: ticket.closedBy,
  };
}

export function closingMeans({ state, reason }: Ticket, call: CallState | null): string {
  if (state === 'closed') return 'it is closed';
  if (call === 'IN_DOUBT') return 'somebody took care of it; the call stays in doubt until it is settled';
  if (reason === 'policy_denied') return 'somebody took care of it; the session may ask for the same operation again';
  return 'somebody took care of it; nothing runs, and the call stays as it is';
}
