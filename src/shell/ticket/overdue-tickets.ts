/** Tells of tickets that nobody answered in time, once, and ends those whose time ran out. Any process may do it. */
import { changed, type Ticket } from '../../core/recovery/ticket.ts';
import type { Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';
import { type TicketNote, ticketTransition } from './change-ticket.ts';

/** Who ends a ticket that nobody answered. */
const ourselves = 'recourse';

export async function endOverdueTickets(shell: Shell): Promise<void> {
  const { store, clock } = shell.ports;
  const due = await store.dueTickets(clock.nowMs(), shell.limits.sweepBatch);
  for (const ticket of due) await endOrTell(ticket, shell);
}

/** INVARIANT: against the version that was read: of several processes one does it, and never over an answer. */
async function endOrTell(ticket: Ticket, shell: Shell): Promise<void> {
  const atMs = shell.ports.clock.nowMs();
  const isOver = ticket.expiresAtMs !== null && atMs >= ticket.expiresAtMs;
  const after = isOver
    ? changed(ticket, { state: 'closed', closedAtMs: atMs, closedBy: ourselves, end: 'expired' })
    : changed(ticket, { overdueAtMs: atMs });
  const said: TicketNote = {
    kind: isOver ? 'ticket_expired' : 'ticket_overdue',
    body: isOver ? { expires_at_ms: ticket.expiresAtMs } : { due_at_ms: ticket.dueAtMs, assignee: ticket.assignee },
    payloads: [],
  };
  const call = await shell.ports.store.call(ticket.call);
  const write = { kind: 'change', ticket: after, expect: ticket.version } as const;
  await commit(ticketTransition(ticket, call, write, said, shell), shell);
}
