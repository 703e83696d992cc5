/**
 * Verifies stored records in order by recomputing every hash from the stored bytes. A payload named by an `erased`
 * record counts as erased; any other missing payload is a problem.
 */
import { isObject } from '../values/json.ts';
import { commitTo, decodeHeader, genesis, hashBytes, linkHash, linkOfLeaf, saltBytes } from './encode.ts';
import type { Hashing, Header, Position } from './record.ts';

export interface StoredPayload {
  readonly salt: Uint8Array;
  readonly bytes: Uint8Array;
}

export interface StoredRecord extends Position {
  readonly header: Uint8Array;
  readonly hash: Uint8Array;
  /** What the row beside the header says; left out by a store that keeps no such columns. */
  readonly kind?: string;
  readonly call?: string | null;
  /** In the order of the header's commitments; null where it was erased. */
  readonly payloads: readonly (StoredPayload | null)[];
}

/** A record whose content is not told: its place in the chain can be verified all the same. */
export interface SealedRecord extends Position {
  readonly chain: Uint8Array;
  /** The hash of the leaf. */
  readonly leaf: Uint8Array;
  readonly hash: Uint8Array;
}

export interface Head extends Position {
  readonly hash: Uint8Array;
}

export interface Problem extends Position {
  readonly problem: string;
}

export interface VerifyReport {
  readonly records: number;
  readonly epochs: number;
  readonly payloads: number;
  readonly erased: number;
  readonly problems: readonly Problem[];
  readonly head: Head | null;
}

const maxProblems = 100;

/** Feed records in order of (epoch, seq); `from` is a head to trust, or null to start at the very first record. */
export function createVerifier(hashing: Hashing, from: Head | null = null) {
  const problems: Problem[] = [];
  let head: Head | null = from;
  let chain: Uint8Array | null = null;
  const counts = { records: 0, epochs: 0, payloads: 0, erased: 0 };

  /** Payloads that are not there and that no `erased` record has named yet: it always comes later. */
  const unexplained = new Map<string, Problem>();

  const complain = (at: Position, problem: string) => {
    if (problems.length < maxProblems) problems.push({ epoch: at.epoch, seq: at.seq, problem });
  };

  const startEpoch = (record: StoredRecord, header: Header) => {
    counts.epochs += 1;
    chain = header.chain;
    if (record.seq !== 1) complain(record, `the epoch starts at record ${record.seq}: earlier ones are missing`);
    if (header.kind !== 'epoch_open') return complain(record, 'the epoch does not start with epoch_open');
    const claimed = previousIn(header.body);
    const found = head === null ? null : { epoch: head.epoch, seq: head.seq, hash: hex(head.hash) };
    if (claimed === undefined) return complain(record, 'epoch_open cannot be read');
    if (claimed?.epoch !== found?.epoch || claimed?.seq !== found?.seq || claimed?.hash !== found?.hash)
      complain(record, `epoch_open names ${show(claimed)} as the head before it, but ${show(found)} stands there`);
  };

  const miss = ({ epoch, seq }: Position, part: string) => {
    counts.erased += 1;
    const problem = `payload '${part}' is missing without an erased record`;
    unexplained.set(nameOf(epoch, seq, part), { epoch, seq, problem });
  };

  return {
    add(record: StoredRecord): void {
      counts.records += 1;
      const header = decodeHeader(record.header, hashing);
      if ('problem' in header) {
        complain(record, header.problem);
        head = headOf(record);
        return;
      }
      const continues = head !== null && head.epoch === record.epoch;
      if (!continues) startEpoch(record, header);
      else if (head !== null && record.seq !== head.seq + 1)
        complain(record, `record ${head.seq + 1} is missing before this one`);
      if (header.epoch !== record.epoch || header.seq !== record.seq)
        complain(record, `the header says ${header.epoch}/${header.seq}`);
      if (record.call !== undefined && record.call !== header.call)
        complain(record, `the row names call ${record.call}, the header ${header.call}`);
      if (record.kind !== undefined && record.kind !== header.kind)
        complain(record, `the row is called ${record.kind}, the header ${header.kind}`);
      chain ??= header.chain;
      if (!same(chain, header.chain)) complain(record, 'the record belongs to another chain');

      const leaf = new Uint8Array(record.header.length + 1);
      leaf.set(record.header, 1);
      const previous = continues && head !== null ? head.hash : genesis;
      if (!same(linkHash(header, previous, leaf, hashing), record.hash)) complain(record, 'the hash does not match');
      for (const [index, commitment] of header.commitments.entries()) {
        const payload = record.payloads[index] ?? null;
        counts.payloads += 1;
        if (payload === null) miss(record, commitment.part);
        else if (
          payload.salt.length !== saltBytes ||
          !same(commitTo(payload.salt, payload.bytes, hashing), commitment.hash)
        )
          complain(record, `payload '${commitment.part}' does not match its commitment`);
      }
      if (header.kind === 'erased') for (const name of erasedIn(header.body)) unexplained.delete(name);
      if (record.payloads.length > header.commitments.length) complain(record, 'a payload has no commitment');
      head = headOf(record);
    },
    addSealed(record: SealedRecord): void {
      counts.records += 1;
      const previous = head !== null && head.epoch === record.epoch ? head : null;
      if (previous === null) complain(record, 'the epoch does not start with epoch_open');
      else if (record.seq !== previous.seq + 1)
        complain(record, `record ${previous.seq + 1} is missing before this one`);
      if (chain !== null && !same(chain, record.chain)) complain(record, 'the record belongs to another chain');
      const isWhole = record.leaf.length === hashBytes;
      if (!isWhole || !same(linkOfLeaf(record, previous?.hash ?? genesis, record.leaf, hashing), record.hash))
        complain(record, 'the hash does not match');
      head = headOf(record);
    },
    report(): VerifyReport {
      const missing = [...unexplained.values()].slice(0, maxProblems - problems.length);
      const erased = counts.erased - unexplained.size;
      return { ...counts, erased, problems: [...problems, ...missing], head };
    },
  };
}

/** A hash of another length is reported at its own record; the next one is then checked against nothing. */
function headOf({ epoch, seq, hash }: Pick<StoredRecord, 'epoch' | 'seq' | 'hash'>): Head {
  return { epoch, seq, hash: hash.length === hashBytes ? hash : genesis };
}

/** The head that an epoch_open names: null for the first epoch ever, undefined if unreadable. */
function previousIn(body: string): { epoch: number; seq: number; hash: string } | null | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isObject(parsed)) return undefined;
    const previous = parsed['previous'];
    if (previous === null) return null;
    if (!isObject(previous)) return undefined;
    return { epoch: Number(previous['epoch']), seq: Number(previous['seq']), hash: String(previous['hash']) };
  } catch {
    return undefined;
  }
}

const nameOf = (epoch: unknown, seq: unknown, part: unknown) => `${String(epoch)}/${String(seq)}/${String(part)}`;

/** The payloads that an erased record names; none if it cannot be read. */
function erasedIn(body: string): string[] {
  try {
    const parsed: unknown = JSON.parse(body);
    const payloads = isObject(parsed) ? parsed['payloads'] : null;
    if (!Array.isArray(payloads)) return [];
    return payloads.filter(isObject).map((named) => nameOf(named['epoch'], named['seq'], named['part']));
  } catch {
    return [];
  }
}

const show = (head: { epoch: number; seq: number } | null) => (head === null ? 'nothing' : `${head.epoch}/${head.seq}`);

export function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}

export function same(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
