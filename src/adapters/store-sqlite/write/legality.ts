/**
 * Checks what a transition says about itself, before the file is read. What passes here and meets its expectations
 * is written.
 */
import { wrongQuotas } from './quotas.ts';
import { isOpen, type Ticket, ticketIdOf } from '../../../core/recovery/ticket.ts';
import { legalTransitions } from '../../../core/taxonomy.ts';
import type { ApprovalWrite, CallChange, ReversalWrite, TicketWrite, Transition } from '../../../ports/store.ts';

const ownKinds: ReadonlySet<string> = new Set(['epoch_open', 'epoch_close', 'anchor', 'erased']);

/** More than the longest path of a call; the search for unanswered replies relies on it. */
export const maxRecords = 64;

/** More than any act touches: the one that ends, the one that opens, and room. */
export const maxApprovals = 16;

/** More than a call has reasons for. */
export const maxTickets = 16;

/** More than a call has: its own, and the one that it redeems. */
export const maxReversals = 8;

/** Why the transition is illegal, or null. */
export function findIllegality(transition: Transition): string | null {
  if (transition.token === '') return 'a transition needs a token';
  return (
    wrongKinds(transition) ??
    wrongQuotas(transition) ??
    wrongApprovals(transition.approvals) ??
    wrongTickets(transition.tickets) ??
    wrongReversals(transition) ??
    wrongTask(transition) ??
    wrongStep(transition) ??
    wrongCall(transition)
  );
}

function wrongKinds({ records }: Transition): string | null {
  if (records.length > maxRecords) return `a transition holds at most ${maxRecords} records`;
  for (const record of records)
    if (ownKinds.has(record.kind)) return `records of kind '${record.kind}' are written by the store alone`;
  return null;
}

function wrongTask({ task }: Transition): string | null {
  if (task?.kind !== 'open' || Number.isSafeInteger(task.dueAtMs)) return null;
  return 'a task is due at a whole number of milliseconds';
}

function wrongStep({ session }: Transition): string | null {
  if (session?.kind !== 'step' || session.workflow === null) return null;
  if (session.fence !== undefined) return 'a fence of a workflow session is part of its step';
  const { turn, call, operation, snapshot, fence } = session.workflow;
  const bound = turn === 'take' || turn === 'release' || fence !== null;
  if (bound && call === null) return 'a turn or a fence belongs to a call';
  if (turn === 'take' && operation === null) return 'a turn is taken for an operation';
  // INVARIANT: a state of the workflow has a sequence of its own.
  if ((snapshot !== null) !== session.advance) return 'the state of a workflow and its sequence move together';
  return null;
}

function wrongCall(transition: Transition): string | null {
  const { call, key } = transition;
  if (call === null) return key === null ? null : 'a key is claimed by a call';
  if (call.kind === 'mark') return wrongDue(call) ?? (key === null ? null : 'a mark claims no key');
  return wrongPath(call) ?? wrongRecords(call, transition);
}

function wrongDue({ due }: Extract<CallChange, { kind: 'mark' }>): string | null {
  return due === undefined || due.atMs === null || Number.isSafeInteger(due.atMs)
    ? null
    : 'a call is due at a whole number of milliseconds';
}

function wrongPath(change: Exclude<CallChange, { kind: 'mark' }>): string | null {
  let from: keyof typeof legalTransitions = change.kind === 'insert' ? '(none)' : change.expect.state;
  for (const to of change.path) {
    // INVARIANT: only legal transitions; terminal states are never left.
    if (!legalTransitions[from]?.includes(to)) return `${from} → ${to} is not a legal transition`;
    from = to;
  }
  if (change.path.length === 0) return 'a change of a call needs a path';
  return from === change.call.state ? null : `the path ends in ${from}, the call says ${change.call.state}`;
}

function wrongRecords(change: Exclude<CallChange, { kind: 'mark' }>, { key, records }: Transition): string | null {
  // INVARIANT: every state change has exactly one journal record, in the same transaction.
  const first = records[0]?.kind === 'session_resumed' ? 1 : 0;
  for (let index = 0; index < change.path.length; index++)
    if (records[first + index]?.call !== change.call.id)
      return `the change to ${change.path[index]} has no record of its own`;
  if (key === null) return null;
  const own = key.callId === change.call.id && key.tenant === change.call.tenant && key.agent === change.call.agent;
  return own ? null : 'a key is claimed for the call itself';
}

