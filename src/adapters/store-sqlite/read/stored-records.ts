/**
 * Reads records of the journal with their payloads, byte for byte as stored, and the arguments and the reply of a call.
 * A text is compared with the commitment in its record: one that was changed in the file is not returned.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { CallId } from '../../../core/call/call.ts';
import { commitTo, decodeHeader, saltBytes } from '../../../core/journal/encode.ts';
import type { Commitment, Header } from '../../../core/journal/record.ts';
import type { StoredPayload, StoredRecord } from '../../../core/journal/verify.ts';
import type { StoredText } from '../../../ports/store.ts';
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

type Part = 'args' | 'reply';

interface TextRow {
  readonly pointer: number | null;
  readonly salt: Uint8Array | null;
  readonly bytes: Uint8Array | null;
}

interface HolderRow {
  readonly header: Uint8Array;
  readonly payload: number;
}

export function createTextReader(database: DatabaseSync): (id: CallId, part: Part) => StoredText {
  const texts = { args: database.prepare(textIn('args_payload')), reply: database.prepare(textIn('reply_payload')) };
  // The payloads of a record have numbers in a row, from the one that the record names.
  const holder = database.prepare(
    'SELECT header, payload FROM journal WHERE call_id = ? AND payload <= ? ORDER BY payload DESC LIMIT 1',
  );

  const commitmentTo = (id: CallId, part: Part, pointer: number): Commitment | null => {
    const row = holder.get(id, pointer) as HolderRow | undefined;
    const header = row === undefined ? null : decodeHeader(row.header, nodeHashing);
    if (row === undefined || header === null || 'problem' in header || header.call !== id) return null;
    const commitment = header.commitments[pointer - row.payload];
    return commitment?.part === part ? commitment : null;
  };

  return (id, part) => {
    const row = texts[part].get(id) as TextRow | undefined;
    if (row === undefined || row.pointer === null) return { kind: 'none' };
    if (row.bytes === null || row.salt === null) return { kind: 'erased' };
    const { salt, bytes } = row;
    const commitment = commitmentTo(id, part, row.pointer);
    if (commitment === null || !isCommitted(commitment, { salt, bytes })) return { kind: 'altered' };
    return { kind: 'text', text: nodeHashing.text(bytes) };
  };
}

function textIn(column: string): string {
  return `SELECT calls.${column} AS pointer, payloads.salt, payloads.bytes FROM calls
    LEFT JOIN payloads ON payloads.id = calls.${column} WHERE calls.id = ?`;
}
