/**
 * Takes the lock of the store: an exclusive transaction on the empty database beside it. The kernel frees it when the
 * process dies. Never delete the lock file: two owners could each hold a different one.
 */
import { closeSync, openSync } from 'node:fs';

import { refusalOf, type Refused, sqlite, sqliteCode } from '../file/refusal.ts';

export interface Lock {
  readonly kind: 'held';
  free(): void;
}

export async function takeLock(file: string): Promise<Lock | { readonly kind: 'taken' } | Refused> {
  const { DatabaseSync } = await import('node:sqlite');
  try {
    createPrivately(file);
    const database = new DatabaseSync(file, { timeout: 0 });
    try {
      database.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      if (sqliteCode(error) === sqlite.busy) return { kind: 'taken' };
      throw error;
    }
    return { kind: 'held', free: () => database.close() };
  } catch (error) {
    return refusalOf(error, file);
  }
}

/**
 * Creates the file so that only its owner can read it; SQLite gives its log the same mode. Does nothing to a file that
 * exists: closing a second descriptor would drop the locks that this process holds on it.
 */
export function createPrivately(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
