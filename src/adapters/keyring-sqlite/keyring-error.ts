/** Errors of the keyring. Messages are lower case, name the thing, say what to do, and never contain a key. */
export type KeyringReason =
  /** There is no file, and none should be created. */
  | 'missing'
  | 'not_a_keyring'
  | 'newer_schema'
  /** Others could read it, or write keys into it. */
  | 'not_private'
  | 'not_writable'
  | 'locked'
  | 'damaged'
  | 'disk_full'
  | 'io'
  | 'closed'
  | 'busy'
  /** A name, tenant, role or time is invalid. */
  | 'bad_request'
  | 'too_many_keys'
  /** The key was revoked, is expired, or was rotated before. */
  | 'ended';

export class KeyringError extends Error {
  override name = 'KeyringError';
  readonly reason: KeyringReason;
  constructor(reason: KeyringReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

const sqlite = {
  perm: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

/** An error of neither SQLite nor the system is a bug, and is rethrown. */
export function keyringError(error: unknown, file: string): KeyringError {
  if (error instanceof KeyringError) return error;
  const { errcode, code, syscall } = (error ?? {}) as { errcode?: unknown; code?: unknown; syscall?: unknown };
  if (typeof syscall === 'string') return ofSystem(code, error, file);
  if (typeof errcode !== 'number') throw error;
  switch (errcode & 0xff) {
    case sqlite.perm:
    case sqlite.readOnly:
    case sqlite.cannotOpen:
      return notWritable(file);
    case sqlite.busy:
    case sqlite.locked:
      return new KeyringError('locked', `another program holds a lock on '${file}': close it, then ask again`);
    case sqlite.notADatabase:
      return new KeyringError('not_a_keyring', `'${file}' holds no keys of ours: move it away, or restore a backup`);
    case sqlite.corrupt:
      return damaged(file);
    case sqlite.full:
      return diskFull(file);
    default:
      return new KeyringError('io', `'${file}' could not be read or written (${textOf(error)}): check the disk`);
  }
}

export const damaged = (file: string): KeyringError =>
  new KeyringError('damaged', `'${file}' is damaged: keep a copy of it, and restore a backup`);

export const isBusy = (error: unknown): boolean => {
  const { errcode } = (error ?? {}) as { errcode?: unknown };
  return typeof errcode === 'number' && [sqlite.busy, sqlite.locked].includes((errcode & 0xff) as never);
};

const notWritable = (file: string): KeyringError =>
  new KeyringError('not_writable', `'${file}' cannot be written: check its folder, its owner, its mode and its mount`);

const diskFull = (file: string): KeyringError =>
  new KeyringError('disk_full', `the disk that holds '${file}' is full: make room, then ask again`);

const denied: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EISDIR'];

function ofSystem(code: unknown, error: unknown, file: string): KeyringError {
  if (denied.includes(code)) return notWritable(file);
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(file);
  return new KeyringError('io', `'${file}' could not be used (${textOf(error)}): check the disk`);
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
