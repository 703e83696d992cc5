/** Where are the keys of a store, and the operator's? Beside it, under its real name: every process must come to the same files. */
import {
  type OpenKeyringOptions,
  type OpenKeyringResult,
  openSqliteKeyring,
} from '../../adapters/keyring-sqlite/open-keyring.ts';
import { placeOfStore } from '../../adapters/store-sqlite/share/place.ts';

/** Null if the folder does not exist. The store itself need not be there yet. */
export function filesBeside(
  store: string,
): { readonly keys: string; readonly token: string; readonly seal: string } | null {
  const place = placeOfStore(store);
  if (place === null) return null;
  const { file } = place;
  return { keys: `${file}.keys`, token: `${file}.token`, seal: `${file}.seal` };
}

export async function openKeysBeside(
  store: string,
  options: Omit<OpenKeyringOptions, 'file'> = {},
): Promise<OpenKeyringResult> {
  const files = filesBeside(store);
  if (files !== null) return openSqliteKeyring({ ...options, file: files.keys });
  const message = `the folder of '${store}' does not exist: create it, or name another file`;
  // Whoever only looks finds no keys where there is no folder.
  return { kind: 'refused', reason: options.create === false ? 'missing' : 'not_writable', message };
}
