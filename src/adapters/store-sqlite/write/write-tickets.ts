/**
 * Checks and writes the tickets of a transition. Writes are checked in order, each as if those before it were in the
 * file; nothing is written unless all of them pass.
 */
import { changed, mayChange, openedOver, type Ticket, ticketIdOf } from '../../../core/recovery/ticket.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { TicketWrite } from '../../../ports/store.ts';
import { callOf, type CallRow, changingColumnsOfTicket, ticketOf, type TicketRow } from '../read/rows.ts';
import type { Conflict } from './examine.ts';
import { illegal } from './examine.ts';
import type { Statements } from './statements.ts';

/** Only for transitions that have some. */
export function ticketConflict(writes: readonly TicketWrite[], statements: Statements): Conflict | null {
  /** What the writes before would have left. */
  const staged = new Map<string, Ticket>();
  for (const write of writes) {
    const id = idOf(write);
    const found = staged.get(id) ?? inFile(statements.ticket.get(id));
    const conflict = conflictOf(write, found, statements);
    if (conflict !== null) return conflict;
    const after = afterWrite(write, found);
    if (after !== null) staged.set(id, after);
  }
  return null;
}

function conflictOf(write: TicketWrite, found: Ticket | null, statements: Statements): Conflict | null {
  if (write.kind === 'open' || write.kind === 'moot') return null;
  if (write.kind === 'work')
    return found !== null && found.work === write.from ? null : { kind: 'conflict', on: 'ticket', found };
  if (found === null || found.version !== write.expect) return { kind: 'conflict', on: 'ticket', found };
  if (!mayChange(found, write.ticket)) return illegal(`ticket '${found.id}' does not change like that`);
  const { unlessEqual } = write;
  if (unlessEqual === undefined) return null;
  const { from, after, session, fingerprint } = unlessEqual;
  const row = statements.equalSince.get(from, session, fingerprint, after) as CallRow | undefined;
  return row === undefined ? null : { kind: 'conflict', on: 'place', found: callOf(row) };
}

export function writeTickets(writes: readonly TicketWrite[], statements: Statements): void {
  for (const write of writes) {
    const found = inFile(statements.ticket.get(idOf(write)));
    const after = afterWrite(write, found);
    if (after === null || after === found) continue;
    const { id, tenant, agent, session, call, tool, queue, reason, openedAtMs } = after;
    const columns = changingColumnsOfTicket(after);
    if (found !== null) statements.updateTicket.run(...columns, id);
    else statements.insertTicket.run(...columns, id, tenant, agent, session, call, tool, queue, reason, openedAtMs);
  }
}

/** INVARIANT: a call has at most one ticket for a reason. */
function afterWrite(write: TicketWrite, found: Ticket | null): Ticket | null {
  switch (write.kind) {
    case 'open':
      return openedOver(found, write.ticket);
    case 'change':
      return write.ticket;
    case 'work':
      return found === null ? null : changed(found, { work: write.to, continuation: write.continuation });
    case 'moot':
      if (found?.state !== 'open') return found;
      return changed(found, { state: 'closed', closedBy: write.by, closedAtMs: write.atMs, end: 'settled' });
    default:
      return unreachable(write);
  }
}

function idOf(write: TicketWrite): string {
  switch (write.kind) {
    case 'open':
    case 'change':
      return write.ticket.id;
    case 'work':
      return write.id;
    case 'moot':
      return ticketIdOf(write.call, write.reason);
    default:
      return unreachable(write);
  }
}

const inFile = (row: unknown): Ticket | null => (row === undefined ? null : ticketOf(row as TicketRow));
