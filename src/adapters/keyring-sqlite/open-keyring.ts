/**
 * Opens a file of keys. A missing file is created, readable by its owner only. A file that others can read, or that is
 * not a keyring, is refused and left unchanged. Several processes may open it at once. A refusal says what to do.
 */
import { closeSync, openSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { openDatabase } from './key-table.ts';
import { isBusy, KeyringError, keyringError, type KeyringReason } from './keyring-error.ts';
import { createKeyring, type KeyringSettings, type SqliteKeyring } from './sqlite-keyring.ts';

export interface OpenKeyringOptions extends KeyringSettings {
  /** False: a missing file is refused as `missing` and not created. */
  readonly create?: boolean;
  /** How long to wait for a lock on the file. */
  readonly patienceMs?: number;
}

export interface KeyringRefused {
  readonly kind: 'refused';
  readonly reason: KeyringReason;
  readonly message: string;
}

export type OpenKeyringResult = { readonly kind: 'opened'; readonly keyring: SqliteKeyring } | KeyringRefused;

/** Processes that create the file at once can conflict in ways that SQLite's own timeout does not cover. */
const defaultPatienceMs = 5_000;
const tryEveryMs = 20;
/** Reading blocks this thread, so it waits for a lock no longer than this. */
const lookTimeoutMs = 250;

export async function openSqliteKeyring(options: OpenKeyringOptions): Promise<OpenKeyringResult> {
  const { file, create = true, patienceMs = defaultPatienceMs } = options;
  try {
    const problem = makePrivately(file, create);
    if (problem !== null) return { kind: 'refused', reason: problem.reason, message: problem.message };
    return { kind: 'opened', keyring: createKeyring(await openPatiently(file, patienceMs), options) };
  } catch (error) {
    const { reason, message } = keyringError(error, file);
    return { kind: 'refused', reason, message };
  }
}

/** Never opens a file that exists: closing a second descriptor would drop the locks that this process holds on it. */
function makePrivately(file: string, create: boolean): KeyringError | null {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) {
    if (!create) return new KeyringError('missing', `there are no keys at '${file}' yet: agents add makes the first`);
    try {
      closeSync(openSync(file, 'wx', 0o600));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    return null;
  }
  if (!found.isFile()) return new KeyringError('not_a_keyring', `'${file}' is not a file: move it away`);
  // INVARIANT: nobody else can write the file, because that would let them create any key.
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    return new KeyringError(
      'not_private',
      `'${file}' is open to other users: chmod 600 '${file}', then look at agents ls`,
    );
  return null;
}

async function openPatiently(file: string, patienceMs: number): Promise<DatabaseSync> {
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await openDatabase(file, lookTimeoutMs);
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
      await pause(tryEveryMs);
    }
  }
}
