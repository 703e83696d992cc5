/** On real sockets: what a client reads of a stream, and what becomes of one that does not read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { CallId } from '../../../core/call/call.ts';
import { createEventWriter, type EventWriter } from './event-writer.ts';

const anHour = 3_600_000;
const id = 'call_1' as CallId;

interface Opened {
  readonly response: ServerResponse;
  readonly writer: EventWriter;
  /** The client's side; resolves with the head. */
  readonly heard: Promise<IncomingMessage>;
  leave(): void;
}

async function open(
  t: TestContext,
  { slowReaderMs = anHour, heartbeatMs = anHour, goesOn = false } = {},
): Promise<Opened> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const asking = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
  asking.on('error', () => undefined);
  const heard = once(asking, 'response').then(([head]) => {
    (head as IncomingMessage).on('error', () => undefined);
    return head as IncomingMessage;
  });
  // A client that leaves before the head hears nothing.
  heard.catch(() => undefined);
  asking.end();
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  response.on('error', () => undefined);
  const writer = createEventWriter(response, { slowReaderMs, heartbeatMs }, goesOn);
  return { response, writer, heard, leave: () => asking.destroy() };
}

async function textOf(heard: Promise<IncomingMessage>): Promise<string> {
  let text = '';
  for await (const chunk of (await heard).setEncoding('utf8')) text += String(chunk);
  return text;
}

test('the head comes with the first event, and events as they were given', async (t) => {
  const { response, writer, heard } = await open(t);
  const relay = writer.relay(id);
  assert.equal(response.headersSent, false);
  assert.equal(await relay.send({ event: null, data: '{"a":1}' }), true);
  assert.equal(await relay.send({ event: 'delta', data: 'one\ntwo\r\nthree' }), true);
  writer.end();
  const { statusCode, headers } = await heard;
  assert.deepEqual([statusCode, headers['content-type']], [200, 'text/event-stream; charset=utf-8']);
  assert.deepEqual([headers['recourse-call-id'], headers['x-request-id'], headers['request-id']], [id, id, id]);
  const text = 'data: {"a":1}\n\nevent: delta\ndata: one\ndata: two\ndata: three\n\n';
  assert.equal(await textOf(heard), text);
});

test('while nothing comes a comment says that the stream is open, and not before its head', async (t) => {
  const { writer, heard } = await open(t, { heartbeatMs: 1 });
  await writer.relay(id).send({ event: null, data: 'x' });
  const head = await heard;
  let text = '';
  for await (const chunk of head.setEncoding('utf8')) {
    text += String(chunk);
    if (text.includes(': still here\n\n')) break;
  }
  assert.match(text, /^data: x\n\n(?:: still here\n\n)+$/);
});

test('a client that reads nothing is cut off, and the sender hears it', async (t) => {
  const { response, writer, heard } = await open(t, { slowReaderMs: 1 });
  const big = { event: null, data: 'x'.repeat(1 << 20) };
  const relay = writer.relay(id);
  // Nobody reads the response: sooner or later no buffer takes more.
  let sent = 0;
  while (await relay.send(big)) sent += 1;
  assert.ok(sent < 1_000 && response.destroyed);
  await heard;
});

test('what a slow client has not read holds the sender up, until it reads', async (t) => {
  const { response, writer, heard } = await open(t);
  const relay = writer.relay(id);
  const big = { event: null, data: 'x'.repeat(1 << 20) };
  let waits: Promise<boolean> = relay.send(big);
  while (!response.writableNeedDrain) {
    await waits;
    waits = relay.send(big);
  }
  const head = await heard;
  head.resume();
  assert.equal(await waits, true);
  writer.end();
  await once(head, 'end');
});

for (const [goesOn, hears] of [
  [false, 'nobody reads'],
  [true, 'more is wanted all the same'],
] as const)
  test(`when the client is gone the sender hears that ${hears}`, async (t) => {
    const { response, writer, heard, leave } = await open(t, { goesOn });
    const relay = writer.relay(id);
    await relay.send({ event: null, data: 'x' });
    await heard;
    leave();
    await once(response, 'close');
    assert.equal(await relay.send({ event: null, data: 'y' }), goesOn);
    writer.end();
  });
