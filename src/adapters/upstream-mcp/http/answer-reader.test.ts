/** Answers of servers, read from bytes: the same in whatever pieces they come, and the same as node:http reads them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AnswerHead, createAnswerReader } from './answer-reader.ts';

interface Read {
  readonly head: AnswerHead | null;
  readonly body: string;
  /** Null: it did not end. */
  readonly mayGoOn: boolean | null;
  readonly problem: string | null;
  /** How many pieces there were when it ended. */
  readonly used: number;
}

function readIn(pieces: readonly Buffer[]): Read {
  let head: AnswerHead | null = null;
  let body = '';
  let mayGoOn: boolean | null = null;
  let problem: string | null = null;
  let pushed = 0;
  let used = 0;
  const reader = createAnswerReader({
    head: (read) => void (head = read),
    data: (bytes) => void (body += bytes.toString('latin1')),
    end(given) {
      mayGoOn = given;
      used = pushed;
    },
  });
  try {
    for (const piece of pieces) {
      pushed++;
      reader.push(piece);
    }
    reader.close();
  } catch (error) {
    problem = (error as Error).message;
  }
  return { head, body, mayGoOn, problem, used };
}

const whole = (text: string) => [Buffer.from(text, 'latin1')];
const inBytes = (text: string) => Array.from(Buffer.from(text, 'latin1'), (byte) => Buffer.from([byte]));
const ok = 'HTTP/1.1 200 OK\r\n';

