/** Tickets of a memory store: what stands against a write, what it leaves, and what is read of them. */
import { type Ticket, ticketIdOf } from '../../../src/core/recovery/ticket.ts';
import { unreachable } from '../../../src/core/values/unreachable.ts';
import type { CommitResult, TicketFilter, TicketWrite } from '../../../src/ports/store.ts';
import type { MemoryState } from '../memory-state.ts';

type Conflict = Extract<CommitResult, { kind: 'conflict' }>;

/** Applies the writes to a copy: what it holds afterwards counts only if none of them was refused. */
export function ticketConflict(writes: readonly TicketWrite[], staged: Map<string, Ticket>): Conflict | null {
  for (const write of writes) {
    const refused = apply(write, staged);
    if (refused !== null) return refused;
  }
  return null;
}

function apply(write: TicketWrite, staged: Map<string, Ticket>): Conflict | null {
  switch (write.kind) {
    case 'open':
      if (!staged.has(write.ticket.id)) staged.set(write.ticket.id, write.ticket);
      return null;
    case 'close': {
      const found = staged.get(write.id) ?? null;
      if (found?.state !== 'open') return { kind: 'conflict', on: 'ticket', found };
      close(found, write, staged);
      return null;
    }
    case 'moot': {
      const found = staged.get(ticketIdOf(write.call, write.reason));
      if (found?.state === 'open') close(found, write, staged);
      return null;
    }
    default:
      return unreachable(write);
  }
}

function close(found: Ticket, { by, atMs }: { by: string; atMs: number }, staged: Map<string, Ticket>): void {
  staged.set(found.id, { ...found, state: 'closed', closedAtMs: atMs, closedBy: by });
}

/** Why the writes cannot be right, or null. */
export function ticketIllegality(writes: readonly TicketWrite[]): string | null {
  if (writes.length > 16) return 'a transition writes at most 16 tickets';
  return writes.every(isWrite) ? null : 'a write of a ticket contradicts itself';
}

function isWrite(write: TicketWrite): boolean {
  if (write.kind !== 'open') return Number.isSafeInteger(write.atMs);
  const { id, call, reason, state, openedAtMs, closedAtMs, closedBy } = write.ticket;
  const isOpen = state === 'open' && closedAtMs === null && closedBy === null;
  return isOpen && id === ticketIdOf(call, reason) && Number.isSafeInteger(openedAtMs);
}

export function ticketReads(state: MemoryState) {
  const where = (wanted: (ticket: Ticket) => boolean): Ticket[] => [...state.tickets.values()].filter(wanted);
  const isOlder = (a: Ticket, b: Ticket) =>
    a.openedAtMs < b.openedAtMs || (a.openedAtMs === b.openedAtMs && a.id < b.id);
  return {
    ticket: (id: string) => state.tickets.get(id) ?? null,
    ticketsOf: (call: string): readonly Ticket[] =>
      where((ticket) => ticket.call === call).sort((a, b) => (a.id < b.id ? -1 : 1)),
    openTickets: (tenant: string) => where((ticket) => ticket.tenant === tenant && ticket.state === 'open').length,
    listTickets({ tenant, state: wanted, queue, before, limit }: TicketFilter): readonly Ticket[] {
      const from =
        before === undefined ? undefined : (where(({ id, tenant: of }) => id === before && of === tenant)[0] ?? null);
      const fits = (ticket: Ticket) =>
        ticket.tenant === tenant &&
        (wanted === undefined || ticket.state === wanted) &&
        (queue === undefined || ticket.queue === queue) &&
        (from === undefined || (from !== null && isOlder(ticket, from)));
      return where(fits)
        .sort((a, b) => (isOlder(a, b) ? 1 : -1))
        .slice(0, limit);
    },
  };
}
