/**
 * Encodes a journal record as bytes. The header has fixed binary fields, commitments and the canonical body, each
 * length-prefixed; integers are big-endian. Hash domains: 0x00 leaf (header), 0x01 link of the chain, 0x02 commitment
 * to a payload.
 */
import { invariant } from '../values/unreachable.ts';
import type { Commitment, Hashing, Header } from './record.ts';

export const formatVersion = 1;
export const sha256Algorithm = 1;
export const hashBytes = 32;
export const chainBytes = 16;
export const saltBytes = 32;
export const anchorEvery = 1_000;
/** What stands before the first record of a chain. */
export const genesis: Uint8Array = new Uint8Array(hashBytes);

const fixedBytes = 2 + chainBytes + 4 + 8 + 8 + 8;
const shift32 = 2 ** 32;

/**
 * The header behind a 0x00 byte, ready to be hashed as a leaf; what is stored starts at index 1.
 * Written into `room` if it fits there: then the bytes are good only until the room is used again.
 */
export function encodeLeaf(header: Header, hashing: Hashing, room?: Uint8Array): Uint8Array {
  const { commitments } = header;
  const kind = utf8Name(header.kind, hashing);
  const call = hashing.utf8(header.call ?? '');
  const session = utf8Name(header.session ?? '', hashing);
  const body = hashing.utf8(header.body);
  let size = 1 + fixedBytes + 1 + kind.length + 1 + call.length + 1 + session.length + 1 + 4 + body.length;
  for (const { part } of commitments) size += 1 + utf8Name(part, hashing).length + hashBytes;
  const bytes = room !== undefined && size <= room.length ? room.subarray(0, size) : new Uint8Array(size);
  bytes[0] = 0x00;
  bytes[1] = formatVersion;
  bytes[2] = sha256Algorithm;
  bytes.set(header.chain, 3);
  let at = putWord(bytes, 3 + chainBytes, header.epoch);
  at = putLong(bytes, at, header.seq);
  at = putLong(bytes, at, header.sessionSeq);
  at = putLong(bytes, at, header.timeMs);
  at = putName(bytes, at, kind);
  // An empty name stands for none.
  at = putName(bytes, at, call);
  at = putName(bytes, at, session);
  invariant(commitments.length < 256, 'the number of commitments fits one byte');
  bytes[at++] = commitments.length;
  for (const { part, hash } of commitments) {
    at = putName(bytes, at, utf8Name(part, hashing));
    invariant(hash.length === hashBytes, 'a commitment has 32 bytes');
    bytes.set(hash, at);
    at += hashBytes;
  }
  at = putWord(bytes, at, body.length);
  bytes.set(body, at);
  return bytes;
}

function putWord(bytes: Uint8Array, at: number, value: number): number {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
  return at + 4;
}

function putLong(bytes: Uint8Array, at: number, value: number): number {
  invariant(Number.isSafeInteger(value) && value >= 0, 'a number in a header is whole and not negative');
  return putWord(bytes, putWord(bytes, at, Math.floor(value / shift32)), value % shift32);
}

function putName(bytes: Uint8Array, at: number, name: Uint8Array): number {
  invariant(name.length < 256, 'a length in a header fits one byte');
  bytes[at] = name.length;
  bytes.set(name, at + 1);
  return at + 1 + name.length;
}

const maxNames = 256;
const names = new Map<string, Uint8Array>();

/** Kinds, parts and sessions are few and come with every record: each is encoded once. */
function utf8Name(name: string, hashing: Hashing): Uint8Array {
  const known = names.get(name);
  if (known !== undefined) return known;
  const bytes = hashing.utf8(name);
  if (names.size < maxNames) names.set(name, bytes);
  return bytes;
}

/** Reads a stored header back, or says why it is none. */
export function decodeHeader(bytes: Uint8Array, hashing: Hashing): Header | { readonly problem: string } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = (count: number): Uint8Array => {
    if (at + count > bytes.length) throw new RangeError('the header ends too early');
    at += count;
    return bytes.subarray(at - count, at);
  };
  const byte = () => take(1)[0] as number;
  const word = () => {
    take(4);
    return view.getUint32(at - 4);
  };
  const long = () => {
    const value = word() * shift32 + word();
    if (!Number.isSafeInteger(value)) throw new RangeError('a number in the header is too large');
    return value;
  };
  try {
    const version = byte();
    if (version !== formatVersion) return { problem: `format version ${version} is not known` };
    const algorithm = byte();
    if (algorithm !== sha256Algorithm) return { problem: `hash algorithm ${algorithm} is not known` };
    const chain = take(chainBytes);
    const epoch = word();
    const seq = long();
    const sessionSeq = long();
    const timeMs = long();
    const kind = hashing.text(take(byte()));
    const call = hashing.text(take(byte())) || null;
    const session = hashing.text(take(byte())) || null;
    const commitments: Commitment[] = [];
    for (let left = byte(); left > 0; left--) {
      const part = hashing.text(take(byte()));
      commitments.push({ part, hash: take(hashBytes) });
    }
    const body = hashing.text(take(word()));
    if (at !== bytes.length) return { problem: 'the header has bytes left over' };
    return { chain, epoch, seq, sessionSeq, timeMs, kind, call, session, commitments, body };
  } catch (error) {
    if (error instanceof RangeError) return { problem: error.message };
    throw error;
  }
}

/** Reused, because what is hashed is not kept. */
const linkRoom = new Uint8Array(1 + chainBytes + 4 + 8 + hashBytes + hashBytes);
const commitmentRoom = new Uint8Array(1 + saltBytes + 4_096);

/** `leaf` as made by encodeLeaf. The hash of a record covers its place, its predecessor and its header. */
export function linkHash(header: Header, previous: Uint8Array, leaf: Uint8Array, hashing: Hashing): Uint8Array {
  return linkOfLeaf(header, previous, hashing.sha256(leaf), hashing);
}

/** The same of a record of which only the hash of its leaf is known. */
export function linkOfLeaf(
  { chain, epoch, seq }: Pick<Header, 'chain' | 'epoch' | 'seq'>,
  previous: Uint8Array,
  leafHash: Uint8Array,
  hashing: Hashing,
): Uint8Array {
  invariant(previous.length === hashBytes && leafHash.length === hashBytes, 'a hash has 32 bytes');
  linkRoom[0] = 0x01;
  linkRoom.set(chain, 1);
  putLong(linkRoom, putWord(linkRoom, 1 + chainBytes, epoch), seq);
  linkRoom.set(previous, 29);
  linkRoom.set(leafHash, 29 + hashBytes);
  return hashing.sha256(linkRoom);
}

/** Salted, so that an erased e-mail address cannot be guessed from what remains. */
export function commitTo(salt: Uint8Array, payload: Uint8Array, hashing: Hashing): Uint8Array {
  invariant(salt.length === saltBytes, 'a salt has 32 bytes');
  const size = 1 + saltBytes + payload.length;
  const bytes = size <= commitmentRoom.length ? commitmentRoom.subarray(0, size) : new Uint8Array(size);
  bytes[0] = 0x02;
  bytes.set(salt, 1);
  bytes.set(payload, 1 + saltBytes);
  return hashing.sha256(bytes);
}
