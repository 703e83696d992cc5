/**
 * The tables of the file, its migrations, and the check that a file is ours and of a version that we can read. Every
 * insert on the path of a call is an append: ids are ordered by time. A migration, once released, never changes.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { CallState } from '../../../core/taxonomy.ts';
import { refuse, type Refused } from './refusal.ts';

/** 'rcrs' in ASCII: tells our files from other people's databases. */
export const applicationId = 0x72637273;

/** Means "no due time" in timers: every call that is not finished has exactly one row there. */
export const never = Number.MAX_SAFE_INTEGER;

/** States of calls that are not finished and not in doubt: recovery walks over these. */
export const unfinishedStates: readonly CallState[] = ['PREPARED', 'DISPATCHED', 'RETRY_WAIT', 'AWAITING_APPROVAL'];

/** A record's place as one number: what the journal is ordered by. */
export const epochStride = 2 ** 32;

const first = `
CREATE TABLE calls (
  id TEXT PRIMARY KEY, tenant TEXT NOT NULL, agent TEXT NOT NULL, session TEXT, turn TEXT, tool TEXT NOT NULL, key TEXT,
  fingerprint TEXT NOT NULL, effect_class TEXT NOT NULL, state TEXT NOT NULL, attempt INTEGER NOT NULL, owner TEXT,
  tainted INTEGER NOT NULL, created_at INTEGER NOT NULL, deadline_at INTEGER NOT NULL, due_at INTEGER,
  seq INTEGER NOT NULL, updated_at INTEGER NOT NULL, requester_left_at INTEGER,
  repeats INTEGER NOT NULL DEFAULT 0, counted INTEGER NOT NULL DEFAULT 0,
  token TEXT NOT NULL, last_at INTEGER, args_payload INTEGER, reply_payload INTEGER, reply_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_abandoned ON calls (session, fingerprint) WHERE requester_left_at IS NOT NULL;
CREATE INDEX calls_uncounted ON calls (id) WHERE repeats > counted;
CREATE INDEX calls_in_doubt ON calls (id) WHERE state = 'IN_DOUBT';

CREATE TABLE sessions (
  id TEXT PRIMARY KEY, tenant TEXT NOT NULL, agent TEXT NOT NULL, standing INTEGER NOT NULL, state TEXT NOT NULL,
  seq INTEGER NOT NULL, entries INTEGER NOT NULL, opened_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sessions_standing ON sessions (tenant, agent) WHERE standing = 1 AND state = 'open';

CREATE TABLE turns (
  session TEXT NOT NULL, turn TEXT NOT NULL, cancelled_at INTEGER NOT NULL, PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
  tenant TEXT NOT NULL, agent TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, call_id TEXT NOT NULL,
  expires_at INTEGER NOT NULL, PRIMARY KEY (tenant, agent, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_expiry ON keys (expires_at);

CREATE TABLE timers (
  due_at INTEGER NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, PRIMARY KEY (due_at, kind, subject)
) STRICT, WITHOUT ROWID;

CREATE TABLE accounts (
  tenant TEXT NOT NULL, account TEXT NOT NULL, held INTEGER NOT NULL, settled INTEGER NOT NULL,
  PRIMARY KEY (tenant, account)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (hash TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;

CREATE TABLE tokens (
  id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, last_at INTEGER
) STRICT;

CREATE TABLE epochs (
  epoch INTEGER PRIMARY KEY, chain BLOB NOT NULL, opened_at INTEGER NOT NULL, closed_at INTEGER,
  answered INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE journal (
  at INTEGER PRIMARY KEY, kind TEXT NOT NULL, call_id TEXT, header BLOB NOT NULL, hash BLOB NOT NULL, payload INTEGER
) STRICT;
CREATE INDEX journal_call ON journal (call_id) WHERE call_id IS NOT NULL;

CREATE TABLE payloads (id INTEGER PRIMARY KEY, salt BLOB NOT NULL, bytes BLOB NOT NULL) STRICT;
`;

const workflows = `
ALTER TABLE sessions ADD COLUMN used_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN workflow TEXT;
ALTER TABLE sessions ADD COLUMN manifest TEXT;
ALTER TABLE sessions ADD COLUMN turn_call TEXT;
ALTER TABLE sessions ADD COLUMN operation TEXT;
ALTER TABLE sessions ADD COLUMN timer_at INTEGER;
ALTER TABLE sessions ADD COLUMN reason TEXT;
CREATE INDEX sessions_used ON sessions (used_at, id) WHERE workflow IS NOT NULL;

CREATE TABLE snapshots (
  session TEXT NOT NULL, seq INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE fences (
  session TEXT NOT NULL, call_id TEXT NOT NULL, operation TEXT NOT NULL, PRIMARY KEY (session, call_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_entries (
  session TEXT NOT NULL, entry INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (session, entry)
) STRICT, WITHOUT ROWID;
`;

