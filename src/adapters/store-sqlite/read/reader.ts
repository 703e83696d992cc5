/**
 * Reads the file on a connection that only reads: it sees everything that was acknowledged and never waits for a
 * commit. Statements run on the calling thread; a long listing yields to the event loop between its pieces.
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { setImmediate as giveWay } from 'node:timers/promises';

import type { CallId } from '../../../core/call/call.ts';
import type { CallFilter, StoredCall, StoreReader } from '../../../ports/store.ts';
import { createAccountReader } from './account-reader.ts';
import { createApprovalReader } from './approval-reader.ts';
import { createAgeReader, unansweredFrom } from '../file/epoch.ts';
import { createJournalReader } from './journal-reader.ts';
import { createSessionReader } from './session-reader.ts';
import { createReversalReader } from './reversal-reader.ts';
import { type CallRow, callOf, type SessionRow, sessionOf } from './rows.ts';
import { createTextReader } from './stored-records.ts';
import { createTicketReader } from './ticket-reader.ts';
import { unfinishedStates } from '../file/schema.ts';

/** Rows that a filtered listing reads before it yields. */
const listPiece = 2_000;

/** Without the owner's count the age is the one that it wrote down last, which is never too high. */
export function createReader(database: DatabaseSync, age = createAgeReader(database)): StoreReader {
  const one = <Row>(text: string) => {
    const statement = database.prepare(text);
    return (...values: SQLInputValue[]) => statement.get(...values) as Row | undefined;
  };
  const calls = (text: string) => {
    const statement = database.prepare(text);
    return (...values: SQLInputValue[]) => (statement.all(...values) as unknown as CallRow[]).map(callOf);
  };
  const states = unfinishedStates.map((state) => `'${state}'`).join(', ');

  const call = one<CallRow>('SELECT * FROM calls WHERE id = ?');
  const text = createTextReader(database);
  const key = one<{ call_id: string; fingerprint: string }>(
    'SELECT call_id, fingerprint FROM keys WHERE tenant = ? AND agent = ? AND key = ? AND expires_at > ?',
  );
  const session = one<SessionRow>('SELECT * FROM sessions WHERE id = ?');
  const standing = one<SessionRow>(
    "SELECT * FROM sessions WHERE tenant = ? AND agent = ? AND standing = 1 AND state = 'open'",
  );
  const turn = one('SELECT 1 FROM turns WHERE session = ? AND turn = ?');
  const abandoned = one<CallRow>(
    `SELECT * FROM calls INDEXED BY calls_abandoned
     WHERE session = ? AND fingerprint = ? AND requester_left_at IS NOT NULL AND left_age > ? AND key IS NULL
     ORDER BY id DESC LIMIT 1`,
  );
  const due = calls(
    `SELECT calls.* FROM timers JOIN calls ON calls.id = timers.subject
     WHERE timers.due_at <= ? AND timers.kind = 'call' ORDER BY timers.due_at, timers.subject LIMIT ?`,
  );
  const unfinished = calls(
    `SELECT calls.* FROM timers CROSS JOIN calls ON calls.id = timers.subject
     WHERE timers.kind = 'call' AND timers.subject > ? AND calls.state IN (${states}) ORDER BY timers.subject LIMIT ?`,
  );
  const unanswered = calls(
    `SELECT DISTINCT calls.* ${unansweredFrom} AND epochs.epoch < (SELECT max(epoch) FROM epochs) LIMIT ?`,
  );
  const uncounted = calls('SELECT * FROM calls INDEXED BY calls_uncounted WHERE repeats > counted ORDER BY id LIMIT ?');
  const blob = one<{ text: string }>('SELECT text FROM blobs WHERE hash = ?');

  return {
    call: async (id) => maybe(call(id), callOf),
    args: async (id) => text(id, 'args'),
    reply: async (id) => text(id, 'reply'),
    key: async (tenant, agent, name) =>
      maybe(key(tenant, agent, name, age()), (row) => ({
        callId: row.call_id as CallId,
        fingerprint: row.fingerprint,
      })),
    session: async (id) => maybe(session(id), sessionOf),
    standingSession: async (tenant, agent) => maybe(standing(tenant, agent), sessionOf),
    ...createSessionReader(database),
    turnCancelled: async (id, name) => turn(id, name) !== undefined,
    abandoned: async (id, fingerprint, withinMs) => maybe(abandoned(id, fingerprint, age() - withinMs), callOf),
    due: async (nowMs, limit) => due(nowMs, limit),
    unfinished: async (after, limit) => unfinished(after, limit),
    unanswered: async (limit, of) => (of === undefined ? unanswered(limit) : []),
    uncounted: async (limit) => uncounted(limit),
    blob: async (hash) => blob(hash)?.text ?? null,
    ...createApprovalReader(database),
    ...createTicketReader(database),
    ...createReversalReader(database, age),
    ...createAccountReader(database),
    listCalls: (filter) => listCalls(database, filter),
    ...createJournalReader(database),
  };
}

/** Calls whose requester left and which may still get a reply. */
export function leftBehind(database: DatabaseSync): string[] {
  const rows = database
    .prepare(
      `SELECT calls.id FROM timers JOIN calls ON calls.id = timers.subject WHERE requester_left_at IS NOT NULL
       UNION SELECT id FROM calls INDEXED BY calls_in_doubt WHERE state = 'IN_DOUBT' AND requester_left_at IS NOT NULL`,
    )
    .all() as unknown as { id: string }[];
  return rows.map(({ id }) => id);
}

const maybe = <Row, Value>(row: Row | undefined, make: (row: Row) => Value): Value | null =>
  row === undefined ? null : make(row);

async function listCalls(database: DatabaseSync, filter: CallFilter): Promise<readonly StoredCall[]> {
  const { tenant, agent, session, state, tool, before, limit } = filter;
  const wanted = Object.entries({ tenant, agent, session, state, tool }).filter(([, value]) => value !== undefined);
  const where = wanted.map(([name]) => `${name} = ?`).join(' AND ') || 'TRUE';
  const source = state === 'IN_DOUBT' ? `calls INDEXED BY calls_in_doubt WHERE state = 'IN_DOUBT' AND` : 'calls WHERE';
  const piece = database.prepare(
    `SELECT * FROM (SELECT * FROM ${source} id < ? ORDER BY id DESC LIMIT ${listPiece}) WHERE ${where} LIMIT ?`,
  );
  const end = database.prepare(`SELECT id FROM ${source} id < ? ORDER BY id DESC LIMIT 1 OFFSET ${listPiece - 1}`);
  const found: StoredCall[] = [];
  // Beyond every text: SQLite orders blobs after it.
  let from: string | Uint8Array = before ?? new Uint8Array();
  for (;;) {
    const values = wanted.map(([, value]) => value as string);
    const rows = piece.all(from, ...values, limit - found.length) as unknown as CallRow[];
    found.push(...rows.map(callOf));
    const last = end.get(from) as { id: string } | undefined;
    if (found.length >= limit || last === undefined) return found;
    from = last.id;
    await giveWay();
  }
}
