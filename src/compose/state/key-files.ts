/**
 * Finds and opens the files beside a store that hold its API keys, the operator's key and the seal. They are named
 * after the store's real path, so that every process uses the same files.
 */
import {
  type OpenKeyringOptions,
  type OpenKeyringResult,
  openSqliteKeyring,
} from '../../adapters/keyring-sqlite/open-keyring.ts';
import { placeOfStore } from '../../adapters/store-sqlite/share/place.ts';
import { KeyringError } from '../../adapters/keyring-sqlite/keyring-error.ts';
import { may } from '../../core/call/identity.ts';

export const defaultTenant = 'default';

/** Null if the folder does not exist. The store itself need not exist yet. */
export function keyFilesOf(
  store: string,
): { readonly keys: string; readonly token: string; readonly seal: string } | null {
  const place = placeOfStore(store);
  if (place === null) return null;
  const { file } = place;
  return { keys: `${file}.keys`, token: `${file}.token`, seal: `${file}.seal` };
}

export async function openKeysOf(
  store: string,
  options: Omit<OpenKeyringOptions, 'file'> = {},
): Promise<OpenKeyringResult> {
  const files = keyFilesOf(store);
  if (files !== null) return openSqliteKeyring({ ...options, file: files.keys });
  const message = `the folder of '${store}' does not exist: create it, or name another file`;
  // Reading finds no keys in a missing folder.
  return { kind: 'refused', reason: options.create === false ? 'missing' : 'not_writable', message };
}

/** A check does not wait long for a process that has locked the file. */
const patienceMs = 250;

/** The names with a live key that may approve. Null if there are no keys or they cannot be read. Creates nothing. */
export async function findApprovers(store: string, nowMs: number): Promise<ReadonlySet<string> | null> {
  const opened = await openKeysOf(store, { create: false, patienceMs });
  if (opened.kind === 'refused') return null;
  try {
    const keys = await opened.keyring.list(defaultTenant);
    const live = keys.filter(
      ({ expiresAtMs, revokedAtMs }) => revokedAtMs === null && (expiresAtMs ?? Infinity) > nowMs,
    );
    return new Set(live.filter((key) => may({ ...key, keyId: key.id }, 'approve')).map(({ name }) => name));
  } catch (error) {
    if (error instanceof KeyringError) return null;
    throw error;
  } finally {
    await opened.keyring.close();
  }
}
