/**
 * A ticket: something that only a person can settle, in a queue until somebody answers it or its time runs out. At most
 * one for a call and a reason, so its id is made of both. What it is about (arguments, reply) is read from the call
 * when it is shown.
 */
import type { CallId, SessionId } from '../call/call.ts';
import type { AnswerKind } from '../ticket/answer-kinds.ts';

export const ticketReasons = {
  policy_denied: 'the upstream forbids it',
  auth_expired: 'the upstream no longer accepts the credential',
  unrecognised_failure: 'nobody recognises the failure',
  idempotency_mismatch: 'the upstream knows the key from another request',
  schema_mismatch: 'the answer does not have the declared shape',
  in_doubt: 'nobody knows whether the call took effect',
  reversal_refused: 'the call could not be reversed',
  playbook: 'the playbook asks for a person',
} as const;

export type TicketReason = keyof typeof ticketReasons;
export type TicketId = `tkt_${string}`;

/** How a ticket ended: with an answer, by its time, or because its call was settled without anybody. */
export type TicketEnd = AnswerKind | 'expired' | 'settled';

/** What an answer leaves to be run. The store refuses every other move. */
export const ticketWork = {
  none: 'nothing runs for it',
  due: 'the call goes on as soon as it may',
  untold: 'the call goes on or has ended, and its agent has not asked again',
  told: 'its agent has the outcome, or nothing came of it',
} as const;

export type TicketWork = keyof typeof ticketWork;

export interface Ticket {
  readonly id: TicketId;
  /** Moves by one with every change; a change names the one it has seen. */
  readonly version: number;
  readonly tenant: string;
  readonly agent: string;
  readonly session: SessionId | null;
  readonly call: CallId;
  readonly tool: string;
  readonly queue: string;
  readonly reason: TicketReason;
  readonly state: 'open' | 'closed';
  readonly openedAtMs: number;
  /** When it is overdue, and when it ends by itself; null for never. */
  readonly dueAtMs: number | null;
  readonly expiresAtMs: number | null;
  /** When it was told that it is overdue; null if it was not. */
  readonly overdueAtMs: number | null;
  /** Who works on it; null if nobody does. */
  readonly assignee: string | null;
  /** What it keeps from running while it is open, and in which session; null if nothing. */
  readonly fence: TicketFence | null;
  readonly closedAtMs: number | null;
  /** Who ended it: a person, or `recourse` when it ended by itself. */
  readonly closedBy: string | null;
  readonly end: TicketEnd | null;
  readonly work: TicketWork;
  /** The call that goes on for it; null if none does. */
  readonly continuation: CallId | null;
  /** What came with the answer: replacement arguments, as JSON. Null without any, and once they were erased. */
  readonly answerText: string | null;
  /** The credential for which a person must sign in; null if that is not what it is about. */
  readonly credential: string | null;
}

export interface TicketFence {
  readonly session: SessionId;
  readonly operation: string;
}

export const ticketIdOf = (call: CallId, reason: TicketReason): TicketId =>
  `tkt_${call.replace(/^call_/, '')}_${reason}`;

/** What every ticket is when it opens. */
export const opened = {
  version: 1,
  state: 'open',
  overdueAtMs: null,
  assignee: null,
  closedAtMs: null,
  closedBy: null,
  end: null,
  work: 'none',
  continuation: null,
  answerText: null,
  credential: null,
} as const satisfies Partial<Ticket>;

/** The next version. */
export const changed = (ticket: Ticket, change: Partial<Ticket>): Ticket => ({
  ...ticket,
  ...change,
  version: ticket.version + 1,
});

/** What an opening leaves: one that is open stays as it is, one that was closed is open again. */
export const openedOver = (found: Ticket | null, ticket: Ticket): Ticket => {
  if (found === null) return ticket;
  if (found.state === 'open') return found;
  const { tenant, agent, session, tool, queue, openedAtMs, version } = found;
  return { ...ticket, tenant, agent, session, tool, queue, openedAtMs, version: version + 1 };
};

/** When somebody must look at an open ticket by itself: it becomes overdue, or ends. Null for never. */
export function nextLookAtMs({ state, dueAtMs, expiresAtMs, overdueAtMs }: Ticket): number | null {
  if (state !== 'open') return null;
  const due = overdueAtMs === null ? dueAtMs : null;
  if (due === null || expiresAtMs === null) return due ?? expiresAtMs;
  return Math.min(due, expiresAtMs);
}

/** The store refuses every other change of a ticket. `before` is what it has. */
export function mayChange(before: Ticket, after: Ticket): boolean {
  if (after.version !== before.version + 1) return false;
  const same = (['tenant', 'agent', 'session', 'call', 'tool', 'queue', 'reason', 'openedAtMs'] as const).every(
    (name) => before[name] === after[name],
  );
  if (!same) return false;
  if (before.state === 'open') return after.state === 'open' ? isOpen(after) : isClosed(after);
  return after.state === 'closed' && after.end === before.end && mayWork(before.work, after.work);
}

/** Whether what it says about its end fits that it is open. */
export const isOpen = ({ state, closedAtMs, closedBy, end, work, continuation }: Ticket): boolean =>
  state === 'open' &&
  closedAtMs === null &&
  closedBy === null &&
  end === null &&
  work === 'none' &&
  continuation === null;

const isClosed = ({ state, closedAtMs, closedBy, end }: Ticket): boolean =>
  state === 'closed' && Number.isSafeInteger(closedAtMs) && closedBy !== null && end !== null;

const order: readonly TicketWork[] = ['none', 'due', 'untold', 'told'];

/** INVARIANT: what ran once for a ticket never runs for it again. */
const mayWork = (before: TicketWork, after: TicketWork): boolean =>
  before === after || (before !== 'none' && order.indexOf(after) > order.indexOf(before));
