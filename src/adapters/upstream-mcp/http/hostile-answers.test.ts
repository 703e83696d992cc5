/** Answers that break the protocol: each is a fault, and its connection is not used again. */
import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { lengthOf, textOf, writing } from '../../../../test/support/http-client-servers.ts';

test('a server that sends early heads without end is cut off', async (t) => {
  const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
  const { send, sockets } = await writing(t, (socket, asked) => {
    socket.write(asked === 1 ? early.repeat(3) + lengthOf('heard') : early.repeat(1_000));
  });
  assert.equal(textOf(await send()), 'heard');
  await assert.rejects(send(), { message: 'fetch failed' });
  await eventually('the end of the connection', async () => sockets.size === 0);
});

for (const [what, text] of [
  ['two lengths', 'content-length: 1\r\ncontent-length: 2\r\n\r\nxy'],
  ['a length beside chunks', 'content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk that is longer than it says', 'transfer-encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n'],
  ['a head without an end', `x-a: ${'y'.repeat(20_000)}`],
  ['trailers without an end', `transfer-encoding: chunked\r\n\r\n0\r\n${`x-a: ${'y'.repeat(900)}\r\n`.repeat(30)}`],
] as const)
  test(`${what}: no answer, and the connection is not used again`, async (t) => {
    const { connections, send } = await writing(t, (socket, asked) => {
      socket.write(asked === 1 ? `HTTP/1.1 200 OK\r\n${text}` : lengthOf('2nd'));
    });
    await assert.rejects(send(), { message: 'fetch failed' });
    assert.equal(textOf(await send()), '2nd');
    assert.equal(connections(), 2);
  });

test('a stream whose connection is reset while nobody reads it is over for whoever reads it later', async (t) => {
  const size = 200_000;
  const { send, sockets } = await writing(t, (socket) => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';
    socket.write(head + 'x'.repeat(size), () => socket.resetAndDestroy());
  });
  const { body } = await send();
  await eventually('the end of the connection', async () => sockets.size === 0);
  const read = await (body as Readable).toArray().catch(() => []);
  assert.ok(Buffer.concat(read).length <= size);
});
