/** Keys beside a store for one test, in a folder that goes away; and clocks that a test turns by hand. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { type OpenKeyringOptions, openSqliteKeyring } from '../../src/adapters/keyring-sqlite/open-keyring.ts';
import type { SqliteKeyring } from '../../src/adapters/keyring-sqlite/sqlite-keyring.ts';
import type { NewKey } from '../../src/ports/keyring.ts';

export const aNewKey = (over: Partial<NewKey> = {}): NewKey => ({
  tenant: 'default',
  role: 'agent',
  name: 'bot',
  createdBy: 'ann',
  expiresAtMs: null,
  ...over,
});

export const noon = Date.UTC(2026, 0, 1, 12);

/** A folder, and the store that keys stand beside; there is no such store. */
export function aPlace(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'recourse-keys-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const store = path.join(folder, 'recourse.db');
  return { folder, store, file: `${store}.keys`, token: `${store}.token` };
}

export async function mustOpenKeyring(t: TestContext, options: OpenKeyringOptions): Promise<SqliteKeyring> {
  const opened = await openSqliteKeyring(options);
  assert.ok(opened.kind === 'opened', JSON.stringify(opened));
  t.after(() => opened.keyring.close());
  return opened.keyring;
}

/** A keyring of its own, with a monotonic clock that stands still until it is moved. */
export async function aKeyring(t: TestContext, options: Partial<OpenKeyringOptions> = {}) {
  const place = aPlace(t);
  const clock = { monotonicMs: 0 };
  const settings = { file: place.file, monotonicMs: () => clock.monotonicMs, ...options };
  return { ...place, clock, keyring: await mustOpenKeyring(t, settings) };
}
