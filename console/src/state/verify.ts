/**
 * Verifies the journal in this browser: the bytes come from the gateway as they are stored, every hash is made here, and
 * the rules are those of the core's own verifier. The gateway is not asked whether it is in order.
 */
import { commitTo, decodeHeader, genesis, linkHash, linkOfLeaf } from '../../../src/core/journal/encode.ts';
import type { Hashing } from '../../../src/core/journal/record.ts';
import {
  createVerifier,
  same,
  type SealedRecord,
  type StoredRecord,
  type VerifyReport,
} from '../../../src/core/journal/verify.ts';
import { type Answer, get, withQuery } from './api.ts';

interface WiredRecord {
  readonly position: string;
  readonly kind: string;
  readonly call: string | null;
  readonly header: string;
  readonly hash: string;
  readonly payloads: readonly ({ readonly salt: string; readonly bytes: string } | null)[];
}

/** A record of another tenant: its place in the chain alone. */
interface WiredSeal {
  readonly position: string;
  readonly chain: string;
  readonly leaf: string;
  readonly hash: string;
}

interface WiredPage {
  readonly epochs: number;
  readonly records: readonly (WiredRecord | WiredSeal)[];
  readonly more: boolean;
}

export interface Progress {
  readonly records: number;
  readonly problems: VerifyReport['problems'];
}

/** Browsers hash only on pages that came safely: over TLS, or from this machine. */
export const canVerify = (): boolean => globalThis.crypto?.subtle !== undefined;

const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });
const encoder = new TextEncoder();

type Digests = ReadonlyMap<string, Uint8Array>;

/** Bytes as a text that tells them apart. */
function nameOf(bytes: Uint8Array): string {
  let name = '';
  for (let at = 0; at < bytes.length; at += 8_192)
    name += String.fromCharCode(...bytes.subarray(at, Math.min(bytes.length, at + 8_192)));
  return name;
}

const hashingWith = (sha256: (bytes: Uint8Array) => Uint8Array): Hashing => ({
  sha256,
  utf8: (text) => encoder.encode(text),
  text: (bytes) => decoder.decode(bytes),
});

/**
 * The verifier asks for one hash after the other and waits for none; a browser hashes only to those who wait. So what it
 * will ask is collected first, hashed all at once, and looked up.
 */
type AnyRecord = StoredRecord | SealedRecord;

async function digestsOf(records: readonly AnyRecord[], before: Uint8Array): Promise<Digests> {
  const digests = new Map<string, Uint8Array>();
  for (const round of [0, 1]) {
    const wanted = new Map<string, Uint8Array<ArrayBuffer>>();
    const collect = hashingWith((bytes) => {
      const name = nameOf(bytes);
      const known = digests.get(name);
      if (known !== undefined) return known;
      wanted.set(name, new Uint8Array(bytes));
      return genesis;
    });
    let previous = before;
    for (const record of records) {
      ask(record, previous, collect, round === 0);
      previous = record.hash;
    }
    const made = await Promise.all(
      [...wanted].map(async ([name, bytes]) => [name, await crypto.subtle.digest('SHA-256', bytes)] as const),
    );
    for (const [name, digest] of made) digests.set(name, new Uint8Array(digest));
  }
  return digests;
}

/** Asks for what the verifier will ask for of one record. The link needs the leaf, so it is asked for again. */
function ask(record: AnyRecord, previous: Uint8Array, hashing: Hashing, first: boolean): void {
  if ('leaf' in record) {
    if (!first && record.leaf.length === genesis.length) linkOfLeaf(record, previous, record.leaf, hashing);
    return;
  }
  const header = decodeHeader(record.header, hashing);
  if ('problem' in header) return;
  const leaf = new Uint8Array(record.header.length + 1);
  leaf.set(record.header, 1);
  if (first) hashing.sha256(leaf);
  else for (const last of record.seq === 1 ? [genesis, previous] : [previous]) linkHash(header, last, leaf, hashing);
  if (!first) return;
  for (const payload of record.payloads)
    if (payload !== null && payload.salt.length === 32) commitTo(payload.salt, payload.bytes, hashing);
}

