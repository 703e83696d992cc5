/** Reads the journal: as entries for people, and byte for byte for the verifier. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

import type { CallId } from '../../../core/call/call.ts';
import { decodeHeader } from '../../../core/journal/encode.ts';
import { decisionKinds } from '../../../core/journal/record.ts';
import { hex } from '../../../core/journal/verify.ts';
import type { JournalEntry, StoredDecision, StoreReader } from '../../../ports/store.ts';
import { readTag } from '../file/epoch.ts';
import { nodeHashing } from '../node-hashing.ts';
import { placeOf, positionOf } from './rows.ts';
import { createRecordReader, isCommitted, recordColumns, type RecordRow } from './stored-records.ts';

interface DecisionRow extends Pick<StoredDecision, 'kind' | 'tenant' | 'agent' | 'tool' | 'repeats'> {
  readonly at: number;
  readonly header: Uint8Array;
  readonly id: string;
}

export function createJournalReader(
  database: DatabaseSync,
): Pick<StoreReader, 'recordsOf' | 'journal' | 'epochs' | 'entries' | 'sessionEntries' | 'identity' | 'decisions'> {
  const records = createRecordReader(database);
  const rows = (text: string) => {
    const statement = database.prepare(`SELECT ${recordColumns} FROM journal ${text}`);
    return (...values: SQLInputValue[]) => statement.all(...values) as unknown as RecordRow[];
  };
  const ofCall = rows('WHERE call_id = ? ORDER BY at');
  const after = rows('WHERE at > ? ORDER BY at LIMIT ?');
  const newest = rows('ORDER BY at DESC LIMIT ?');
  const ofSession = rows(
    `WHERE at IN (SELECT at FROM session_entries WHERE session = ? AND entry > ? ORDER BY entry LIMIT ?)
     ORDER BY at`,
  );
  const decisions = database.prepare(
    `SELECT journal.at, journal.kind, journal.header, calls.id, calls.tenant, calls.agent, calls.tool, calls.repeats
     FROM journal JOIN calls ON calls.id = journal.call_id
     WHERE journal.at < ? AND journal.kind IN (${decisionKinds.map((kind) => `'${kind}'`).join(', ')})
     ORDER BY journal.at DESC LIMIT ?`,
  );
  const epochs = database.prepare('SELECT count(*) AS count FROM epochs');

  const decisionOf = ({ at, header, id, ...row }: DecisionRow): readonly StoredDecision[] => {
    const read = decodeHeader(header, nodeHashing);
    // A record that cannot be read is what the verifier tells.
    if ('problem' in read) return [];
    return [{ ...positionOf(at), ...row, call: id as CallId, timeMs: read.timeMs, body: read.body }];
  };

  const entryOf = (row: RecordRow): JournalEntry => {
    const common = { ...positionOf(row.at), hash: hex(row.hash) };
    const header = decodeHeader(row.header, nodeHashing);
    if ('problem' in header)
      return {
        ...common,
        call: row.call_id,
        kind: 'unreadable',
        timeMs: 0,
        session: null,
        sessionSeq: 0,
        body: header.problem,
        payloads: [],
      };
    const { kind, call, session, timeMs, sessionSeq, body } = header;
    const payloads = records.payloadsOf(row, header).map((payload, index) => {
      const commitment = header.commitments[index];
      const kept = payload !== null && commitment !== undefined && isCommitted(commitment, payload);
      return { part: commitment?.part ?? '', text: kept ? nodeHashing.text(payload.bytes) : null };
    });
    return { ...common, call, session, kind, timeMs, sessionSeq, body, payloads };
  };

  return {
    recordsOf: async (id) => ofCall(id).map(entryOf),
    journal: async (position, limit) => after(position === null ? 0 : placeOf(position), limit).map(records.stored),
    sessionEntries: async (id, entry, limit) => ofSession(id, entry, limit).map(entryOf),
    decisions: async (position, limit) => {
      const before = position === null ? Number.MAX_SAFE_INTEGER : placeOf(position);
      return (decisions.all(before, limit) as unknown as DecisionRow[]).flatMap(decisionOf);
    },
    identity: async () => readTag(database),
    epochs: async () => (epochs.get() as { count: number }).count,
    entries: async (position, limit) => {
      if (position === null) return newest(limit).reverse().map(entryOf);
      return after(placeOf(position), limit).map(entryOf);
    },
  };
}
