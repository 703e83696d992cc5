/**
 * What were the arguments and the reply of a call? Read from its payloads and compared with what the journal committed to:
 * a text that was changed in the file is not handed out. Only reads.
 */
import type { DatabaseSync } from 'node:sqlite';

import type { CallId } from '../../../core/call/call.ts';
import { decodeHeader } from '../../../core/journal/encode.ts';
import type { Commitment } from '../../../core/journal/record.ts';
import type { StoredText } from '../../../ports/store.ts';
import { nodeHashing } from '../node-hashing.ts';
import { isCommitted } from './stored-records.ts';

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
