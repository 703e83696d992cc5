/**
 * The bytes of a journal record, right once and for all. Header: fixed binary fields, commitments,
 * then the canonical body, each length-prefixed. Three domains keep the hashes apart: 0x00 a leaf
 * (header), 0x01 a link of the chain, 0x02 a commitment to a payload. All integers are big-endian.
 */
import { invariant } from '../unreachable.ts';
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

/** The header behind a 0x00 byte, ready to be hashed as a leaf; what is stored starts at index 1. */
export function encodeLeaf(header: Header, hashing: Hashing): Uint8Array {
  const kind = hashing.utf8(header.kind);
  const body = hashing.utf8(header.body);
  const parts = header.commitments.map((commitment) => hashing.utf8(commitment.part));
  let size = 1 + fixedBytes + 1 + kind.length + 1 + 4 + body.length;
  for (const part of parts) size += 1 + part.length + hashBytes;
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  let at = 0;
  const byte = (value: number) => {
    invariant(value >= 0 && value < 256, 'a length in a header fits one byte');
    bytes[at++] = value;
  };
  const long = (value: number) => {
    view.setUint32(at, Math.floor(value / shift32));
    view.setUint32(at + 4, value % shift32);
    at += 8;
  };
  const raw = (value: Uint8Array) => {
    bytes.set(value, at);
    at += value.length;
  };
  byte(0x00);
  byte(formatVersion);
  byte(sha256Algorithm);
  raw(header.chain);
  view.setUint32(at, header.epoch);
  at += 4;
  long(header.seq);
  long(header.sessionSeq);
  long(header.timeMs);
  byte(kind.length);
  raw(kind);
  byte(parts.length);
  for (const [index, part] of parts.entries()) {
    byte(part.length);
    raw(part);
    raw((header.commitments[index] as Commitment).hash);
  }
  view.setUint32(at, body.length);
  at += 4;
  raw(body);
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
  const long = () => word() * shift32 + word();
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
    const commitments: Commitment[] = [];
    for (let left = byte(); left > 0; left--) {
      const part = hashing.text(take(byte()));
      commitments.push({ part, hash: take(hashBytes) });
    }
    const body = hashing.text(take(word()));
    if (at !== bytes.length) return { problem: 'the header has bytes left over' };
    return { chain, epoch, seq, sessionSeq, timeMs, kind, commitments, body };
  } catch (error) {
    if (error instanceof RangeError) return { problem: error.message };
    throw error;
  }
}

/** `leaf` as made by encodeLeaf. The hash of a record covers its place, its predecessor and its header. */
export function linkHash(header: Header, previous: Uint8Array, leaf: Uint8Array, hashing: Hashing): Uint8Array {
  const bytes = new Uint8Array(1 + chainBytes + 4 + 8 + hashBytes + hashBytes);
  const view = new DataView(bytes.buffer);
  bytes[0] = 0x01;
  bytes.set(header.chain, 1);
  view.setUint32(17, header.epoch);
  view.setUint32(21, Math.floor(header.seq / shift32));
  view.setUint32(25, header.seq % shift32);
  bytes.set(previous, 29);
  bytes.set(hashing.sha256(leaf), 61);
  return hashing.sha256(bytes);
}

/** Salted, so that an erased e-mail address cannot be guessed from what remains. */
export function commitTo(salt: Uint8Array, payload: Uint8Array, hashing: Hashing): Uint8Array {
  invariant(salt.length === saltBytes, 'a salt has 32 bytes');
  const bytes = new Uint8Array(1 + saltBytes + payload.length);
  bytes[0] = 0x02;
  bytes.set(salt, 1);
  bytes.set(payload, 1 + saltBytes);
  return hashing.sha256(bytes);
}
