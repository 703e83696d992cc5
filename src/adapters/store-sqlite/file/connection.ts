/**
 * Opens the file for writing, with a write-ahead log and an fsync at every commit. Both are read back: a setting that
 * did not take is a refusal, not a surprise after a power cut.
 */
import type { DatabaseSync } from 'node:sqlite';

import { refuse, type Refused } from './refusal.ts';
import { judgeIdentity, migrate, readIdentity } from './schema.ts';

const cacheKibibytes = 64 * 1_024;
const checkpointPages = 4_000;
const logLimitBytes = 64 * 1_024 * 1_024;
const busyTimeoutMs = 5_000;

export function openForWriting(
  file: string,
  maxPages: number | null,
): { readonly kind: 'opened'; readonly database: DatabaseSync } | Refused {
  // Taken only now: a Node that lacks it must get far enough to say which Node is needed.
  const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite');
  const database = new Database(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: false });
  const refused = prepare(database, file, maxPages);
  if (refused === null) return { kind: 'opened', database };
  database.close();
  return refused;
}

function prepare(database: DatabaseSync, file: string, maxPages: number | null): Refused | null {
  const identity = readIdentity(database);
  const stranger = judgeIdentity(identity, file);
  if (stranger !== null) return stranger;
  const read = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  // On macOS only this reaches the disk; elsewhere it changes nothing.
  database.exec('PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
  database.exec(`PRAGMA cache_size = -${cacheKibibytes}; PRAGMA wal_autocheckpoint = ${checkpointPages}`);
  database.exec(`PRAGMA journal_size_limit = ${logLimitBytes}; PRAGMA foreign_keys = OFF; PRAGMA trusted_schema = OFF`);
  if (maxPages !== null) database.exec(`PRAGMA max_page_count = ${maxPages}`);
  if (read('journal_mode') !== 'wal')
    return refuse('io', `the file system of '${file}' cannot share memory between processes: use a local disk`);
  // INVARIANT: an acknowledged commit is on the disk.
  if (read('synchronous') !== 2)
    return refuse('io', `'${file}' does not take synchronous=FULL: this build of SQLite cannot be trusted with it`);
  migrate(database, identity.version);
  return null;
}
