/** A live key of the gateway that a test opens, and what that gateway's file holds. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { openKeysOf } from '../../src/compose/state/key-files.ts';
import { folderOf } from './open-gateway.ts';

/** Keys beside the store of this test's gateway. */
export async function aKey(t: TestContext, revoked = false) {
  const opened = await openKeysOf(`${folderOf(t)}/recourse.db`);
  assert.ok(opened.kind === 'opened');
  const { keyring } = opened;
  const holder = { tenant: 'default', role: 'admin', name: 'operator', createdBy: 'test', expiresAtMs: null } as const;
  const { key, entry } = await keyring.add(holder, Date.now());
  if (revoked) await keyring.revoke('default', entry.id, Date.now());
  const used = async () => (await keyring.list('default'))[0]?.usedAtMs;
  return {
    key,
    id: entry.id,
    shown: `rk_${entry.id}_…masked`,
    secret: key.slice(-43),
    used,
    another: async () => (await keyring.add(holder, Date.now())).key,
    close: () => keyring.close(),
  };
}

/** Whatever the store holds, in its log or not. */
export const bytesOf = (file: string): string =>
  ['', '-wal']
    .map((part) => {
      try {
        return readFileSync(`${file}${part}`, 'latin1');
      } catch {
        return '';
      }
    })
    .join('');
