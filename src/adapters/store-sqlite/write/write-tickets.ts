/**
 * Checks and writes the tickets of a transition. Writes are checked in order, each as if those before it were in the
 * file; nothing is written unless all of them pass.
 */
import { type Ticket, ticketIdOf } from '../../../core/recovery/ticket.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { TicketWrite } from '../../../ports/store.ts';
import { ticketOf, type TicketRow } from '../read/rows.ts';
import type { Conflict } from './examine.ts';
import type { Statements } from './statements.ts';

/** Only for transitions that have some. */
export function ticketConflict(writes: readonly TicketWrite[], statements: Statements): Conflict | null {
  /** What the writes before would have left. */
  const staged = new Map<string, Ticket>();
  for (const write of writes) {
    const id = idOf(write);
    const found = staged.get(id) ?? inFile(statements.ticket.get(id));
    if (write.kind === 'close' && found?.state !== 'open') return { kind: 'conflict', on: 'ticket', found };
    const after = write.kind === 'open' ? (found ?? write.ticket) : closed(found, write.by, write.atMs);
    if (after !== null) staged.set(id, after);
  }
  return null;
}

export function writeTickets(writes: readonly TicketWrite[], statements: Statements): void {
  for (const write of writes) writeTicket(write, statements);
}

function writeTicket(write: TicketWrite, statements: Statements): void {
  switch (write.kind) {
    case 'open': {
      const { id, tenant, agent, session, call, tool, queue, reason, openedAtMs } = write.ticket;
      statements.insertTicket.run(id, tenant, agent, session, call, tool, queue, reason, openedAtMs);
      return;
    }
    case 'close':
    case 'moot':
      statements.closeTicket.run(idOf(write), write.by, write.atMs);
      return;
    default:
      return unreachable(write);
  }
}

function idOf(write: TicketWrite): string {
  switch (write.kind) {
    case 'open':
      return write.ticket.id;
    case 'close':
      return write.id;
    case 'moot':
      return ticketIdOf(write.call, write.reason);
    default:
      return unreachable(write);
  }
}

const closed = (found: Ticket | null, by: string, atMs: number): Ticket | null =>
  found?.state === 'open' ? { ...found, state: 'closed', closedBy: by, closedAtMs: atMs } : found;

const inFile = (row: unknown): Ticket | null => (row === undefined ? null : ticketOf(row as TicketRow));
