/** Is this file ours, and can this version read it? Reads three numbers and changes nothing. */
import type { DatabaseSync } from 'node:sqlite';

import { refuse, type Refused } from './refusal.ts';
import { applicationId, schemaVersion } from './schema.ts';

export interface Identity {
  readonly application: number;
  readonly version: number;
  readonly tables: number;
}

export function readIdentity(database: DatabaseSync): Identity {
  const read = (text: string) => Number(Object.values(database.prepare(text).get() ?? {})[0]);
  return {
    application: read('PRAGMA application_id'),
    version: read('PRAGMA user_version'),
    tables: read('SELECT count(*) FROM sqlite_schema'),
  };
}

export const isEmpty = ({ application, version, tables }: Identity): boolean =>
  application === 0 && version === 0 && tables === 0;

export function judgeIdentity(identity: Identity, file: string): Refused<'not_a_store' | 'newer_schema'> | null {
  if (isEmpty(identity)) return null;
  if (identity.application !== applicationId)
    return refuse('not_a_store', `'${file}' belongs to another program: name another file`);
  if (identity.version > schemaVersion)
    return refuse(
      'newer_schema',
      `'${file}' was written by a newer version (schema ${identity.version}, this one knows ${schemaVersion}): upgrade`,
    );
  return null;
}
