/** One request and every way in which it can end. Real servers; time is the test's. */
import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { createManualClock } from '../../../../test/support/manual-clock.ts';
import { type AnswerWith, startReceiver } from '../../../../test/support/webhook-receiver.ts';
import { type PostOrder, postWebhook, readRetryAfter } from './post-webhook.ts';

const order = (url: string, over: Partial<PostOrder> = {}): PostOrder => ({
  url,
  headers: { 'Recourse-Id': 'evt_1' },
  body: '{"text":"grüße"}',
  timeoutMs: 10_000,
  maxAnswerBytes: 65_536,
  clock: createManualClock(),
  signal: new AbortController().signal,
  ...over,
});

const failed = (problem: string, retryAfterMs: number | null = null) => ({ kind: 'failed', problem, retryAfterMs });

for (const [name, answer, expected] of [
  ['200', 200, { kind: 'taken' }],
  ['204', 204, { kind: 'taken' }],
  ['299', 299, { kind: 'taken' }],
  ['400', 400, failed('status 400')],
  ['500', 500, failed('status 500')],
  [
    'a redirect',
    (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
    failed('status 307, and redirects are not followed'),
  ],
  [
    '429 with Retry-After',
    (response) => void response.writeHead(429, { 'retry-after': '7' }).end(),
    failed('status 429', 7_000),
  ],
  ['no answer at all', (response) => void response.destroy(), failed('ECONNRESET')],
] as readonly (readonly [string, AnswerWith, object])[])
  test(`${name}: ${JSON.stringify(expected)}`, async (t) => {
    const receiver = await startReceiver(t);
    receiver.answer(() => answer);
    assert.deepEqual(await postWebhook(order(receiver.url)), expected);
    assert.deepEqual(
      receiver.got.map(({ path, body }) => [path, body]),
      [['/hook?token=hidden-in-the-query', '{"text":"grüße"}']],
    );
  });

test('nobody is there, or the address is none', async () => {
  assert.deepEqual(await postWebhook(order('http://127.0.0.1:1/')), failed('ECONNREFUSED'));
  for (const url of ['', 'not an address', 'ftp://host/'])
    assert.deepEqual(await postWebhook(order(url)), failed('its address is none'));
});

test('an answer that does not come ends with the time', async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer(() => 'hang');
  const clock = createManualClock();
  const posted = postWebhook(order(receiver.url, { clock }));
  await eventually('it is there', async () => receiver.got.length === 1);
  clock.forward(9_999);
  assert.equal(clock.waiting(), 1, 'it still waits');
  clock.forward(1);
  assert.deepEqual(await posted, failed('no answer within 10 seconds'));
});

test('a gateway that closes waits no longer', async (t) => {
  const receiver = await startReceiver(t);
  receiver.answer(() => 'hang');
  const over = new AbortController();
  const posted = postWebhook(order(receiver.url, { signal: over.signal }));
  await eventually('it is there', async () => receiver.got.length === 1);
  over.abort();
  assert.deepEqual(await posted, failed('the gateway closed'));
  assert.deepEqual(await postWebhook(order(receiver.url, { signal: over.signal })), failed('the gateway closed'));
  assert.equal(receiver.got.length, 1);
});

/** Counts what it could get rid of. */
async function talker(t: TestContext) {
  let written = 0;
  let gone = false;
  const server = createServer((socket) => {
    const chunk = Buffer.alloc(16_384, 'x');
    const pour = () => {
      while (!gone && socket.write(chunk)) written += chunk.length;
    };
    socket.on('drain', () => {
      written += chunk.length;
      pour();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => (gone = true));
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n');
      pour();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, isGone: () => gone, written: () => written };
}

test('an answer without end is left after a few bytes, and counts by its status', async (t) => {
  const endless = await talker(t);
  assert.deepEqual(await postWebhook(order(endless.url)), { kind: 'taken' });
  await eventually('it was hung up on', async () => endless.isGone());
  assert.ok(endless.written() < 64 * 1_048_576, `${endless.written()} bytes`);
});

test('Retry-After is seconds or a date', () => {
  const nowMs = Date.parse('Mon, 18 May 2026 00:00:00 GMT');
  for (const [header, expected] of [
    ['120', 120_000],
    [' 5 ', 5_000],
    ['Mon, 18 May 2026 00:01:00 GMT', 60_000],
    ['Sun, 17 May 2026 00:00:00 GMT', 0],
    ['-5', null],
    ['soon', null],
    ['2026-05-18', null],
    ['1e9', null],
    [undefined, null],
  ] as const)
    assert.equal(readRetryAfter(header, nowMs), expected, header);
});
