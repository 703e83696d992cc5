/** A folder that goes away, and a store that must open: for the tests of the SQLite adapter. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { type OpenOptions, openSqliteStore } from '../../src/adapters/store-sqlite/open-store.ts';
import type { SqliteStore } from '../../src/adapters/store-sqlite/sqlite-store.ts';

export async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function mustOpen(options: OpenOptions): Promise<SqliteStore> {
  const opened = await openSqliteStore(options);
  if (opened.kind === 'refused') throw new Error(`${opened.reason}: ${opened.message}`);
  return opened.store;
}
