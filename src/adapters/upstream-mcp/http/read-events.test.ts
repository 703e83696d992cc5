import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import { defaultMcpLimits } from '../mcp-limits.ts';
import { readEvents } from './read-events.ts';

const limits = { ...defaultMcpLimits, floodBurst: 1_000_000 };

type Read = readonly ['id', string] | readonly ['retry', number] | readonly ['message', unknown];

async function readsOf(pieces: readonly Uint8Array[]): Promise<Read[]> {
  const reads: Read[] = [];
  await readEvents(Readable.from(pieces), limits, {
    onId: (id) => reads.push(['id', id]),
    onRetry: (ms) => reads.push(['retry', ms]),
    onMessage: (message) => reads.push(['message', message]),
  });
  return reads;
}

const messagesOf = async (pieces: readonly Uint8Array[]) =>
  (await readsOf(pieces)).filter(([what]) => what === 'message').map(([, message]) => message);

for (const [what, text, reads] of [
  ['a message', 'data: {"a":1}\n\n', [['message', { a: 1 }]]],
  ['a message by its name', 'event: message\ndata: 1\n\n', [['message', 1]]],
  ['another event', 'event: ping\ndata: 1\nid: 7\n\n', [['id', '7']]],
  ['data in several lines, without the space', 'data:[1,\ndata:2]\n\n', [['message', [1, 2]]]],
  ['what is no JSON', 'data: {"a"\n\n', []],
  [
    'an id before its message',
    'data: 1\nid: 7\n\n',
    [
      ['id', '7'],
      ['message', 1],
    ],
  ],
  [
    'the first event of a stream that can be resumed',
    'id: s_1\nretry: 200\ndata: \n\n',
    [
      ['retry', 200],
      ['id', 's_1'],
    ],
  ],
  [
    'an id without data, an empty one, and one that cannot be',
    'id: 1\n\nid\n\nid: a\0b\n\n',
    [
      ['id', '1'],
      ['id', ''],
    ],
  ],
  ['times that are none', 'retry: soon\nretry: -1\nretry:\n\n', []],
  ['a byte order mark and comments', '\ufeffdata: 1\n: hello\nother: x\n\n', [['message', 1]]],
  ['an event that was not finished', 'id: 1\n\nid: 2\ndata: {}\n', [['id', '1']]],
  [
    'ends of every sort',
    'data: 1\r\n\r\ndata: 2\r\rdata: 3\n\r\ndata: 4\r\n\n',
    [1, 2, 3, 4].map((n) => ['message', n]),
  ],
] as const) {
  test(`${what}: read in one piece and byte by byte`, async () => {
    const bytes = Buffer.from(text);
    assert.deepEqual(await readsOf([bytes]), reads);
    assert.deepEqual(await readsOf([...bytes].map((byte) => Buffer.of(byte))), reads);
  });
}

test('however a stream is cut, and however its lines end, the same events are read', async () => {
  const value = fc.string({ unit: fc.constantFrom('a', 'ü', '👋', ' '), maxLength: 6 });
  const ends = fc.tuple(fc.constantFrom('\n', '\r\n', '\r'), fc.constantFrom('\n', '\r\n', '\r'));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(value, ends), { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(9), { maxLength: 30 }),
      async (events, cuts) => {
        // A carriage return and a line feed beside each other are one end: between events the ends are kept apart.
        const text = events
          .map(([said, [end, last]]) => `data: ${JSON.stringify(said)}${end}:${last}${last}`)
          .join(':-\n');
        const whole = Buffer.from(text);
        const pieces: Buffer[] = [];
        let from = 0;
        for (const cut of cuts) pieces.push(whole.subarray(from, (from += cut)));
        pieces.push(whole.subarray(from));
        const said = await messagesOf(pieces);
        assert.deepEqual(
          said,
          events.map(([message]) => message),
        );
      },
    ),
    { numRuns: 100 },
  );
});

test('one large event in small pieces costs no more than as many pieces of small events', async () => {
  const piece = Buffer.alloc(256, 'x');
  const count = (2 << 20) / piece.length;
  const small = Buffer.from(`data: "${'x'.repeat(piece.length - 10)}"\n\n`);
  const timeOf = async (pieces: readonly Buffer[], events: number) => {
    const before = process.cpuUsage();
    assert.equal((await messagesOf(pieces)).length, events);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  const pieces = Array.from({ length: count }, () => piece);
  const manyMs = await timeOf(
    Array.from({ length: count }, () => small),
    count,
  );
  const oneMs = await timeOf([Buffer.from('data: "'), ...pieces, Buffer.from('"\n\n')], 1);
  assert.ok(oneMs < 5 * manyMs + 500, `${oneMs} ms of CPU time for one event, ${manyMs} ms for ${count}`);
});
