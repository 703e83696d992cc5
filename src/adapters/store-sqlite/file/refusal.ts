/**
 * Translates SQLite's result codes into our refusals and faults. Messages are lower case, name the file and say what to
 * do.
 */
import type { StoreTrouble } from '../../../ports/store.ts';

export type RefusalReason =
  | 'newer_schema'
  | 'not_a_store'
  | 'not_writable'
  | 'locked'
  | 'journal_broken'
  | 'store_missing'
  | 'store_replaced'
  | 'io'
  | 'missing';

export interface Refused<Reason extends RefusalReason = RefusalReason> {
  readonly kind: 'refused';
  readonly reason: Reason;
  readonly message: string;
}

export function refuse<Reason extends RefusalReason>(reason: Reason, message: string): Refused<Reason> {
  return { kind: 'refused', reason, message };
}

export const sqlite = {
  perm: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/** SQLite's primary result code, or null if the error is not SQLite's. */
export function sqliteCode(error: unknown): number | null {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : null;
}

const environmental: ReadonlySet<number> = new Set([
  sqlite.perm,
  sqlite.busy,
  sqlite.locked,
  sqlite.readOnly,
  sqlite.ioError,
  sqlite.corrupt,
  sqlite.full,
  sqlite.cannotOpen,
  sqlite.notADatabase,
  7, // out of memory
]);

/** True if the disk or the file is to blame; otherwise one of the transitions is. */
export function isEnvironmental(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && environmental.has(code);
}

export const takenOver = (file: string): StoreTrouble => ({
  fault: 'fenced',
  message: `another process has taken '${file}' over: stop this one`,
});

export const fullDisk = (file: string): StoreTrouble => ({
  fault: 'disk_full',
  message: `the disk that holds '${file}' is full: make room, then ask again`,
});

export function faultOf(error: unknown, file: string): StoreTrouble {
  switch (sqliteCode(error)) {
    case sqlite.full:
      return fullDisk(file);
    case sqlite.readOnly:
    case sqlite.perm:
      return { fault: 'read_only', message: `'${file}' cannot be written: check its owner, its mode and its mount` };
    case sqlite.busy:
    case sqlite.locked:
      return { fault: 'io', message: `another program holds a lock on '${file}': close it, then ask again` };
    case sqlite.corrupt:
    case sqlite.notADatabase:
      return { fault: 'io', message: `'${file}' is damaged: stop the gateway and restore a backup` };
    default:
      return { fault: 'io', message: `'${file}' could not be written (${textOf(error)}): check the disk` };
  }
}

const notWritable: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EISDIR']);

export function refusalOf(error: unknown, file: string): Refused {
  if (notWritable.has((error as { code?: unknown } | null)?.code))
    return refuse('not_writable', `'${file}' cannot be opened for writing: check its folder, owner and mode`);
  switch (sqliteCode(error)) {
    case sqlite.notADatabase:
      return refuse('not_a_store', `'${file}' is not a database: name another file, or move this one away`);
    case sqlite.readOnly:
    case sqlite.perm:
    case sqlite.cannotOpen:
      return refuse('not_writable', `'${file}' cannot be opened for writing: check its folder, owner and mode`);
    case sqlite.busy:
    case sqlite.locked:
      return refuse('locked', `another program holds a lock on '${file}': close it, then start again`);
    default:
      return refuse('io', faultOf(error, file).message);
  }
}

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
