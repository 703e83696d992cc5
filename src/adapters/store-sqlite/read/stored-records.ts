/** How does a row of the journal become a record with its payloads, byte for byte as stored? */
import type { DatabaseSync } from 'node:sqlite';

import { commitTo, decodeHeader, saltBytes } from '../../../core/journal/encode.ts';
import type { Commitment, Header } from '../../../core/journal/record.ts';
import type { StoredPayload, StoredRecord } from '../../../core/journal/verify.ts';
import { nodeHashing } from '../node-hashing.ts';
import { positionOf } from './rows.ts';

export interface RecordRow {
  readonly at: number;
  readonly kind: string;
  readonly call_id: string | null;
  readonly header: Uint8Array;
  readonly hash: Uint8Array;
  readonly payload: number | null;
}

export const recordColumns = 'at, kind, call_id, header, hash, payload';

/** INVARIANT: what is told as recorded is what was recorded. */
export const isCommitted = ({ hash }: Commitment, { salt, bytes }: StoredPayload): boolean =>
  salt.length === saltBytes && Buffer.compare(hash, commitTo(salt, bytes, nodeHashing)) === 0;

export function createRecordReader(database: DatabaseSync) {
  const payload = database.prepare('SELECT salt, bytes FROM payloads WHERE id = ?');
  const range = database.prepare(`SELECT ${recordColumns} FROM journal WHERE at >= ? ORDER BY at`);

  const payloadsOf = (row: RecordRow, header: Header): (StoredPayload | null)[] =>
    header.commitments.map((_, index) => {
      if (row.payload === null) return null;
      return (payload.get(row.payload + index) as StoredPayload | undefined) ?? null;
    });

  const stored = (row: RecordRow): StoredRecord => {
    const header = decodeHeader(row.header, nodeHashing);
    const payloads = 'problem' in header ? [] : payloadsOf(row, header);
    const { kind, call_id: call, header: bytes, hash } = row;
    return { ...positionOf(row.at), kind, call, header: bytes, hash, payloads };
  };

  return {
    stored,
    payloadsOf,
    /** Every record from a place on, read as it is asked for. */
    *from(at: number): Generator<StoredRecord> {
      for (const row of range.iterate(at)) yield stored(row as unknown as RecordRow);
    },
  };
}
