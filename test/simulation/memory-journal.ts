/**
 * The journal of a memory store: one chain for each incarnation, side by side on one state, with the bytes, salts and
 * hashes of the real thing. Salts and chain ids come from the seed, so that the same seed gives the same bytes.
 */
import { hash } from 'node:crypto';
import { canonicalText } from '../../src/core/values/canonical.ts';
import {
  anchorEvery,
  chainBytes,
  commitTo,
  encodeLeaf,
  formatVersion,
  genesis,
  linkHash,
  saltBytes,
} from '../../src/core/journal/encode.ts';
import type { Commitment, Hashing, Position, RecordDraft } from '../../src/core/journal/record.ts';
import { hex, type StoredPayload, type StoredRecord } from '../../src/core/journal/verify.ts';
import type { Random } from './random.ts';

export interface MemoryRecord extends StoredRecord {
  readonly kind: string;
  readonly call: string | null;
  readonly session: string | null;
  readonly sessionSeq: number;
  readonly timeMs: number;
  readonly body: string;
  readonly parts: readonly string[];
  /** Erasing puts null in the place of a payload. */
  readonly payloads: (StoredPayload | null)[];
}

export interface Chain {
  readonly epoch: number;
  readonly records: MemoryRecord[];
  append(draft: RecordDraft, sessionSeq: number, atMs: number): MemoryRecord;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export const hashing: Hashing = {
  sha256: (bytes) => hash('sha256', bytes, 'buffer'),
  utf8: (text) => Buffer.from(text, 'utf8'),
  text: (bytes) => decoder.decode(bytes),
};

/** Opens the next epoch with `epoch_open`, which names the newest head it finds. */
export function openChain(chains: Chain[], random: Random, nowMs: number): Chain {
  const before = chains.at(-1);
  const last = before?.records.at(-1);
  const previous = last === undefined ? null : { epoch: last.epoch, seq: last.seq, hash: hex(last.hash) };
  const chain = createChain((before?.epoch ?? 0) + 1, highestTime(chains), random);
  const closed = before === undefined ? 'start' : last?.kind === 'epoch_close' ? 'after_close' : 'after_crash';
  const body = canonicalText({ format: formatVersion, previous, reason: closed, schema: 1 });
  chain.append({ kind: 'epoch_open', call: null, session: null, body, payloads: [] }, 0, nowMs);
  chains.push(chain);
  return chain;
}

export function highestTime(chains: readonly Chain[]): number {
  let highest = 0;
  for (const { records } of chains) highest = Math.max(highest, records.at(-1)?.timeMs ?? 0);
  return highest;
}

function createChain(epoch: number, floorMs: number, random: Random): Chain {
  const chain = random.bytes(chainBytes);
  const records: MemoryRecord[] = [];
  let previous: Uint8Array = genesis;
  let timeMs = floorMs;

  const write = (draft: RecordDraft, sessionSeq: number, atMs: number): MemoryRecord => {
    const seq = records.length + 1;
    timeMs = Math.max(timeMs, Math.floor(atMs));
    const payloads = draft.payloads.map(({ text }) => ({ salt: random.bytes(saltBytes), bytes: hashing.utf8(text) }));
    const commitments: Commitment[] = draft.payloads.map(({ part }, index) => {
      const { salt, bytes } = payloads[index] as StoredPayload;
      return { part, hash: commitTo(salt, bytes, hashing) };
    });
    const { kind, call, session, body } = draft;
    const header = { chain, epoch, seq, sessionSeq, timeMs, kind, call, session, commitments, body };
    const leaf = encodeLeaf(header, hashing);
    previous = linkHash(header, previous, leaf, hashing);
    const parts = draft.payloads.map(({ part }) => part);
    const place: Position = { epoch, seq };
    const record = {
      ...place,
      header: leaf.subarray(1),
      hash: previous,
      payloads,
      kind,
      call,
      session,
      sessionSeq,
      timeMs,
      body,
      parts,
    };
    records.push(record);
    return record;
  };

  return {
    epoch,
    records,
    append(draft, sessionSeq, atMs) {
      if ((records.length + 1) % anchorEvery === 0) {
        const body = canonicalText({ head: hex(previous), records: records.length });
        write({ kind: 'anchor', call: null, session: null, body, payloads: [] }, 0, atMs);
      }
      return write(draft, sessionSeq, atMs);
    },
  };
}
