/** Every statement of the writer, prepared once. All changes of the file are made by these. */
import type { DatabaseSync } from 'node:sqlite';

import { reversalStatements } from './reversal-statements.ts';

export type Statements = ReturnType<typeof prepareStatements>;

export function prepareStatements(database: DatabaseSync) {
  const prepare = (text: string) => database.prepare(text);
  return {
    begin: prepare('BEGIN IMMEDIATE'),
    commit: prepare('COMMIT'),
    newestEpoch: prepare('SELECT epoch FROM epochs ORDER BY epoch DESC LIMIT 1'),

    call: prepare('SELECT * FROM calls WHERE id = ?'),
    insertCall: prepare(
      `INSERT INTO calls (id, tenant, agent, session, turn, tool, key, fingerprint, effect_class, state, attempt, owner,
         tainted, created_at, deadline_at, due_at, seq, updated_at, token, last_at, args_payload, reply_payload, reply_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO NOTHING`,
    ),
    // INVARIANT: a call moves only from exactly the state, attempt, owner and due time that were read.
    updateCall: prepare(
      `UPDATE calls SET effect_class = ?1, state = ?2, attempt = ?3, owner = ?4, tainted = ?5, deadline_at = ?6,
         due_at = ?7, seq = coalesce(?8, seq), updated_at = ?9, token = ?10, last_at = ?11,
         args_payload = coalesce(?12, args_payload), reply_payload = coalesce(?13, reply_payload),
         reply_at = coalesce(?14, reply_at), kept = ?20
       WHERE id = ?15 AND state = ?16 AND attempt = ?17 AND owner IS ?18 AND due_at IS ?19 AND token <> ?10`,
    ),
    // Out of AWAITING_APPROVAL the call becomes that of whoever asked again, who is there; at no other time does it
    // change hands.
    takeOverCall: prepare(
      'UPDATE calls SET session = ?2, turn = ?3, key = ?4, fingerprint = ?5, requester_left_at = NULL, left_age = NULL WHERE id = ?1',
    ),
    leftEqual: prepare(
      `SELECT * FROM calls INDEXED BY calls_abandoned
       WHERE session = ? AND fingerprint = ? AND requester_left_at IS NOT NULL AND left_age > ? AND key IS NULL
         AND id <> ? LIMIT 1`,
    ),
    markCall: prepare(
      `UPDATE calls SET requester_left_at = ?2, left_age = ?5, repeats = repeats + ?3,
         reply_at = CASE WHEN reply_at IS NULL THEN NULL ELSE coalesce(?4, reply_at) END
       WHERE id = ?1`,
    ),
    rescheduleCall: prepare('UPDATE calls SET due_at = ?2, updated_at = ?3 WHERE id = ?1'),
    countUp: prepare('UPDATE calls SET repeats = repeats + ?2, stop_asked = max(stop_asked, ?3) WHERE id = ?1'),
    countRepeats: prepare('UPDATE calls SET counted = repeats WHERE id = ?'),

    key: prepare('SELECT call_id, fingerprint, expires_at FROM keys WHERE tenant = ? AND agent = ? AND key = ?'),
    insertKey: prepare(
      `INSERT INTO keys (tenant, agent, key, fingerprint, call_id, expires_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant, agent, key) DO NOTHING`,
    ),
    replaceKey: prepare(
      'INSERT OR REPLACE INTO keys (tenant, agent, key, fingerprint, call_id, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    deleteKey: prepare('DELETE FROM keys WHERE tenant = ? AND agent = ? AND key = ?'),
    expiredKeys: prepare('SELECT tenant, agent, key FROM keys WHERE expires_at <= ? ORDER BY expires_at LIMIT ?'),

    session: prepare('SELECT * FROM sessions WHERE id = ?'),
    standingSession: prepare(
      "SELECT * FROM sessions WHERE tenant = ? AND agent = ? AND standing = 1 AND state = 'open'",
    ),
    insertSession: prepare(
      `INSERT INTO sessions (id, tenant, agent, standing, state, seq, entries, opened_at, used_at, workflow, manifest, timer_at,
         pinned_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    // Without the state: the index of standing sessions depends on it, and would be written with every call.
    updateSession: prepare('UPDATE sessions SET seq = ?, entries = ?, used_at = ? WHERE id = ?'),
    updateWorkflow: prepare(
      `UPDATE sessions SET seq = ?, entries = ?, used_at = ?, state = ?, manifest = ?, turn_call = ?, operation = ?, timer_at = ?,
         reason = ?, pinned_at = ?
       WHERE id = ?`,
    ),
    endSession: prepare('UPDATE sessions SET state = ? WHERE id = ?'),
    insertSnapshot: prepare('INSERT INTO snapshots (session, seq, text) VALUES (?, ?, ?)'),
    dropSnapshots: prepare('DELETE FROM snapshots WHERE session = ? AND seq <= ?'),
    insertFence: prepare('INSERT OR REPLACE INTO fences (session, call_id, operation) VALUES (?, ?, ?)'),
    fence: prepare('SELECT 1 FROM fences WHERE session = ? AND call_id = ?'),
    deleteFence: prepare('DELETE FROM fences WHERE session = ? AND call_id = ?'),
    insertEntry: prepare('INSERT INTO session_entries (session, entry, at) VALUES (?, ?, ?)'),
    insertSessionTimer: prepare(`INSERT OR REPLACE INTO timers (due_at, kind, subject) VALUES (?, 'session', ?)`),
    deleteSessionTimer: prepare(`DELETE FROM timers WHERE due_at = ? AND kind = 'session' AND subject = ?`),
    insertTurn: prepare('INSERT INTO turns (session, turn, cancelled_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),

    insertTimer: prepare(`INSERT OR REPLACE INTO timers (due_at, kind, subject) VALUES (?, 'call', ?)`),
    deleteTimer: prepare(`DELETE FROM timers WHERE due_at = ? AND kind = 'call' AND subject = ?`),

    insertBlob: prepare('INSERT INTO blobs (hash, text) VALUES (?, ?) ON CONFLICT DO NOTHING'),

    ...accountStatements(database),
    ...approvalStatements(database),
    ...ticketStatements(database),

    token: prepare('SELECT seq, last_at FROM tokens WHERE token = ?'),
    insertToken: prepare('INSERT INTO tokens (token, seq, last_at) VALUES (?, ?, ?)'),
    purgeTokens: prepare('DELETE FROM tokens WHERE id <= (SELECT max(id) FROM tokens) - ?'),

    insertRecord: prepare('INSERT INTO journal (at, kind, call_id, header, hash, payload) VALUES (?, ?, ?, ?, ?, ?)'),
    insertPayload: prepare('INSERT INTO payloads (id, salt, bytes) VALUES (?, ?, ?)'),
    recordsOfCall: prepare(
      'SELECT at, header, payload FROM journal WHERE call_id = ? AND payload IS NOT NULL ORDER BY at',
    ),
    deletePayload: prepare('DELETE FROM payloads WHERE id = ?'),

    answered: prepare('UPDATE epochs SET answered = ? WHERE epoch = ?'),
    age: prepare('UPDATE epochs SET age = ? WHERE epoch = ?'),
    closeEpoch: prepare('UPDATE epochs SET closed_at = ? WHERE epoch = ?'),
  };
}

function accountStatements(database: DatabaseSync) {
  const prepare = (text: string) => database.prepare(text);
  return {
    account: prepare('SELECT held, settled, allowed, approval FROM accounts WHERE tenant = ? AND account = ?'),
    writeAccount: prepare(
      'INSERT OR REPLACE INTO accounts (tenant, account, held, settled, allowed, approval) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    holds: prepare('SELECT tenant, account, amount FROM holds WHERE call_id = ?'),
    writeHold: prepare(
      `INSERT INTO holds (call_id, tenant, account, amount) VALUES (?, ?, ?, ?)
       ON CONFLICT (call_id, tenant, account) DO UPDATE SET amount = amount + excluded.amount`,
    ),
    dropHolds: prepare('DELETE FROM holds WHERE call_id = ?'),
    bucket: prepare('SELECT full_at FROM buckets WHERE tenant = ? AND bucket = ?'),
    writeBucket: prepare('INSERT OR REPLACE INTO buckets (tenant, bucket, full_at) VALUES (?, ?, ?)'),
  };
}

function approvalStatements(database: DatabaseSync) {
  const prepare = (text: string) => database.prepare(text);
  return {
    approval: prepare('SELECT * FROM approvals WHERE id = ?'),
    liveApproval: prepare(
      `SELECT * FROM approvals INDEXED BY approvals_live
       WHERE tenant = ? AND agent = ? AND subject = ? AND state IN ('pending', 'granted', 'denied')`,
    ),
    pendingApprovals: prepare(
      `SELECT count(*) AS pending FROM approvals INDEXED BY approvals_pending
       WHERE tenant = ? AND agent = ? AND state = 'pending'`,
    ),
    insertApproval: prepare(
      `INSERT INTO approvals (state, version, call_id, session, expires_at, on_approve, edited_subject, edited_args, body,
         id, tenant, agent, subject, opened_at, account)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    updateApproval: prepare(
      `UPDATE approvals SET state = ?, version = ?, call_id = ?, session = ?, expires_at = ?, on_approve = ?,
         edited_subject = ?, edited_args = ?, body = ?
       WHERE id = ?`,
    ),
    // The version moves too: whoever still holds the old one cannot write the arguments back.
    eraseEdits: prepare(
      `UPDATE approvals INDEXED BY approvals_call SET edited_args = NULL, version = version + 1
       WHERE call_id = ? AND edited_args IS NOT NULL RETURNING id`,
    ),

    task: prepare('SELECT * FROM tasks WHERE call_id = ?'),
    insertTask: prepare(`INSERT INTO tasks (call_id, due_at, state) VALUES (?, ?, 'open')`),
    closeTask: prepare('UPDATE tasks SET state = ? WHERE call_id = ?'),
  };
}

function ticketStatements(database: DatabaseSync) {
  const prepare = (text: string) => database.prepare(text);
  return {
    ...reversalStatements(database),
    ticket: prepare('SELECT * FROM tickets WHERE id = ?'),
    // INVARIANT: a call has at most one ticket for a reason.
    insertTicket: prepare(
      `INSERT INTO tickets (state, closed_at, closed_by, version, due_at, expires_at, overdue_at, next_at, assignee,
         fence_session, fence_operation, end, work, continuation, answer, credential,
         id, tenant, agent, session, call_id, tool, queue, reason, opened_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    ),
    updateTicket: prepare(
      `UPDATE tickets SET state = ?, closed_at = ?, closed_by = ?, version = ?, due_at = ?, expires_at = ?, overdue_at = ?,
         next_at = ?, assignee = ?, fence_session = ?, fence_operation = ?, end = ?, work = ?, continuation = ?, answer = ?, credential = ?
       WHERE id = ?`,
    ),
    equalSince: prepare(
      `SELECT * FROM calls WHERE id > ?1 AND session = ?2 AND fingerprint = ?3 AND id <> ?4
         AND last_at > coalesce((SELECT last_at FROM calls WHERE id = ?4), 0)
         AND state IN ('PREPARED', 'DISPATCHED', 'RETRY_WAIT', 'SUCCEEDED', 'IN_DOUBT', 'CLOSED_UNKNOWN') LIMIT 1`,
    ),
    // The call of the ticket, in whose place an equal one would run.
    continuedEqual: prepare(
      `SELECT calls.* FROM tickets INDEXED BY tickets_untold JOIN calls ON calls.id = tickets.call_id
       WHERE tickets.session = ? AND tickets.work IN ('due', 'untold') AND calls.fingerprint = ? AND calls.id <> ? LIMIT 1`,
    ),
    // The version moves too: whoever still holds the old one cannot write the arguments back.
    eraseAnswers: prepare(
      `UPDATE tickets INDEXED BY tickets_call SET answer = NULL, version = version + 1
       WHERE call_id = ? AND answer IS NOT NULL RETURNING id`,
    ),
  };
}
