/**
 * Opens the database file and defines its table. Uses a write-ahead log with an fsync at every commit, and checks
 * both. A file of another program or of a newer version is refused before anything in it changes.
 */
import type { DatabaseSync } from 'node:sqlite';
import { KeyringError, damaged } from './keyring-error.ts';
import { keyRoles, type KeyRole } from '../../core/call/identity.ts';
import type { KeyEntry } from '../../ports/keyring.ts';

/** 'rcrk' in ASCII: identifies our files. */
export const applicationId = 0x7263726b;
export const schemaVersion = 1;

/** How long a change waits for the changes of other processes. */
export const writeTimeoutMs = 5_000;

const checkpointPages = 200;
const logLimitBytes = 1_024 * 1_024;

const table = `
CREATE TABLE keys (
  id TEXT PRIMARY KEY, tenant TEXT NOT NULL, role TEXT NOT NULL, name TEXT NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32), created_at INTEGER NOT NULL, created_by TEXT NOT NULL,
  expires_at INTEGER, revoked_at INTEGER, used_at INTEGER, replaced_by TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_tenant ON keys (tenant, created_at, id);
CREATE INDEX keys_admins ON keys (id) WHERE role = 'admin';
`;

export async function openDatabase(file: string, busyTimeoutMs: number): Promise<DatabaseSync> {
  // Loaded lazily, so that an old Node can still load the program and print what it needs.
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: false });
  try {
    prepare(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepare(database: DatabaseSync, file: string): void {
  // In one transaction: another process may be creating the table.
  const version = inTransaction(database, () => judge(database, file), 'BEGIN');
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  // On macOS only this reaches the disk; elsewhere it changes nothing.
  database.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
  database.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}; PRAGMA journal_size_limit = ${logLimitBytes}`);
  database.exec('PRAGMA foreign_keys = OFF; PRAGMA trusted_schema = OFF');
  if (read(database, 'PRAGMA journal_mode') !== 'wal')
    throw new KeyringError(
      'io',
      `the file system of '${file}' cannot share memory between processes: use a local disk`,
    );
  // INVARIANT: a key that was shown and a revocation that was confirmed are on disk.
  if (read(database, 'PRAGMA synchronous') !== 2)
    throw new KeyringError(
      'io',
      `'${file}' does not take synchronous=FULL: this build of SQLite cannot be trusted with it`,
    );
  if (version === schemaVersion) return;
  inTransaction(database, () => {
    // Checked again under the lock: another process may have created the table.
    if (judge(database, file) === schemaVersion) return;
    database.exec(table);
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}`);
  });
}

/** The version of the file; 0 if it is empty. */
function judge(database: DatabaseSync, file: string): number {
  const application = Number(read(database, 'PRAGMA application_id'));
  const version = Number(read(database, 'PRAGMA user_version'));
  const tables = Number(read(database, 'SELECT count(*) FROM sqlite_schema'));
  if (application === 0 && version === 0 && tables === 0) return 0;
  if (application !== applicationId || version < 1)
    throw new KeyringError('not_a_keyring', `'${file}' belongs to another program: move it away`);
  if (version > schemaVersion)
    throw new KeyringError(
      'newer_schema',
      `'${file}' was written by a newer version (schema ${version}, this one knows ${schemaVersion}): upgrade`,
    );
  return version;
}

const read = (database: DatabaseSync, text: string): unknown => Object.values(database.prepare(text).get() ?? {})[0];

/** Runs a transaction; other writers wait. */
export function inTransaction<Result>(database: DatabaseSync, body: () => Result, begin = 'BEGIN IMMEDIATE'): Result {
  database.exec(begin);
  try {
    const result = body();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

export interface KeyRow {
  readonly id: string;
  readonly tenant: string;
  readonly role: string;
  readonly name: string;
  readonly hash: Uint8Array;
  readonly created_at: number;
  readonly created_by: string;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly used_at: number | null;
  /** The key that replaced it when it was rotated. */
  readonly replaced_by: string | null;
}

export const hashBytes = 32;

export function entryOf(row: KeyRow, file: string): KeyEntry {
  if (!(keyRoles as readonly string[]).includes(row.role) || row.hash.length !== hashBytes) throw damaged(file);
  return {
    id: row.id,
    tenant: row.tenant,
    role: row.role as KeyRole,
    name: row.name,
    createdAtMs: row.created_at,
    createdBy: row.created_by,
    expiresAtMs: row.expires_at,
    revokedAtMs: row.revoked_at,
    usedAtMs: row.used_at,
  };
}
