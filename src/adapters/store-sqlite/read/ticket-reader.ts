/** Reads tickets. Every listing is bounded by its limit and reads one index. */
import type { DatabaseSync } from 'node:sqlite';

import type { Ticket } from '../../../core/recovery/ticket.ts';
import type { StoreReader, TicketFilter } from '../../../ports/store.ts';
import { ticketOf, type TicketRow } from './rows.ts';

type TicketReader = Pick<StoreReader, 'ticket' | 'ticketsOf' | 'listTickets' | 'openTickets'>;

export function createTicketReader(database: DatabaseSync): TicketReader {
  const byId = database.prepare('SELECT * FROM tickets WHERE id = ?');
  const byCall = database.prepare('SELECT * FROM tickets INDEXED BY tickets_call WHERE call_id = ? ORDER BY id');
  const open = database.prepare(
    `SELECT count(*) AS open FROM tickets INDEXED BY tickets_state WHERE tenant = ? AND state = 'open'`,
  );
  return {
    ticket: async (id) => {
      const row = byId.get(id) as TicketRow | undefined;
      return row === undefined ? null : ticketOf(row);
    },
    ticketsOf: async (call) => (byCall.all(call) as unknown as TicketRow[]).map(ticketOf),
    listTickets: async (filter) => listTickets(database, filter),
    openTickets: async (tenant) => (open.get(tenant) as { open: number }).open,
  };
}

function listTickets(database: DatabaseSync, filter: TicketFilter): readonly Ticket[] {
  const { tenant, queue, state, before, limit } = filter;
  const wanted = Object.entries({ queue, state }).filter(([, value]) => value !== undefined);
  const index = wanted.length === 0 ? 'all' : wanted.map(([name]) => name).join('_');
  const where = ['tenant = ?', ...wanted.map(([name]) => `${name} = ?`)];
  const values = [tenant, ...wanted.map(([, value]) => value as string)];
  if (before !== undefined) {
    where.push('(opened_at, id) < (SELECT opened_at, id FROM tickets WHERE id = ? AND tenant = ?)');
    values.push(before, tenant);
  }
  const text = `SELECT * FROM tickets INDEXED BY tickets_${index} WHERE ${where.join(' AND ')}`;
  const rows = database.prepare(`${text} ORDER BY opened_at DESC, id DESC LIMIT ?`).all(...values, limit);
  return (rows as unknown as TicketRow[]).map(ticketOf);
}
