/** Opens the file for reading only, while its owner works or after it was killed. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import type { StoreReader } from '../../../ports/store.ts';
import { createReader } from './reader.ts';
import { refusalOf, refuse, type Refused } from '../file/refusal.ts';
import { isEmpty, judgeIdentity, readIdentity, schemaVersion } from '../file/schema.ts';

export type OpenReaderResult = { readonly kind: 'opened'; readonly reader: StoreReader; close(): void } | Refused;

const busyTimeoutMs = 2_000;
const cacheKibibytes = 16 * 1_024;

export async function openSqliteReader(file: string): Promise<OpenReaderResult> {
  const opened = await openForReading(file);
  if (opened.kind === 'refused') return opened;
  const { database } = opened;
  try {
    if (opened.empty) {
      database.close();
      return refuse('missing', `'${file}' is empty: start the gateway once, or name another file`);
    }
    if (opened.version < schemaVersion) {
      database.close();
      const older = `'${file}' was written by an older version (schema ${opened.version}, this one knows ${schemaVersion})`;
      return refuse('io', `${older}: start the gateway once, which brings it up to date`);
    }
    return { kind: 'opened', reader: createReader(database), close: () => database.close() };
  } catch (error) {
    database.close();
    return refusalOf(error, file);
  }
}

export async function openForReading(
  file: string,
): Promise<
  | { readonly kind: 'opened'; readonly database: DatabaseSync; readonly empty: boolean; readonly version: number }
  | Refused
> {
  // Loaded here and not above, so that an old Node can still load the program and say what it needs.
  const { DatabaseSync } = await import('node:sqlite');
  if (!existsSync(file)) return refuse('missing', `'${file}' does not exist: check the name`);
  let database: DatabaseSync | null = null;
  try {
    // A relative name may be one that means something else to SQLite, such as `:memory:`.
    database = new DatabaseSync(path.resolve(file), {
      readOnly: true,
      timeout: busyTimeoutMs,
      enableForeignKeyConstraints: false,
    });
    database.exec(`PRAGMA cache_size = -${cacheKibibytes}; PRAGMA trusted_schema = OFF`);
    const identity = readIdentity(database);
    const stranger = judgeIdentity(identity, file);
    if (stranger === null) return { kind: 'opened', database, empty: isEmpty(identity), version: identity.version };
    database.close();
    return stranger;
  } catch (error) {
    database?.close();
    return refusalOf(error, file);
  }
}
