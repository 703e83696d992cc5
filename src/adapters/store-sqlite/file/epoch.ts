/**
 * Verifies the end of the journal and opens the next epoch, or resumes the current one. Verifies from the last anchor
 * only; the whole journal is for `recourse audit verify`.
 */
import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

import { canonicalText } from '../../../core/values/canonical.ts';
import { anchorEvery, chainBytes, decodeHeader, formatVersion, genesis } from '../../../core/journal/encode.ts';
import { createVerifier, type Head, hex } from '../../../core/journal/verify.ts';
import { type Chain, type ChainHead, createChain } from '../write/chain.ts';
import { nodeHashing } from '../node-hashing.ts';
import { refuse, type Refused } from './refusal.ts';
import { positionOf } from '../read/rows.ts';
import { epochStride, schemaVersion } from './schema.ts';
import type { Statements } from '../write/statements.ts';
import { createRecordReader } from '../read/stored-records.ts';

/** In `epochs.answered`: every reply of this epoch was answered. */
export const drained = epochStride - 1;

interface Tail {
  readonly head: Head | null;
  readonly timeMs: number;
  readonly nextPayload: number;
}

interface EpochRow {
  readonly epoch: number;
  readonly chain: Uint8Array;
}

type Row = { at: number; hash: Uint8Array; header: Uint8Array; payload: number | null };

/** The last record of the file, and the first payload number that no record has ever used. */
export function readTail(database: DatabaseSync): Tail {
  const last = database.prepare('SELECT * FROM journal ORDER BY at DESC LIMIT 1').get() as Row | undefined;
  const loaded = database.prepare('SELECT * FROM journal WHERE payload IS NOT NULL ORDER BY at DESC LIMIT 1').get() as
    | Row
    | undefined;
  const header = last === undefined ? null : decodeHeader(last.header, nodeHashing);
  const owner = loaded === undefined ? null : decodeHeader(loaded.header, nodeHashing);
  // INVARIANT: a payload's number is never used twice, not even after the newest one was erased.
  const used = owner === null || 'problem' in owner ? 0 : (loaded?.payload ?? 0) + owner.commitments.length;
  return {
    head: last === undefined ? null : { ...positionOf(last.at), hash: last.hash },
    timeMs: header === null || 'problem' in header ? 0 : header.timeMs,
    nextPayload: Math.max(used, 1),
  };
}

/** How old the store is, by what its owners have written down. */
export function createAgeReader(database: DatabaseSync): () => number {
  const statement = database.prepare('SELECT coalesce(max(age), 0) AS age FROM epochs');
  return () => (statement.get() as { age: number }).age;
}

/** Eight hex digits by which one store is told from another: the chain of its first epoch. */
export function readTag(database: DatabaseSync): string {
  const row = database.prepare('SELECT chain FROM epochs ORDER BY epoch LIMIT 1').get() as
    | Pick<EpochRow, 'chain'>
    | undefined;
  return row === undefined ? '00000000' : hex(row.chain.subarray(0, 4));
}

/** Null if the records since the last anchor hold. */
export function verifyTail(database: DatabaseSync, head: Head | null, file: string): Refused<'journal_broken'> | null {
  if (head === null) return null;
  const anchor = head.seq - (head.seq % anchorEvery);
  const start = head.epoch * epochStride + Math.max(anchor, 1);
  const before = database.prepare('SELECT at, hash FROM journal WHERE at < ? ORDER BY at DESC LIMIT 1').get(start) as
    | Row
    | undefined;
  const trusted = before === undefined ? null : { ...positionOf(before.at), hash: before.hash };
  const verifier = createVerifier(nodeHashing, trusted);
  for (const record of createRecordReader(database).from(start)) verifier.add(record);
  const problem = verifier.report().problems[0];
  if (problem === undefined) return null;
  return refuse(
    'journal_broken',
    `the journal in '${file}' is broken at record ${problem.epoch}/${problem.seq}: ${problem.problem}. ` +
      `run 'recourse audit verify' to see all of it, keep a copy of the file, and start from a backup or a new file`,
  );
}

/** Opens the next epoch with `epoch_open` as its first record. */
export function openEpoch(database: DatabaseSync, statements: Statements, tail: Tail, nowMs: number): Chain {
  const closed = database.prepare('SELECT epoch, closed_at FROM epochs ORDER BY epoch DESC LIMIT 1').get() as
    | { epoch: number; closed_at: number | null }
    | undefined;
  const epoch = Math.max(closed?.epoch ?? 0, tail.head?.epoch ?? 0) + 1;
  const reason = closed === undefined ? 'start' : closed.closed_at === null ? 'after_crash' : 'after_close';
  const { head } = tail;
  const previous = head === null ? null : { epoch: head.epoch, seq: head.seq, hash: hex(head.hash) };
  const id = randomBytes(chainBytes);
  const chain = createChain(id, startOf(epoch, tail), statements);
  const body = canonicalText({ format: formatVersion, previous, reason, schema: schemaVersion });
  database.exec('BEGIN IMMEDIATE');
  try {
    database.prepare('INSERT INTO epochs (epoch, chain, opened_at) VALUES (?, ?, ?)').run(epoch, id, nowMs);
    closeAnsweredEpochs(database, epoch);
    chain.append({ kind: 'epoch_open', call: null, session: null, body, payloads: [] }, 0, nowMs);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
  return chain;
}

/**
 * Resumes the epoch of a worker that died while its process still holds the lock. Null if another process took over.
 */
export function resumeEpoch(database: DatabaseSync, statements: Statements, tail: Tail, epoch: number): Chain | null {
  const row = database.prepare('SELECT epoch, chain FROM epochs ORDER BY epoch DESC LIMIT 1').get() as
    | EpochRow
    | undefined;
  if (row?.epoch !== epoch || tail.head?.epoch !== epoch) return null;
  return createChain(row.chain, { ...tail.head, timeMs: tail.timeMs, nextPayload: tail.nextPayload }, statements);
}

const startOf = (epoch: number, { timeMs, nextPayload }: Tail): ChainHead => ({
  epoch,
  seq: 0,
  hash: genesis,
  timeMs,
  nextPayload,
});

/** Earlier epochs without unanswered replies are not searched again. */
function closeAnsweredEpochs(database: DatabaseSync, before: number): void {
  const open = database
    .prepare('SELECT epoch FROM epochs WHERE epoch < ? AND answered < ?')
    .all(before, drained) as unknown as { epoch: number }[];
  const waiting = database.prepare(`SELECT 1 ${unansweredFrom} AND epochs.epoch = ? LIMIT 1`);
  const close = database.prepare('UPDATE epochs SET answered = ? WHERE epoch = ?');
  for (const { epoch } of open) if (waiting.get(epoch) === undefined) close.run(drained, epoch);
}

/**
 * Calls with a reply beyond their epoch's mark. The 64 is `maxRecords`: the reply's record may stand that far before
 * it.
 */
export const unansweredFrom = `
  FROM epochs
  JOIN journal ON journal.at > epochs.epoch * ${epochStride} + epochs.answered - 64
    AND journal.at < (epochs.epoch + 1) * ${epochStride}
  JOIN calls ON calls.id = journal.call_id
  WHERE epochs.answered < ${drained} AND calls.requester_left_at IS NULL
    AND calls.reply_at > epochs.epoch * ${epochStride} + epochs.answered
    AND calls.reply_at < (epochs.epoch + 1) * ${epochStride}`;
