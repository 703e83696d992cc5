/** Does the journal's format stay what it is, and is every kind of tampering found? */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';

import { canonicalText } from '../values/canonical.ts';
import { commitTo, decodeHeader, encodeLeaf, genesis, linkHash } from './encode.ts';
import type { Hashing, Header, Payload } from './record.ts';
import { createVerifier, hex, type StoredPayload, type StoredRecord, type VerifyReport } from './verify.ts';

const hashing: Hashing = {
  sha256: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
  utf8: (text) => new TextEncoder().encode(text),
  text: (bytes) => new TextDecoder().decode(bytes),
};
const chain = Uint8Array.from({ length: 16 }, (_, index) => index);
const salt = new Uint8Array(32).fill(0xaa);

const example: Header = {
  chain,
  epoch: 3,
  seq: 2 ** 32 + 5,
  sessionSeq: 7,
  timeMs: 1_700_000_000_000,
  kind: 'prepared',
  call: 'call_7',
  session: null,
  commitments: [{ part: 'args', hash: commitTo(salt, hashing.utf8('{"é":1}'), hashing) }],
  body: '{"tool":"refund"}',
};

/** Made from the format's description by a few lines of Python, so that no change of our code changes them. */
const golden = {
  header: [
    '01 01 000102030405060708090a0b0c0d0e0f',
    '00000003 0000000100000005 0000000000000007 0000018bcfe56800',
    '08 7072657061726564',
    '06 63616c6c5f37 00',
    '01 04 61726773 63cbdd2f37c7b9d7d0ca1bb952e1e88e8f16bdd5c5c44dde0846f6625d15d6a7',
    '00000011 7b22746f6f6c223a22726566756e64227d',
  ]
    .join('')
    .replaceAll(' ', ''),
  link: '619c81d1f3ad8b025df8eecd04a4e6e4f7e41a077f5a67ece6f6736358b968fb',
};

test('the bytes of a header and its hash are pinned', () => {
  const leaf = encodeLeaf(example, hashing);
  assert.equal(leaf[0], 0x00);
  assert.equal(hex(leaf.subarray(1)), golden.header);
  assert.equal(hex(linkHash(example, genesis, leaf, hashing)), golden.link);
});

test('a header is read back as it was written', () => {
  assert.deepEqual(decodeHeader(encodeLeaf(example, hashing).slice(1), hashing), example);
});

test('a room is used when the header fits and left alone when it does not', () => {
  const room = new Uint8Array(512);
  assert.equal(encodeLeaf(example, hashing, room).buffer, room.buffer);
  const small = new Uint8Array(8);
  assert.equal(hex(encodeLeaf(example, hashing, small).subarray(1)), golden.header);
  assert.deepEqual(small, new Uint8Array(8));
});

test('a header that is cut short, too long or of another format is no header', () => {
  const bytes = encodeLeaf(example, hashing).slice(1);
  for (let length = 0; length < bytes.length; length++)
    assert.ok('problem' in decodeHeader(bytes.subarray(0, length), hashing), `cut at ${length}`);
  assert.deepEqual(decodeHeader(Uint8Array.from([...bytes, 0]), hashing), {
    problem: 'the header has bytes left over',
  });
  const other = Uint8Array.from(bytes);
  other[0] = 9;
  assert.deepEqual(decodeHeader(other, hashing), { problem: 'format version 9 is not known' });
});

interface Draft {
  readonly kind: string;
  readonly body?: string;
  readonly payloads?: readonly Payload[];
}

/** A small journal of two epochs, made with the functions that the store uses. */
function journalOf(...epochs: readonly (readonly Draft[])[]): StoredRecord[] {
  const records: StoredRecord[] = [];
  for (const [index, drafts] of epochs.entries()) {
    const epoch = index + 1;
    const last = records.at(-1);
    const previous = last === undefined ? null : { epoch: last.epoch, seq: last.seq, hash: hex(last.hash) };
    const all = [{ kind: 'epoch_open', body: canonicalText({ previous }) }, ...drafts];
    let head = genesis;
    for (const [place, { kind, body = '{}', payloads = [] }] of (all as Draft[]).entries()) {
      const stored: StoredPayload[] = payloads.map(({ text }) => ({ salt: salt.slice(), bytes: hashing.utf8(text) }));
      const commitments = payloads.map(({ part }, at) => {
        const payload = stored[at] as StoredPayload;
        return { part, hash: commitTo(payload.salt, payload.bytes, hashing) };
      });
      const id = chain.map((byte) => byte + epoch);
      const header = {
        chain: id,
        epoch,
        seq: place + 1,
        sessionSeq: 0,
        timeMs: 1,
        kind,
        call: null,
        session: null,
        commitments,
        body,
      };
      const leaf = encodeLeaf(header, hashing);
      head = linkHash(header, head, leaf, hashing) as Uint8Array<ArrayBuffer>;
      records.push({ epoch, seq: place + 1, header: leaf.slice(1), hash: head, payloads: stored });
    }
  }
  return records;
}

function verify(records: readonly StoredRecord[]): VerifyReport {
  const verifier = createVerifier(hashing);
  for (const record of records) verifier.add(record);
  return verifier.report();
}

const payloads = [
  { part: 'args', text: '{"to":"ada@example.org"}' },
  { part: 'reply', text: '{"ok":true}' },
];
const erasing = (part: string) =>
  canonicalText({ payloads: [{ epoch: 1, seq: 2, part }], reason: 'asked by the person' });
const sound = () =>
  journalOf([{ kind: 'prepared', payloads }, { kind: 'settled' }, { kind: 'settled' }], [{ kind: 'prepared' }]);

