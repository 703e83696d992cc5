/** Reads tickets. Every listing is bounded by its limit and reads one index. */
import type { DatabaseSync } from 'node:sqlite';

import type { Ticket } from '../../../core/recovery/ticket.ts';
import type { TicketFilter } from '../../../ports/store.ts';
import type { TicketReader } from '../../../ports/store-tickets.ts';
import { ticketOf, type TicketRow } from './rows.ts';

export function createTicketReader(database: DatabaseSync): TicketReader {
  const byId = database.prepare('SELECT * FROM tickets WHERE id = ?');
  const byCall = database.prepare('SELECT * FROM tickets INDEXED BY tickets_call WHERE call_id = ? ORDER BY id');
  const open = database.prepare(
    `SELECT count(*) AS open FROM tickets INDEXED BY tickets_state WHERE tenant = ? AND state = 'open'`,
  );
  const due = database.prepare(
    'SELECT * FROM tickets INDEXED BY tickets_next WHERE next_at <= ? ORDER BY next_at, id LIMIT ?',
  );
  const toRun = database.prepare(
    `SELECT * FROM tickets INDEXED BY tickets_due WHERE work = 'due' AND id > ? ORDER BY id LIMIT ?`,
  );
  const toSignIn = database.prepare(
    `SELECT * FROM tickets INDEXED BY tickets_sign_in WHERE state = 'open' AND credential IS NOT NULL ORDER BY id LIMIT ?`,
  );
  const fences = database.prepare(
    `SELECT * FROM tickets INDEXED BY tickets_fence WHERE fence_session = ? AND state = 'open' ORDER BY id`,
  );
  const continuing = database.prepare(
    `SELECT tickets.* FROM tickets INDEXED BY tickets_untold JOIN calls ON calls.id = tickets.call_id
     WHERE tickets.session = ? AND tickets.work IN ('due', 'untold') AND calls.fingerprint = ?
     ORDER BY tickets.id DESC LIMIT 1`,
  );
  return {
    ticket: async (id) => {
      const row = byId.get(id) as TicketRow | undefined;
      return row === undefined ? null : ticketOf(row);
    },
    ticketsOf: async (call) => ticketsIn(byCall.all(call)),
    listTickets: async (filter) => listTickets(database, filter),
    openTickets: async (tenant) => (open.get(tenant) as { open: number }).open,
    dueTickets: async (nowMs, limit) => ticketsIn(due.all(nowMs, limit)),
    ticketsToRun: async (after, limit) => ticketsIn(toRun.all(after, limit)),
    ticketsToSignIn: async (limit) => ticketsIn(toSignIn.all(limit)),
    ticketFences: async (session) => ticketsIn(fences.all(session)),
    continuing: async (session, fingerprint) => {
      const row = continuing.get(session, fingerprint) as TicketRow | undefined;
      return row === undefined ? null : ticketOf(row);
    },
  };
}

const ticketsIn = (rows: unknown): Ticket[] => (rows as TicketRow[]).map(ticketOf);

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
  return ticketsIn(rows);
}
