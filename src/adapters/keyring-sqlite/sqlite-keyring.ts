/**
 * The keyring: finds the holder of a key, and adds, rotates and revokes keys. Reads use a read-only connection here; a
 * thread writes. Errors are KeyringErrors. An invalid key is null, never an error.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { KeyEntry, Keyring, NewKey } from '../../ports/keyring.ts';
import { checkNewKey, checkRotation, keyLimits } from './key-limits.ts';
import { entryOf, hashBytes, type KeyRow, openDatabase, writeTimeoutMs } from './key-table.ts';
import { makeKey, readKey } from './key-text.ts';
import { KeyringError, keyringError } from './keyring-error.ts';
import { createUsedMarks } from './used-marks.ts';
import { createKeyWriter } from './write-keys.ts';
import { createWriterThread, type Spawn } from './writer-thread.ts';

export interface KeyringSettings {
  readonly file: string;
  /** Called with problems that concern no caller, such as a time of use that could not be written. */
  readonly onSuppressed?: (problem: string) => void;
  readonly monotonicMs?: () => number;
  /** Starts the writer's thread; a seam for tests. */
  readonly spawn?: Spawn;
}

export interface ShownKey {
  readonly entry: KeyEntry;
  readonly key: string;
}

export interface SqliteKeyring extends Keyring {
  /**
   * An admin, only if the file knows none, ended ones included; else null. `keep` puts the key where its holder finds
   * it: if it throws, or the process dies, there is no such key. Of several processes one succeeds. Stops this thread
   * meanwhile.
   */
  addFirstAdmin(key: Omit<NewKey, 'role'>, nowMs: number, keep: (key: string) => void): Promise<ShownKey | null>;
}

export const lookStatements = {
  /** An unknown id gives a revoked dummy key, so that the lookup takes the same time as for a known one. */
  findKey: `
    SELECT coalesce(k.id, 'nobody') AS id, coalesce(k.tenant, 'nobody') AS tenant, coalesce(k.role, 'agent') AS role,
      coalesce(k.name, 'nobody') AS name, coalesce(k.hash, ?) AS hash, coalesce(k.created_at, 0) AS created_at,
      coalesce(k.created_by, 'nobody') AS created_by, k.expires_at, iif(k.id IS NULL, 0, k.revoked_at) AS revoked_at,
      k.used_at, k.replaced_by
    FROM (SELECT 1) LEFT JOIN keys AS k ON k.id = ?`,
  listKeys: 'SELECT * FROM keys WHERE tenant = ? ORDER BY created_at, id',
} as const;

const isAlive = ({ revokedAtMs, expiresAtMs }: KeyEntry, nowMs: number): boolean =>
  revokedAtMs === null && (expiresAtMs ?? Infinity) > nowMs;

export function createKeyring(database: DatabaseSync, settings: KeyringSettings): SqliteKeyring {
  const { file, onSuppressed = () => undefined, monotonicMs = () => performance.now(), spawn } = settings;
  database.exec('PRAGMA query_only = ON');
  const select = database.prepare(lookStatements.findKey);
  const selectAll = database.prepare(lookStatements.listKeys);
  const found = createFoundKeys(monotonicMs);
  const thread = createWriterThread(file, spawn);
  const marks = createUsedMarks((used) => thread.ask({ type: 'use', marks: used }), onSuppressed);
  const nobody = randomBytes(hashBytes);
  let closing: Promise<void> | null = null;

  const guarded = async <Result>(body: () => Result | Promise<Result>): Promise<Result> => {
    if (closing !== null) throw new KeyringError('closed', `the keys of '${file}' are closed: open them again`);
    try {
      return await body();
    } catch (error) {
      throw keyringError(error, file);
    }
  };

  return {
    find: (text, nowMs) =>
      guarded(() => {
        const shown = readKey(text);
        if (shown === null) return null;
        const name = shown.id + shown.hash.toString('latin1');
        const recent = found.get(name);
        const row = recent ?? (select.get(nobody, shown.id) as unknown as KeyRow);
        const entry = entryOf(row, file);
        // INVARIANT: the whole hash is compared, whether or not the id exists.
        const isRight = timingSafeEqual(shown.hash, row.hash);
        if (!isRight || !isAlive(entry, nowMs)) return null;
        // INVARIANT: only fresh reads are cached; otherwise a key in constant use would outlive its revocation.
        if (recent === undefined) found.put(name, row);
        marks.note(entry.id, nowMs);
        return { tenant: entry.tenant, role: entry.role, name: entry.name, keyId: entry.id };
      }),

    liveHashes: (ids, nowMs) =>
      guarded(() => {
        const rows = ids.map((id) => select.get(nobody, id) as unknown as KeyRow);
        const live = rows.filter((row) => isAlive(entryOf(row, file), nowMs));
        return new Map(live.map((row) => [row.id, Buffer.from(row.hash).toString('hex')]));
      }),

    add: (key, nowMs) =>
      guarded(async () => {
        checkNewKey(key, nowMs);
        const { key: text, ...fresh } = makeKey();
        return { entry: (await thread.ask({ type: 'add', fresh, key, nowMs })) as KeyEntry, key: text };
      }),

    addFirstAdmin: (key, nowMs, keep) =>
      guarded(async () => {
        checkNewKey({ ...key, role: 'admin' }, nowMs);
        const { key: text, ...fresh } = makeKey();
        const own = await openDatabase(file, writeTimeoutMs);
        try {
          const entry = createKeyWriter(own, file).addFirstAdmin(fresh, key, nowMs, () => keep(text));
          return entry === null ? null : { entry, key: text };
        } finally {
          own.close();
        }
      }),

    rotate: (tenant, id, graceMs, by, nowMs) =>
      guarded(async () => {
        checkRotation(graceMs, by);
        const { key: text, ...fresh } = makeKey();
        const order = { type: 'rotate', fresh, tenant, id, graceMs, by, nowMs } as const;
        const entry = await thread.ask(order).finally(found.clear);
        return entry === null ? null : { entry: entry as KeyEntry, key: text };
      }),

    revoke: (tenant, id, nowMs) =>
      guarded(async () => (await thread.ask({ type: 'revoke', tenant, id, nowMs }).finally(found.clear)) === true),

    list: (tenant) => guarded(() => (selectAll.all(tenant) as unknown as KeyRow[]).map((row) => entryOf(row, file))),

    close: () =>
      (closing ??= (async () => {
        await marks.flush();
        await thread.close();
        database.close();
      })()),
  };
}

export interface FoundKeys {
  get(name: string): KeyRow | undefined;
  put(name: string, row: KeyRow): void;
  clear(): void;
}

export function createFoundKeys(monotonicMs: () => number): FoundKeys {
  const found = new Map<string, { readonly row: KeyRow; readonly untilMs: number }>();
  return {
    get(name) {
      const kept = found.get(name);
      if (kept === undefined) return undefined;
      // INVARIANT: by the monotonic clock, so that a revocation by another process takes effect in time.
      if (monotonicMs() < kept.untilMs) return kept.row;
      found.delete(name);
      return undefined;
    },
    put(name, row) {
      const [oldest] = found.size >= keyLimits.maxFound ? found.keys() : [];
      if (oldest !== undefined) found.delete(oldest);
      found.set(name, { row, untilMs: monotonicMs() + keyLimits.foundForMs });
    },
    clear: () => found.clear(),
  };
}
