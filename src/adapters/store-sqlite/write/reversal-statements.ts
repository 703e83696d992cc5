/** The statements that change reversals and rollbacks, as part of those in statements.ts. */
import type { DatabaseSync } from 'node:sqlite';

export function reversalStatements(database: DatabaseSync) {
  const prepare = (text: string) => database.prepare(text);
  return {
    reversal: prepare('SELECT * FROM reversals WHERE id = ?'),
    reversalOfCall: prepare('SELECT * FROM reversals WHERE call_id = ?'),
    insertReversal: prepare(
      `INSERT INTO reversals (id, tenant, agent, session, call_id, tool, reverser, state, window_ms, tries)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'issued', ?, 0)`,
    ),
    armReversal: prepare(
      `UPDATE reversals SET state = ?2, expires_at = ?3 + window_ms, asked_by = ?4, reason = ?5
       WHERE call_id = ?1 AND state = 'issued'`,
    ),
    voidReversal: prepare(`UPDATE reversals SET state = 'void' WHERE call_id = ? AND state = 'issued'`),
    orderReversal: prepare(`UPDATE reversals SET state = 'due', asked_by = ?2, reason = ?3 WHERE id = ?1`),
    giveUpReversal: prepare(`UPDATE reversals SET state = 'armed', asked_by = NULL, reason = NULL WHERE id = ?`),
    redeemReversal: prepare(`UPDATE reversals SET state = 'redeemed', redeemed_by = ?2 WHERE id = ?1`),
    rearmReversal: prepare(
      `UPDATE reversals SET state = 'armed', redeemed_by = NULL, tries = tries + 1, asked_by = NULL, reason = NULL
       WHERE id = ? AND redeemed_by = ? AND state = 'redeemed'`,
    ),

    rollback: prepare('SELECT * FROM rollbacks WHERE session = ?'),
    startRollback: prepare(
      `INSERT INTO rollbacks (session, tenant, agent, state, asked_by, reason, started_at, version)
       VALUES (?, ?, ?, 'running', ?, ?, ?, 1)
       ON CONFLICT (session) DO UPDATE
         SET state = 'running', started_at = excluded.started_at, finished_at = NULL, version = version + 1
       WHERE state = 'finished'`,
    ),
    writeStep: prepare(
      `INSERT OR REPLACE INTO rollback_steps (session, call_id, tool, position, outcome, why, reversal, at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    moveRollback: prepare('UPDATE rollbacks SET version = version + 1 WHERE session = ?'),
    finishRollback: prepare(
      `UPDATE rollbacks SET version = version + 1, state = 'finished', finished_at = ?2 WHERE session = ?1`,
    ),
  };
}