const approvals = `
CREATE TABLE approvals (
  id TEXT PRIMARY KEY, tenant TEXT NOT NULL, agent TEXT NOT NULL, subject TEXT NOT NULL, edited_subject TEXT,
  state TEXT NOT NULL, call_id TEXT NOT NULL, session TEXT, version INTEGER NOT NULL, opened_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL, on_approve TEXT NOT NULL, edited_args TEXT, body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX approvals_live ON approvals (tenant, agent, subject) WHERE state IN ('pending', 'granted', 'denied');
CREATE INDEX approvals_pending ON approvals (tenant, agent) WHERE state = 'pending';
CREATE INDEX approvals_inbox ON approvals (tenant, id) WHERE state = 'pending';
CREATE INDEX approvals_run ON approvals (id) WHERE state = 'granted' AND on_approve = 'run';
CREATE INDEX approvals_subject ON approvals (tenant, agent, subject, id);
CREATE INDEX approvals_edited ON approvals (tenant, agent, edited_subject, id) WHERE edited_subject IS NOT NULL;
CREATE INDEX approvals_tenant ON approvals (tenant, id);
CREATE INDEX approvals_call ON approvals (call_id, id);

CREATE TABLE tasks (call_id TEXT PRIMARY KEY, due_at INTEGER NOT NULL, state TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX tasks_open ON tasks (due_at, call_id) WHERE state = 'open';
`;

const pins = `
ALTER TABLE sessions ADD COLUMN pinned_at INTEGER NOT NULL DEFAULT 0;
`;

/**
 * What is kept for a while was kept by wall time before: it is kept for the usual while more, by the age of the store.
 */
const age = `
ALTER TABLE epochs ADD COLUMN age INTEGER NOT NULL DEFAULT 0;
ALTER TABLE calls ADD COLUMN left_age INTEGER;
UPDATE calls SET left_age = 0 WHERE requester_left_at IS NOT NULL;
UPDATE keys SET expires_at = ${7 * 86_400_000};
`;

/** A listing reads one index, newest first, whatever it filters by. */
const tickets = `
CREATE TABLE tickets (
  id TEXT PRIMARY KEY, tenant TEXT NOT NULL, agent TEXT NOT NULL, session TEXT, call_id TEXT NOT NULL, tool TEXT NOT NULL,
  queue TEXT NOT NULL, reason TEXT NOT NULL, state TEXT NOT NULL, opened_at INTEGER NOT NULL, closed_at INTEGER,
  closed_by TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX tickets_call ON tickets (call_id, id);
CREATE INDEX tickets_all ON tickets (tenant, opened_at, id);
CREATE INDEX tickets_state ON tickets (tenant, state, opened_at, id);
CREATE INDEX tickets_queue ON tickets (tenant, queue, opened_at, id);
CREATE INDEX tickets_queue_state ON tickets (tenant, queue, state, opened_at, id);
`;

/** What each call holds is a row of its own, so that it is given back exactly once. */
const quotas = `
ALTER TABLE accounts ADD COLUMN allowed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN approval TEXT;
CREATE TABLE holds (
  call_id TEXT NOT NULL, tenant TEXT NOT NULL, account TEXT NOT NULL, amount INTEGER NOT NULL,
  PRIMARY KEY (call_id, tenant, account)
) STRICT, WITHOUT ROWID;
CREATE TABLE buckets (
  tenant TEXT NOT NULL, bucket TEXT NOT NULL, full_at INTEGER NOT NULL, PRIMARY KEY (tenant, bucket)
) STRICT, WITHOUT ROWID;
ALTER TABLE approvals ADD COLUMN account TEXT;
CREATE INDEX approvals_spending ON approvals (expires_at)
  WHERE account IS NOT NULL AND state IN ('pending', 'granted', 'denied');
`;