function wrongApprovals(writes: readonly ApprovalWrite[]): string | null {
  if (writes.length > maxApprovals) return `a transition writes at most ${maxApprovals} approvals`;
  for (const { approval, expect, maxPending } of writes) {
    const { id, version, state, openedAtMs, expiresAtMs } = approval;
    // INVARIANT: the version counts the changes, so whoever names one has seen the last.
    if (version !== (expect ?? 0) + 1 || !Number.isSafeInteger(version) || version < 1)
      return `approval '${id}' moves from version ${expect ?? 0} to the next, not to ${version}`;
    if (expect === null && state !== 'pending') return `approval '${id}' opens as pending, not as ${state}`;
    if ((expect === null) !== (maxPending !== null))
      return 'how many may be pending is said exactly when one is opened';
    if (maxPending !== null && !isAmount(maxPending)) return 'how many may be pending is a whole number from 0';
    if (!Number.isSafeInteger(openedAtMs) || !Number.isSafeInteger(expiresAtMs))
      return `the times of approval '${id}' are whole milliseconds`;
  }
  return null;
}

function wrongTickets(writes: readonly TicketWrite[]): string | null {
  if (writes.length > maxTickets) return `a transition writes at most ${maxTickets} tickets`;
  for (const write of writes) {
    const wrong = wrongTicket(write);
    if (wrong !== null) return wrong;
  }
  return null;
}

function wrongTicket(write: TicketWrite): string | null {
  if (write.kind === 'moot') return Number.isSafeInteger(write.atMs) ? null : wrongTimes;
  if (write.kind === 'work') return write.from === write.to ? `ticket '${write.id}' stays where it is` : null;
  const { ticket } = write;
  if (!hasWholeTimes(ticket)) return wrongTimes;
  // INVARIANT: a ticket is found by its call and its reason.
  if (ticket.id !== ticketIdOf(ticket.call, ticket.reason))
    return `ticket '${ticket.id}' is not named for its call and its reason`;
  if (write.kind === 'change') return null;
  return ticket.version === 1 && isOpen(ticket) ? null : `ticket '${ticket.id}' opens as open`;
}

const wrongTimes = 'the times of a ticket are whole milliseconds';

const hasWholeTimes = ({ openedAtMs, closedAtMs, dueAtMs, expiresAtMs, overdueAtMs }: Ticket): boolean =>
  [openedAtMs, closedAtMs, dueAtMs, expiresAtMs, overdueAtMs].every(
    (time) => time === null || Number.isSafeInteger(time),
  );
function wrongReversals({ reversals, rollbacks }: Transition): string | null {
  if (reversals.length > maxReversals) return `a transition writes at most ${maxReversals} reversals`;
  if (rollbacks.length > 1) return 'a transition writes at most one rollback';
  for (const write of rollbacks)
    if (write.kind === 'finish' && !Number.isSafeInteger(write.atMs)) return 'a rollback ends at a whole millisecond';
  return reversals.map(wrongReversal).find((problem) => problem !== null) ?? null;
}

function wrongReversal(write: ReversalWrite): string | null {
  if (write.kind === 'arm')
    return Number.isSafeInteger(write.atMs) ? null : 'a reversal is armed at a whole millisecond';
  if (write.kind !== 'issue') return null;
  const { state, tries, redeemedBy, expiresAtMs, windowMs } = write.reversal;
  // INVARIANT: no token is usable before its call has succeeded.
  const isNew = state === 'issued' && tries === 0 && redeemedBy === null && expiresAtMs === null;
  if (!isNew) return 'a reversal is issued before its call has succeeded';
  return Number.isSafeInteger(windowMs) ? null : 'the window of a reversal is in whole milliseconds';
}

const isAmount = (value: number) => Number.isSafeInteger(value) && value >= 0;