const right: readonly (readonly [string, string, number, string, boolean])[] = [
  ['a length', `${ok}Content-Length: 5\r\n\r\nhello`, 200, 'hello', true],
  ['no length, until the end', `${ok}\r\nhello`, 200, 'hello', false],
  ['an empty body', `${ok}content-length: 0\r\n\r\n`, 200, '', true],
  ['chunks', `${ok}Transfer-Encoding: Chunked\r\n\r\n2\r\nhe\r\n3;name=value\r\nllo\r\n0\r\n\r\n`, 200, 'hello', true],
  [
    'trailers',
    `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-a: 1\r\nx-b: 2\r\n\r\n`,
    200,
    'hello',
    true,
  ],
  ['a status that has no body', 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n', 204, '', true],
  ['no reason', 'HTTP/1.1 404\r\ncontent-length: 0\r\n\r\n', 404, '', true],
  [
    'something beforehand',
    `HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${ok}content-length: 2\r\n\r\nhi`,
    200,
    'hi',
    true,
  ],
  ['a wish to close', `${ok}connection: x, Close\r\ncontent-length: 2\r\n\r\nhi`, 200, 'hi', false],
  ['the older version', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi', 200, 'hi', false],
  ['more than the answer', `${ok}content-length: 2\r\n\r\nhi${ok}`, 200, 'hi', false],
];
for (const [what, text, status, body, mayGoOn] of right)
  test(`an answer with ${what} is read, at once and byte by byte`, () => {
    const expected = what === 'something beforehand' ? 'hi' : body;
    const read = readIn(whole(text));
    assert.deepEqual([read.problem, read.head?.status, read.body, read.mayGoOn], [null, status, expected, mayGoOn]);
    const slowly = readIn(inBytes(text));
    // What comes behind the end, byte by byte, comes when the connection rests.
    assert.deepEqual([slowly.problem, slowly.head?.status, slowly.body], [null, status, expected]);
  });

test('headers are found by names in small letters, and those that come twice are joined', () => {
  const { head } = readIn(
    whole(`${ok}X-One:  a b \r\nx-two:\r\nx-ONE: c\r\n__proto__: d\r\ncontent-length: 0\r\n\r\n`),
  );
  assert.deepEqual({ ...head?.headers }, { 'x-one': 'a b, c', 'x-two': '', ['__proto__']: 'd', 'content-length': '0' });
});

const wrong: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['a status that is none', 'HTTP/1.1 999 No\r\n\r\n'],
  ['a change of protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ['a header without a colon', `${ok}content-length\r\n\r\n`],
  ['a space before the colon', `${ok}content-length : 1\r\n\r\nx`],
  ['a folded header', `${ok}x-a: 1\r\n 2\r\ncontent-length: 0\r\n\r\n`],
  ['two lengths', `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\nxy`],
  ['a length that is none', `${ok}content-length: +1\r\n\r\nx`],
  ['a length beside chunks', `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['an encoding that nobody asked for', `${ok}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['a size that is none', `${ok}transfer-encoding: chunked\r\n\r\nxy\r\n`],
  ['a negative size', `${ok}transfer-encoding: chunked\r\n\r\n-1\r\n`],
  ['a chunk that is longer than it says', `${ok}transfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n`],
  ['half a body', `${ok}content-length: 5\r\n\r\nhe`],
  ['half a chunk', `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhe`],
  ['chunks without an end', `${ok}transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n`],
  ['half a head', 'HTTP/1.1 200 OK\r\ncontent-le'],
  ['a head without an end', `${ok}x-a: ${'y'.repeat(20_000)}`],
  ['many small heads beforehand', `HTTP/1.1 100 Continue\r\nx-a: ${'y'.repeat(900)}\r\n\r\n`.repeat(30)],
  ['a size line without an end', `${ok}transfer-encoding: chunked\r\n\r\n1;${'y'.repeat(2_000)}`],
  [
    'trailers without an end',
    `${ok}transfer-encoding: chunked\r\n\r\n0\r\n${`x-a: ${'y'.repeat(900)}\r\n`.repeat(30)}`,
  ],
];
for (const [what, text] of wrong)
  test(`${what} is no answer, at once and byte by byte`, () => {
    for (const pieces of [whole(text), inBytes(text)]) {
      const { problem, mayGoOn } = readIn(pieces);
      assert.notEqual(problem, null);
      assert.equal(mayGoOn, null);
    }
  });

test('in any pieces it is the same answer', () => {
  const texts = [...right, ...wrong].map(([, text]) => text);
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.array(fc.nat(40), { maxLength: 30 }), (text, sizes) => {
      const bytes = Buffer.from(text, 'latin1');
      const pieces: Buffer[] = [];
      let at = 0;
      for (const size of sizes) pieces.push(bytes.subarray(at, (at += size)));
      pieces.push(bytes.subarray(at));
      const [apart, together] = [readIn(pieces), readIn([bytes])];
      assert.deepEqual(
        [apart.head?.status, apart.body, apart.problem === null],
        [together.head?.status, together.body, together.problem === null],
      );
    }),
    { numRuns: 2_000 },
  );
});

/** What answers are made of, and what is nearly that. */
const tokens = [
  ok,
  'HTTP/1.1 204 No Content\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.0 200 OK\r\n',
  'content-length: 3\r\n',
  'Content-Length: 0\r\n',
  'content-length: 3, 3\r\n',
  'content-length: 0x3\r\n',
  'transfer-encoding: chunked\r\n',
  'transfer-encoding: identity\r\n',
  'transfer-encoding: chunked, chunked\r\n',
  'connection: close\r\n',
  'x-a: b\r\n',
  ' x: y\r\n',
  'x y\r\n',
  '\r\n',
  '\r\n\r\n',
  '\n',
  '3\r\nabc\r\n',
  '3 ;x\r\nabc\r\n',
  '03\r\n',
  '0\r\n\r\n',
  'abc',
  '\0',
  'é',
];

/** Status, body and whether it came whole; null: node:http found no answer in it. */
function readByNode(port: number): Promise<readonly [number, string] | null> {
  return new Promise((resolve) => {
    const asked = request({ port, host: '127.0.0.1', agent: false }, (response) => {
      let body = '';
      response.setEncoding('latin1').on('data', (text: string) => (body += text));
      response.on('error', () => resolve(null));
      response.on('close', () => resolve(response.complete ? [response.statusCode ?? 0, body] : null));
    });
    asked.on('upgrade', () => resolve(null));
    asked.on('error', () => resolve(null));
    asked.end();
  });
}

test('whatever it takes for an answer, node:http reads as the same', async (t) => {
  let text = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(text, 'latin1'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const token = fc.constantFrom(...tokens);
  let found = 0;
  for (const drawn of fc.sample(fc.array(token, { maxLength: 7 }), { numRuns: 700, seed: 11 })) {
    text = drawn[0] === ok ? drawn.join('') : `${ok}${drawn.join('')}`;
    const ours = readIn(whole(text));
    if (ours.problem !== null || ours.head === null) continue;
    // Behind the end of an answer node:http looks for another one; here the connection is closed.
    if (readIn(inBytes(text)).used < text.length) continue;
    found++;
    assert.deepEqual([ours.head.status, ours.body], await readByNode(port), JSON.stringify(text));
  }
  assert.ok(found > 40, `only ${found} were answers`);
});
