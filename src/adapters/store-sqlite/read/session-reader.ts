/** Reads workflow sessions: their states, fences and timers. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

import type { Session, StoreReader } from '../../../ports/store.ts';
import { type CallRow, callOf, type SessionRow, sessionOf } from './rows.ts';

type SessionReader = Pick<
  StoreReader,
  'snapshot' | 'firstSnapshot' | 'fences' | 'dueSessions' | 'listSessions' | 'idleSessions' | 'countSessions'
>;

export function createSessionReader(database: DatabaseSync): SessionReader {
  const sessions = (text: string) => {
    const statement = database.prepare(text);
    return (...values: SQLInputValue[]) => (statement.all(...values) as unknown as SessionRow[]).map(sessionOf);
  };
  const snapshot = database.prepare('SELECT text FROM snapshots WHERE session = ? AND seq = ?');
  const firstSnapshot = database.prepare('SELECT min(seq) AS seq FROM snapshots WHERE session = ? AND seq >= ?');
  const fences = database.prepare(
    `SELECT calls.*, fences.operation AS fenced FROM fences JOIN calls ON calls.id = fences.call_id
     WHERE fences.session = ? AND calls.state IN ('IN_DOUBT', 'SUCCEEDED') ORDER BY fences.call_id`,
  );
  const due = sessions(
    `SELECT sessions.* FROM timers JOIN sessions ON sessions.id = timers.subject
     WHERE timers.due_at <= ? AND timers.kind = 'session' AND sessions.state = 'open' AND sessions.turn_call IS NULL
       AND sessions.manifest IN (SELECT value FROM json_each(?))
     ORDER BY timers.due_at, timers.subject LIMIT ?`,
  );
  const idle = sessions(
    `SELECT * FROM sessions INDEXED BY sessions_used WHERE workflow IS NOT NULL AND used_at < ?
       AND state IN ('open', 'stopped') AND turn_call IS NULL AND timer_at IS NULL ORDER BY used_at, id LIMIT ?`,
  );
  const count = database.prepare(
    "SELECT count(*) AS count FROM sessions WHERE workflow IS NOT NULL AND state IN ('open', 'stopped')",
  );
  return {
    snapshot: async (id, seq) => (snapshot.get(id, seq) as { text: string } | undefined)?.text ?? null,
    firstSnapshot: async (id, from) => (firstSnapshot.get(id, from) as { seq: number | null }).seq,
    fences: async (id) =>
      (fences.all(id) as unknown as (CallRow & { fenced: string })[]).map((row) => ({
        operation: row.fenced,
        call: callOf(row),
      })),
    dueSessions: async (nowMs, manifests, limit) => due(nowMs, JSON.stringify(manifests), limit),
    idleSessions: async (usedBeforeMs, limit) => idle(usedBeforeMs, limit),
    countSessions: async () => (count.get() as { count: number }).count,
    listSessions: async ({ limit, ...filter }): Promise<readonly Session[]> => {
      const wanted = Object.entries(filter).filter(([, value]) => value !== undefined);
      const where = ['workflow IS NOT NULL', ...wanted.map(([name]) => `${name} = ?`)].join(' AND ');
      const values = wanted.map(([, value]) => value as string);
      return sessions(`SELECT * FROM sessions WHERE ${where} ORDER BY used_at DESC, id DESC LIMIT ?`)(...values, limit);
    },
  };
}
