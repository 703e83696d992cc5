/** What do tickets look like in the tests of stores? What a test does not say is ordinary. */
import type { CallId } from '../../../src/core/call/call.ts';
import { changed, opened, type Ticket, ticketIdOf } from '../../../src/core/recovery/ticket.ts';
import type { Store, TicketWrite, Transition } from '../../../src/ports/store.ts';
import { aTransition, mustCommit, nextId, startMs } from '../store-fixtures.ts';

export function aTicket(over: Partial<Omit<Ticket, 'id'>> = {}): Ticket {
  const call = over.call ?? (nextId('call') as CallId);
  const reason = over.reason ?? 'in_doubt';
  return {
    id: ticketIdOf(call, reason),
    tenant: 'acme',
    agent: 'clerk',
    session: null,
    tool: 'refund',
    queue: 'operators',
    ...opened,
    openedAtMs: startMs,
    dueAtMs: null,
    expiresAtMs: null,
    fence: null,
    ...over,
    call,
    reason,
  };
}

export const ticketing = (...tickets: readonly TicketWrite[]): Transition => aTransition({ tickets });

export const openingTicket = (ticket: Ticket): TicketWrite => ({ kind: 'open', ticket });

export const closingTicket = (ticket: Ticket, by = 'ada', atMs = startMs + 9): TicketWrite => ({
  kind: 'change',
  ticket: closed(ticket, by, atMs),
  expect: ticket.version,
});

export const mootTicket = ({ call, reason }: Ticket, by = 'recourse', atMs = startMs + 9): TicketWrite => ({
  kind: 'moot',
  call,
  reason,
  by,
  atMs,
});

export const closed = (ticket: Ticket, by = 'ada', atMs = startMs + 9): Ticket =>
  changed(ticket, {
    state: 'closed',
    closedBy: by,
    closedAtMs: atMs,
    end: by === 'recourse' ? 'settled' : 'give_up',
  });

export async function mustOpenTicket(store: Store, over: Partial<Omit<Ticket, 'id'>> = {}): Promise<Ticket> {
  const ticket = aTicket(over);
  await mustCommit(store, ticketing(openingTicket(ticket)));
  return ticket;
}