test('a sound journal verifies and tells its head', () => {
  const records = sound();
  const { problems, head, ...counts } = verify(records);
  assert.deepEqual(problems, []);
  assert.deepEqual(counts, { records: 6, epochs: 2, payloads: 2, erased: 0 });
  assert.equal(hex(head?.hash ?? genesis), hex((records.at(-1) as StoredRecord).hash));
});

test('flipping any bit of a header, a hash, a salt or a payload is found', () => {
  const fields: readonly ((record: StoredRecord) => Uint8Array | undefined)[] = [
    (record) => record.header,
    (record) => record.hash,
    (record) => record.payloads[0]?.salt,
    (record) => record.payloads[1]?.bytes,
  ];
  const records = sound();
  for (const field of fields)
    for (const [index, record] of records.entries()) {
      const bytes = field(record) ?? new Uint8Array();
      const flip = (at: number) => (bytes[at >> 3] = (bytes[at >> 3] as number) ^ (1 << (at & 7)));
      for (let at = 0; at < bytes.length * 8; at++) {
        flip(at);
        assert.notDeepEqual(verify(records).problems, [], `record ${index}, bit ${at}`);
        flip(at);
      }
    }
  assert.deepEqual([records.length, verify(records).problems], [6, []]);
});

const tampered: readonly { name: string; change: (records: StoredRecord[]) => StoredRecord[]; says: RegExp }[] = [
  { name: 'a record deleted in the middle', change: (records) => records.toSpliced(2, 1), says: /record 3 is missing/ },
  { name: 'the first record deleted', change: (records) => records.slice(1), says: /starts at record 2/ },
  { name: 'the first epoch deleted', change: (records) => records.slice(4), says: /names 1\/4 .* nothing stands/ },
  {
    name: 'the end of an epoch cut off before the next',
    change: (records) => records.toSpliced(3, 1),
    says: /names 1\/4 .* 1\/3 stands/,
  },
  {
    name: 'two records swapped',
    change: ([a, b, c, d, ...rest]) => [a, b, d, c, ...rest] as StoredRecord[],
    says: /record 3 is missing/,
  },
  {
    name: 'two records swapped and numbered again',
    change: ([a, b, c, d, ...rest]) => [a, b, { ...d, seq: 3 }, { ...c, seq: 4 }, ...rest] as StoredRecord[],
    says: /the header says 1\/4/,
  },
  {
    name: 'a payload taken from another part',
    change: (records) => {
      const { payloads: [one, two] = [] } = records[1] as StoredRecord;
      return records.with(1, { ...(records[1] as StoredRecord), payloads: [two ?? null, one ?? null] });
    },
    says: /payload 'args' does not match/,
  },
  {
    name: 'a payload deleted without a word',
    change: (records) => records.with(1, { ...(records[1] as StoredRecord), payloads: [null, null] }),
    says: /payload 'args' is missing without an erased record/,
  },
  {
    name: 'a payload added',
    change: (records) => records.with(2, { ...(records[2] as StoredRecord), payloads: [{ salt, bytes: salt }] }),
    says: /a payload has no commitment/,
  },
  {
    name: 'a salt of another length',
    change: (records) => {
      const cut = { salt: salt.slice(1), bytes: hashing.utf8('{}') };
      return records.with(1, { ...(records[1] as StoredRecord), payloads: [cut, cut] });
    },
    says: /payload 'args' does not match/,
  },
  {
    name: 'a hash of another length',
    change: (records) => records.with(2, { ...(records[2] as StoredRecord), hash: new Uint8Array(3) }),
    says: /the hash does not match/,
  },
];

for (const { name, change, says } of tampered)
  test(`found: ${name}`, () => {
    const { problems } = verify(change(sound()));
    assert.ok(
      problems.some(({ problem }) => says.test(problem)),
      JSON.stringify(problems),
    );
  });

test('an erased payload is reported as erased and the chain verifies', () => {
  const records = journalOf([
    { kind: 'prepared', payloads },
    { kind: 'erased', body: erasing('args') },
  ]);
  const [, kept] = (records[1] as StoredRecord).payloads;
  const report = verify(records.with(1, { ...(records[1] as StoredRecord), payloads: [null, kept ?? null] }));
  assert.deepEqual(report.problems, []);
  assert.equal(report.erased, 1);
});

test('an erased record speaks only for the payloads that it names', () => {
  const records = journalOf([
    { kind: 'prepared', payloads },
    { kind: 'erased', body: erasing('args') },
  ]);
  const report = verify(records.with(1, { ...(records[1] as StoredRecord), payloads: [null, null] }));
  assert.deepEqual(report.problems, [
    { epoch: 1, seq: 2, problem: "payload 'reply' is missing without an erased record" },
  ]);
});

test('verification goes on from a head that is trusted', () => {
  const records = sound();
  const trusted = records[2] as StoredRecord;
  const verifier = createVerifier(hashing, { epoch: 1, seq: 3, hash: trusted.hash });
  for (const record of records.slice(3)) verifier.add(record);
  assert.deepEqual(verifier.report().problems, []);
});

test('a row that names another call or kind than its header is found', () => {
  const records = sound();
  const second = records[1] as StoredRecord;
  const moved = (change: Partial<StoredRecord>) =>
    verify(records.map((record) => (record === second ? { ...record, ...change } : record)));
  assert.deepEqual(moved({ call: null, kind: 'prepared' }).problems, []);
  assert.match(moved({ call: 'call_hidden' }).problems[0]?.problem ?? '', /the row names call call_hidden/);
  assert.match(moved({ kind: 'settled' }).problems[0]?.problem ?? '', /the row is called settled/);
});
