/**
 * Creates and reads the operator's key. The first start on a store makes one admin key and keeps it in a file that
 * only its owner can read. Must not write it anywhere else, and uses no file that others can read.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { isKeyText } from '../../adapters/keyring-sqlite/key-text.ts';
import { KeyringError } from '../../adapters/keyring-sqlite/keyring-error.ts';
import type { SqliteKeyring } from '../../adapters/keyring-sqlite/sqlite-keyring.ts';
import { defaultTenant, keyFilesOf } from './key-files.ts';
import { syncFolder } from './state-folder.ts';

export type OperatorToken =
  /** Just created; to be shown once. */
  | { readonly kind: 'made'; readonly file: string; readonly key: string; readonly keyId: string }
  /** The file exists and holds an admin's key. */
  | { readonly kind: 'kept'; readonly file: string; readonly keyId: string }
  /** There are admins but no usable key here. The message says what to do. */
  | { readonly kind: 'absent' | 'unusable'; readonly file: string; readonly message: string };

export type ReadToken =
  | { readonly kind: 'read'; readonly file: string; readonly key: string }
  | { readonly kind: 'missing' | 'unusable'; readonly file: string; readonly message: string };

export interface OperatorTokenParts {
  readonly store: string;
  readonly keyring: Pick<SqliteKeyring, 'addFirstAdmin' | 'find'>;
  readonly nowMs: () => number;
}

export const operatorName = 'operator';
const maker = 'first start';
const maxTokenBytes = 1_024;

/** Rejects with a KeyringError if the keys themselves cannot be read or written. */
export async function ensureOperatorToken({ store, keyring, nowMs }: OperatorTokenParts): Promise<OperatorToken> {
  const file = tokenFile(store);
  const holder = { tenant: defaultTenant, name: operatorName, createdBy: maker, expiresAtMs: null };
  try {
    // INVARIANT: the file is written before the key works, so a crash never leaves a key that nobody has.
    const made = await keyring.addFirstAdmin(holder, nowMs(), (key) => keepToken(file, key));
    if (made !== null) return { kind: 'made', file, key: made.key, keyId: made.entry.id };
  } catch (error) {
    if (error instanceof Unkept) return { kind: 'unusable', file, message: error.message };
    throw error;
  }
  const read = readTokenFile(file);
  if (read.kind !== 'read')
    return read.kind === 'missing'
      ? {
          kind: 'absent',
          file,
          message: `there is no '${file}', and a start makes none once an admin has had a key: ${howToMake(file)}`,
        }
      : { kind: 'unusable', file, message: read.message };
  const who = await keyring.find(read.key, nowMs());
  if (who?.role === 'admin') return { kind: 'kept', file, keyId: who.keyId ?? '' };
  const problem = who === null ? 'does not work any more' : `is not an admin's but that of a ${who.role}`;
  return { kind: 'unusable', file, message: `the key in '${file}' ${problem}: ${howToMake(file)}` };
}

/** For commands that call a gateway on this machine. */
export const readOperatorToken = (store: string): ReadToken => readTokenFile(tokenFile(store));

function tokenFile(store: string): string {
  // Without the folder there is no file; reading reports that.
  return keyFilesOf(store)?.token ?? `${path.resolve(store)}.token`;
}

const howToMake = (file: string): string =>
  `make another key with: (umask 077; recourse agents add ${operatorName} --role admin > '${file}')`;

/** The key could not be written to its file. */
class Unkept extends KeyringError {
  constructor(message: string) {
    super('io', message);
  }
}

/** Writes the file atomically and readable by its owner only. Runs while no other process can do the same. */
function keepToken(file: string, key: string): void {
  const before = readTokenFile(file);
  // An old key is replaced; a file that holds no key is kept.
  if (before.kind === 'unusable') throw new Unkept(before.message);
  const fresh = `${file}-new`;
  try {
    rmSync(fresh, { force: true });
    const descriptor = openSync(fresh, 'wx', 0o600);
    try {
      fchmodSync(descriptor, 0o600);
      writeSync(descriptor, `${key}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(fresh, file);
    syncFolder(path.dirname(file));
  } catch (error) {
    leaveNothing(fresh);
    const { code } = error as NodeJS.ErrnoException;
    throw new Unkept(`'${file}' cannot be written (${code}): check its folder, its owner and its disk`);
  }
}

function leaveNothing(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Ignored: the failed write is reported; a failed removal must not hide it.
  }
}

function readTokenFile(file: string): ReadToken {
  const unusable = (message: string) => ({ kind: 'unusable', file, message }) as const;
  let descriptor: number;
  try {
    // Non-blocking, in case the file is a pipe.
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return { kind: 'missing', file, message: `there is no '${file}': start the gateway once, or ${howToMake(file)}` };
    return unusable(`'${file}' cannot be read (${code}): check its owner and mode`);
  }
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile()) return unusable(`'${file}' is not a file: move it away`);
    // Checks the open file, not the name, so that it cannot be swapped in between.
    if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
      return unusable(
        `'${file}' can be read by other users: chmod 600 '${file}', and if somebody may have read it, rotate its key with agents rotate`,
      );
    const bytes = Buffer.alloc(maxTokenBytes);
    const key = bytes.toString('utf8', 0, readSync(descriptor, bytes)).trim();
    if (!isKeyText(key)) return unusable(`'${file}' holds no key: move it away, or ${howToMake(file)}`);
    return { kind: 'read', file, key };
  } finally {
    closeSync(descriptor);
  }
}