/** Who works on a ticket, its times, its fence and its answer. A listing of what is due or left to run is short. */
const ticketAnswers = `
ALTER TABLE tickets ADD COLUMN version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE tickets ADD COLUMN due_at INTEGER;
ALTER TABLE tickets ADD COLUMN expires_at INTEGER;
ALTER TABLE tickets ADD COLUMN overdue_at INTEGER;
ALTER TABLE tickets ADD COLUMN next_at INTEGER;
ALTER TABLE tickets ADD COLUMN assignee TEXT;
ALTER TABLE tickets ADD COLUMN fence_session TEXT;
ALTER TABLE tickets ADD COLUMN fence_operation TEXT;
ALTER TABLE tickets ADD COLUMN end TEXT;
ALTER TABLE tickets ADD COLUMN work TEXT NOT NULL DEFAULT 'none';
ALTER TABLE tickets ADD COLUMN continuation TEXT;
ALTER TABLE tickets ADD COLUMN answer TEXT;
UPDATE tickets SET end = CASE closed_by WHEN 'recourse' THEN 'settled' ELSE 'give_up' END WHERE state = 'closed';
CREATE INDEX tickets_next ON tickets (next_at, id) WHERE next_at IS NOT NULL;
CREATE INDEX tickets_due ON tickets (id) WHERE work = 'due';
CREATE INDEX tickets_untold ON tickets (session, id) WHERE work IN ('due', 'untold');
CREATE INDEX tickets_fence ON tickets (fence_session, id) WHERE state = 'open' AND fence_session IS NOT NULL;
`;

/** Some items of the call are on record as done, and the others are sent again. */
const kept = `
ALTER TABLE calls ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
`;

/** A call has one right to be reversed, and a session one rollback, for ever. */
const reversals = `
CREATE TABLE reversals (
  id TEXT PRIMARY KEY, tenant TEXT NOT NULL, agent TEXT NOT NULL, session TEXT, call_id TEXT NOT NULL, tool TEXT NOT NULL,
  reverser TEXT NOT NULL, state TEXT NOT NULL, window_ms INTEGER NOT NULL, expires_at INTEGER, redeemed_by TEXT,
  tries INTEGER NOT NULL, asked_by TEXT, reason TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX reversals_call ON reversals (call_id);
CREATE INDEX reversals_due ON reversals (id) WHERE state = 'due';

CREATE TABLE rollbacks (
  session TEXT PRIMARY KEY, tenant TEXT NOT NULL, agent TEXT NOT NULL, state TEXT NOT NULL, asked_by TEXT NOT NULL,
  reason TEXT NOT NULL, started_at INTEGER NOT NULL, finished_at INTEGER, version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rollbacks_running ON rollbacks (session) WHERE state = 'running';

CREATE TABLE rollback_steps (
  session TEXT NOT NULL, call_id TEXT NOT NULL, tool TEXT NOT NULL, position INTEGER NOT NULL, outcome TEXT NOT NULL,
  why TEXT, reversal TEXT, at INTEGER NOT NULL, PRIMARY KEY (session, call_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX rollback_steps_in_doubt ON rollback_steps (call_id) WHERE outcome = 'in_doubt';
`;

/** For which credential somebody must sign in. */
const ticketCredentials = `
ALTER TABLE tickets ADD COLUMN credential TEXT;
CREATE INDEX tickets_sign_in ON tickets (id) WHERE state = 'open' AND credential IS NOT NULL;
`;

/** The agent of the call wants it stopped, and said so to a process that does not run it. */
const stops = `
ALTER TABLE calls ADD COLUMN stop_asked INTEGER NOT NULL DEFAULT 0;
`;

/** The migration at index n makes a file of version n one of version n + 1. */
export const migrations: readonly string[] = [
  first,
  workflows,
  approvals,
  pins,
  age,
  tickets,
  quotas,
  ticketAnswers,
  kept,
  reversals,
  ticketCredentials,
  stops,
];
export const schemaVersion = migrations.length;

/** Brings a file to today's version, each step in a transaction of its own. */
export function migrate(database: DatabaseSync, from: number): void {
  for (let version = from; version < migrations.length; version++) {
    database.exec('BEGIN IMMEDIATE');
    try {
      database.exec(migrations[version] as string);
      // INVARIANT: the identity and the version are part of the same commit as the tables they speak of.
      database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version + 1}`);
      database.exec('COMMIT');
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }
}

export interface Identity {
  readonly application: number;
  readonly version: number;
  readonly tables: number;
}

export function readIdentity(database: DatabaseSync): Identity {
  const read = (text: string) => Number(Object.values(database.prepare(text).get() ?? {})[0]);
  return {
    application: read('PRAGMA application_id'),
    version: read('PRAGMA user_version'),
    tables: read('SELECT count(*) FROM sqlite_schema'),
  };
}

export const isEmpty = ({ application, version, tables }: Identity): boolean =>
  application === 0 && version === 0 && tables === 0;

export function judgeIdentity(identity: Identity, file: string): Refused<'not_a_store' | 'newer_schema'> | null {
  if (isEmpty(identity)) return null;
  if (identity.application !== applicationId)
    return refuse('not_a_store', `'${file}' belongs to another program: name another file`);
  if (identity.version > schemaVersion)
    return refuse(
      'newer_schema',
      `'${file}' was written by a newer version (schema ${identity.version}, this one knows ${schemaVersion}): upgrade`,
    );
  return null;
}