const lookUp = (digests: Digests): Hashing => hashingWith((bytes) => digests.get(nameOf(bytes)) ?? missing);

/** Differs from every hash that could be asked for. */
const missing = new Uint8Array(1);

export async function verifyJournal(
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Answer<VerifyReport>> {
  let digests: Digests = new Map();
  const verifier = createVerifier(hashingWith((bytes) => lookUp(digests).sha256(bytes)));
  let after: string | null = null;
  let previous: Uint8Array = genesis;
  let known = 0;
  let records = 0;
  for (;;) {
    const page: Answer<WiredPage> = await get<WiredPage>(withQuery('/v1/journal', { after }), signal);
    if (!page.ok) return page;
    known ||= page.value.epochs;
    const stored = page.value.records.map(storedOf);
    digests = await digestsOf(stored, previous);
    for (const record of stored) {
      if ('leaf' in record) verifier.addSealed(record);
      else verifier.add(record);
    }
    previous = stored.at(-1)?.hash ?? previous;
    records += stored.length;
    onProgress({ records, problems: verifier.report().problems });
    after = page.value.records.at(-1)?.position ?? after;
    if (!page.value.more) return { ok: true, value: withoutGaps(verifier.report(), known) };
  }
}

/** A journal from which whole epochs were cut still verifies by itself; the store knows how many there were. */
function withoutGaps(report: VerifyReport, known: number): VerifyReport {
  if (report.epochs >= known) return report;
  const problem = `the store was opened ${known} times, but the journal has ${report.epochs} epochs`;
  return { ...report, problems: [...report.problems, { epoch: known, seq: 0, problem }] };
}

export type Mark = 'verified' | 'broken' | 'unknown';

/** Whether one record is what its hash, the record before it and its commitments say. */
export async function verifyRecord(position: string): Promise<Mark> {
  const [epoch = 0, seq = 0] = position.split('.').map(Number);
  const after = `${epoch}.${Math.max(0, seq - 2)}`;
  const page = await get<WiredPage>(withQuery('/v1/journal', { after, limit: 2 }));
  if (!page.ok) return 'unknown';
  const stored = page.value.records.map(storedOf);
  const at = stored.findIndex((each) => each.epoch === epoch && each.seq === seq);
  const record = stored[at];
  if (record === undefined || 'leaf' in record) return 'unknown';
  const before = stored[at - 1];
  const previous = before?.epoch === epoch ? before.hash : genesis;
  const digests = await digestsOf([record], previous);
  const hashing = lookUp(digests);
  const header = decodeHeader(record.header, hashing);
  if ('problem' in header) return 'broken';
  const leaf = new Uint8Array(record.header.length + 1);
  leaf.set(record.header, 1);
  if (!same(linkHash(header, previous, leaf, hashing), record.hash)) return 'broken';
  const holds = header.commitments.every((commitment, index) => {
    const payload = record.payloads[index] ?? null;
    return payload === null || same(commitTo(payload.salt, payload.bytes, hashing), commitment.hash);
  });
  return holds ? 'verified' : 'broken';
}

function storedOf(wired: WiredRecord | WiredSeal): AnyRecord {
  const [epoch = 0, seq = 0] = wired.position.split('.').map(Number);
  const at = { epoch, seq, hash: hexBytes(wired.hash) };
  if ('leaf' in wired) return { ...at, chain: hexBytes(wired.chain), leaf: hexBytes(wired.leaf) };
  const { kind, call, header, payloads } = wired;
  return {
    ...at,
    kind,
    call,
    header: bytesOf(header),
    payloads: payloads.map((each) => (each === null ? null : { salt: bytesOf(each.salt), bytes: bytesOf(each.bytes) })),
  };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

const hexBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
