/**
 * Writes changes of keys to the table. Each is one transaction, checked inside it, so that processes that share the
 * file cannot undo each other. Knows hashes, never secrets.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { KeyEntry, NewKey } from '../../ports/keyring.ts';
import { keyLimits } from './key-limits.ts';
import { entryOf, type KeyRow, inTransaction } from './key-table.ts';
import { KeyringError } from './keyring-error.ts';

/** A key that was made and is not stored yet. */
export interface Fresh {
  readonly id: string;
  readonly hash: Uint8Array;
}

export interface Rotation {
  readonly tenant: string;
  readonly id: string;
  readonly graceMs: number;
  readonly by: string;
}

export type KeyWriter = ReturnType<typeof createKeyWriter>;

export function createKeyWriter(database: DatabaseSync, file: string) {
  const statements = {
    row: database.prepare('SELECT * FROM keys WHERE id = ? AND tenant = ?'),
    admin: database.prepare(`SELECT 1 FROM keys WHERE role = 'admin' LIMIT 1`),
    count: database.prepare('SELECT count(*) AS count FROM keys WHERE tenant = ?'),
    insert: database.prepare(
      'INSERT INTO keys (id, tenant, role, name, hash, created_at, created_by, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ),
    makeRoom: database.prepare(
      `DELETE FROM keys WHERE id = (SELECT id FROM keys WHERE tenant = ?
         AND (revoked_at IS NOT NULL OR expires_at <= ?) ORDER BY created_at, id LIMIT 1)`,
    ),
    replace: database.prepare(
      `UPDATE keys SET replaced_by = ?, expires_at = min(coalesce(expires_at, ?), ?),
         revoked_at = CASE WHEN ? = 0 THEN ? ELSE revoked_at END WHERE id = ?`,
    ),
    revoke: database.prepare('UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? AND tenant = ?'),
    use: database.prepare('UPDATE keys SET used_at = ? WHERE id = ? AND (used_at IS NULL OR used_at < ?)'),
  };

  const insert = (fresh: Fresh, key: NewKey, nowMs: number): KeyEntry => {
    const { tenant, role, name, createdBy, expiresAtMs } = key;
    const { count } = statements.count.get(tenant) as { count: number };
    if (count >= keyLimits.maxKeysOfTenant && Number(statements.makeRoom.run(tenant, nowMs).changes) === 0)
      throw new KeyringError(
        'too_many_keys',
        `tenant '${tenant}' has ${keyLimits.maxKeysOfTenant} keys that work: revoke those that nobody uses`,
      );
    statements.insert.run(fresh.id, tenant, role, name, fresh.hash, nowMs, createdBy, expiresAtMs);
    return { id: fresh.id, tenant, role, name, createdAtMs: nowMs, createdBy, expiresAtMs, ...unused };
  };

  return {
    add: (fresh: Fresh, key: NewKey, nowMs: number): KeyEntry =>
      inTransaction(database, () => insert(fresh, key, nowMs)),

    /** Only if there never was an admin. `keep` runs inside the transaction; if it throws, nothing is written. */
    addFirstAdmin: (fresh: Fresh, key: Omit<NewKey, 'role'>, nowMs: number, keep: () => void): KeyEntry | null =>
      inTransaction(database, () => {
        if (statements.admin.get() !== undefined) return null;
        const entry = insert(fresh, { ...key, role: 'admin' }, nowMs);
        keep();
        return entry;
      }),

    rotate: (fresh: Fresh, { tenant, id, graceMs, by }: Rotation, nowMs: number): KeyEntry | null =>
      inTransaction(database, () => {
        const row = statements.row.get(id, tenant) as KeyRow | undefined;
        if (row === undefined) return null;
        const old = entryOf(row, file);
        // INVARIANT: a key is rotated once. The second attempt fails, so that no unknown successor exists.
        if (row.replaced_by !== null) throw ended(id, `was rotated before: its successor is ${row.replaced_by}`);
        if (old.revokedAtMs !== null) throw ended(id, 'is revoked: add a key instead');
        if (old.expiresAtMs !== null && old.expiresAtMs <= nowMs) throw ended(id, 'is expired: add a key instead');
        // The successor of a key that expires gets the same lifetime.
        const lifeMs = old.expiresAtMs === null ? null : old.expiresAtMs - old.createdAtMs;
        const expiresAtMs = lifeMs === null ? null : nowMs + Math.max(lifeMs, 1);
        // The old key is ended first, so that it can make room for the new one.
        const until = nowMs + graceMs;
        statements.replace.run(fresh.id, until, until, graceMs, nowMs, id);
        return insert(fresh, { tenant, role: old.role, name: old.name, createdBy: by, expiresAtMs }, nowMs);
      }),

    /** Keeps the time of the first revocation. */
    revoke: (tenant: string, id: string, nowMs: number): boolean =>
      inTransaction(database, () => Number(statements.revoke.run(nowMs, id, tenant).changes) === 1),

    use: (marks: readonly (readonly [id: string, atMs: number])[]): void =>
      inTransaction(database, () => {
        for (const [id, atMs] of marks) statements.use.run(atMs, id, atMs);
      }),
  };
}

const unused = { revokedAtMs: null, usedAtMs: null } as const;

const ended = (id: string, why: string) => new KeyringError('ended', `key '${id}' ${why}`);
