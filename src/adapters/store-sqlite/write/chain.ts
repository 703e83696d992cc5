/**
 * Appends records to this epoch's hash chain, whose head is kept in memory. The head runs ahead inside a batch and
 * becomes real with its COMMIT; `reset` takes it back.
 */
import { randomFillSync } from 'node:crypto';

import { canonicalText } from '../../../core/values/canonical.ts';
import { anchorEvery, commitTo, encodeLeaf, linkHash, saltBytes } from '../../../core/journal/encode.ts';
import type { Commitment, Position, RecordDraft } from '../../../core/journal/record.ts';
import { hex } from '../../../core/journal/verify.ts';
import { nodeHashing } from '../node-hashing.ts';
import { epochStride } from '../file/schema.ts';
import type { Statements } from './statements.ts';

export interface ChainHead extends Position {
  readonly hash: Uint8Array;
  readonly timeMs: number;
  readonly nextPayload: number;
}

export interface Chain {
  /** Appends one record, and before it an anchor where one is due. Returns the record's sequence number. */
  append(draft: RecordDraft, sessionSeq: number, atMs: number): number;
  head(): ChainHead;
  reset(head: ChainHead): void;
}

const noPayloads: readonly Commitment[] = [];
/** Larger than nearly every header: only a giant body allocates. */
const roomBytes = 16_384;

export function createChain(chain: Uint8Array, start: ChainHead, statements: Statements): Chain {
  const { epoch } = start;
  const salt = saltPool();
  const room = new Uint8Array(roomBytes);
  let { seq, hash, timeMs, nextPayload } = start;

  const write = (draft: RecordDraft, sessionSeq: number, atMs: number) => {
    seq += 1;
    // INVARIANT: times in a chain never go back, so the last record's time is the highest.
    if (atMs > timeMs) timeMs = atMs;
    let commitments = noPayloads;
    const firstPayload = draft.payloads.length === 0 ? null : nextPayload;
    if (firstPayload !== null) {
      commitments = draft.payloads.map(({ part, text }) => {
        const bytes = nodeHashing.utf8(text);
        const salted = salt();
        statements.insertPayload.run(nextPayload++, salted, bytes);
        return { part, hash: commitTo(salted, bytes, nodeHashing) };
      });
    }
    const header = { chain, epoch, seq, sessionSeq, timeMs, ...about(draft), commitments };
    // SQLite copies what it is given, so the room may be used again for the next record.
    const leaf = encodeLeaf(header, nodeHashing, room);
    hash = linkHash(header, hash, leaf, nodeHashing);
    statements.insertRecord.run(
      epoch * epochStride + seq,
      draft.kind,
      draft.call,
      leaf.subarray(1),
      hash,
      firstPayload,
    );
  };

  return {
    append(draft, sessionSeq, atMs) {
      // INVARIANT: every thousandth record is an anchor, so opening verifies at most two thousand records.
      if ((seq + 1) % anchorEvery === 0) {
        const body = canonicalText({ head: hex(hash), records: seq });
        write({ kind: 'anchor', call: null, session: null, body, payloads: [] }, 0, atMs);
      }
      write(draft, sessionSeq, atMs);
      return seq;
    },
    head: () => ({ epoch, seq, hash, timeMs, nextPayload }),
    reset(head) {
      ({ seq, hash, timeMs, nextPayload } = head);
    },
  };
}

/** The sequence number of the last of `count` records appended after `seq`, anchors included. */
export function seqAfter(seq: number, count: number): number {
  let last = seq;
  for (let left = count; left > 0; left--) last += (last + 1) % anchorEvery === 0 ? 2 : 1;
  return last;
}

/** Random salts, drawn from the system many at a time. */
function saltPool(): () => Uint8Array {
  const pool = new Uint8Array(saltBytes * 1_024);
  let at = pool.length;
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    at += saltBytes;
    return pool.subarray(at - saltBytes, at);
  };
}

const about = ({ kind, call, session, body }: RecordDraft) => ({ kind, call, session, body });
