/**
 * Connections that are used again, beside servers that behave in every way: each question gets its own answer, or none.
 */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { eventually } from '../../../../test/support/eventually.ts';
import { lengthOf, serving, textOf, writing } from '../../../../test/support/http-client-servers.ts';
import { type HttpAnswer, send } from './http-client.ts';
import { headersFor, targetOf } from './http-target.ts';

test('one after the other they share a connection; at once each has one, and its own answer', async (t) => {
  const { connections, send } = await serving(t, (asked, response) => {
    setTimeout(() => response.end(`heard ${asked}`), Math.random() * 5);
  });
  for (let at = 0; at < 5; at++) assert.equal(textOf(await send(`${at}`)), `heard ${at}`);
  assert.equal(connections(), 1);
  for (let round = 0; round < 10; round++) {
    const asked = Array.from({ length: 20 }, (_, at) => `${round} ${at}`);
    const heard = await Promise.all(asked.map((text) => send(text)));
    assert.deepEqual(
      heard.map(textOf),
      asked.map((text) => `heard ${text}`),
    );
  }
  assert.equal(connections(), 20);
});

test('one that its server closed while it rested is not used', async (t) => {
  const { connections, send, sockets } = await serving(t, (_, response) => void response.end('{}'));
  await send();
  for (const socket of sockets) socket.end();
  await eventually('the end of the connection', async () => sockets.size === 0);
  assert.equal(textOf(await send()), '{}');
  assert.equal(connections(), 2);
});

test('nor one whose server says that it waits no longer, or that it closes', async (t) => {
  for (const headers of [{ 'keep-alive': 'timeout=1' }, { connection: 'close' }]) {
    const { connections, send } = await serving(t, (_, response) => void response.writeHead(200, headers).end('{}'));
    await send();
    await send();
    assert.equal(connections(), 2, JSON.stringify(headers));
  }
});

test('what a server says unasked is nobody’s answer', async (t) => {
  const stray = lengthOf('for a stranger');
  const closed = ({ sockets }: { readonly sockets: ReadonlySet<Socket> }) =>
    eventually('the end of the connection', async () => sockets.size === 0);

  const with1st = await writing(t, (socket, asked) =>
    socket.write(asked > 1 ? lengthOf('mine') : lengthOf('1st') + stray),
  );
  assert.equal(textOf(await with1st.send()), '1st');
  await closed(with1st);
  assert.equal(textOf(await with1st.send()), 'mine');

  const atRest = await writing(t, (socket, asked) => socket.write(lengthOf(asked > 1 ? 'mine' : '1st')));
  assert.equal(textOf(await atRest.send()), '1st');
  for (const socket of atRest.sockets) socket.write(stray);
  await closed(atRest);
  assert.equal(textOf(await atRest.send()), 'mine');
});

test('one that rested for as long as its server waits is closed', async (t) => {
  const { send, sockets } = await writing(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=2\r\ncontent-length: 0\r\n\r\n');
  });
  await send();
  assert.equal(sockets.size, 1);
  await eventually('its end', async () => sockets.size === 0);
});

test('who answers before it heard everything is asked over another connection', async (t) => {
  const { connections, send } = await writing(t, (socket, asked) => {
    if (asked > 1 && connections() === 1) return;
    socket.pause();
    socket.write(lengthOf('too much'));
    if (connections() > 1) socket.resume();
  });
  assert.equal(textOf(await send('x'.repeat(9_000_000))), 'too much');
  assert.equal(textOf(await send()), 'too much');
  assert.equal(connections(), 2);
});

test('who hangs up after the answer ends nobody else’s question', async (t) => {
  const { connections, send } = await serving(t, (asked, response) => {
    if (asked === 'slow') setTimeout(() => response.end('{}'), 50);
    else response.end('{}');
  });
  const stop = new AbortController();
  await send('{}', { signal: stop.signal });
  const slow = send('slow');
  stop.abort();
  assert.equal((await slow).status, 200);
  assert.equal(connections(), 1);
});

test('a stream that was read to its end gives its connection back; one that is left does not', async (t) => {
  const { connections, send } = await serving(t, (asked, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    if (asked === 'whole') setImmediate(() => response.end('data: 2\n\n'));
  });
  const read = async ({ body }: HttpAnswer) => {
    const text = Buffer.concat(await (body as Readable).toArray()).toString();
    await turn();
    return text;
  };
  for (let at = 0; at < 3; at++) assert.equal(await read(await send('whole')), 'data: 1\n\ndata: 2\n\n');
  assert.equal(connections(), 1);
  await send('open');
  const left = (await send('open')).body as Readable;
  left.destroy();
  assert.equal(await read(await send('whole')), 'data: 1\n\ndata: 2\n\n');
  assert.equal(connections(), 3);
});

test('a stream that breaks is an error for whoever reads it, and for nobody if nobody does', async (t) => {
  const { send, sockets } = await writing(t, (socket) => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
    socket.write(`${head}3\r\nabcnot a chunk`);
  });
  await send();
  await eventually('the end of the connection', async () => sockets.size === 0);
  const { body } = await send();
  await assert.rejects((body as Readable).toArray());
});

test('who reads a stream slowly holds up its server, not the memory', async (t) => {
  let written = 0;
  let over = false;
  const { send } = await serving(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const more = () => {
      while (!over) {
        written += 65_536;
        if (!response.write('x'.repeat(65_536))) return;
      }
    };
    response.on('drain', more);
    more();
  });
  const { body } = await send();
  let before = -1;
  let same = 0;
  await eventually('it is held up', async () => {
    same = written === before ? same + 1 : 0;
    before = written;
    return same >= 5;
  });
  assert.ok(written < 64 << 20, `${written} bytes`);
  over = true;
  (body as Readable).destroy();
});

for (const [what, answer, code] of [
  ['hangs up', (socket: Socket) => socket.destroy(), 'ECONNRESET'],
  ['resets the connection', (socket: Socket) => socket.resetAndDestroy(), 'ECONNRESET'],
  [
    'hangs up in the middle',
    (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'),
    undefined,
  ],
  ['says something else', (socket: Socket) => socket.end('no HTTP\r\n\r\n'), undefined],
] as const)
  test(`a server that ${what} is a fault with its cause, and the next question has another connection`, async (t) => {
    const { connections, send } = await writing(t, answer);
    for (let at = 0; at < 2; at++)
      await assert.rejects(send(), (error: Error) => {
        assert.equal(error.message, 'fetch failed');
        assert.equal((error.cause as { code?: string }).code, code);
        return true;
      });
    assert.equal(connections(), 2);
  });

test('a request on a connection that its server closes under it is a fault, and is not sent again', async (t) => {
  let requests = 0;
  const { connections, send } = await writing(t, (socket, asked) => {
    requests = asked;
    if (asked === 1) socket.write(lengthOf('1st'));
    else socket.destroy();
  });
  assert.equal(textOf(await send()), '1st');
  await assert.rejects(send(), (error: Error) => {
    assert.equal((error.cause as { code?: string }).code, 'ECONNRESET');
    return true;
  });
  await turn();
  assert.deepEqual([connections(), requests], [1, 2]);
});

test('where nobody listens, it was never sent', async () => {
  const target = targetOf(new URL('http://127.0.0.1:1/mcp'));
  const request = { method: 'POST', headers: headersFor(target), body: '{}', maxBodyBytes: 10 };
  await assert.rejects(send(target, request), ({ cause }: Error) => {
    assert.equal((cause as { syscall?: string }).syscall, 'connect');
    return true;
  });
});

test('headers may hold bytes above ASCII, and the body any character', async (t) => {
  const { send } = await serving(t, (asked, response, request) => {
    response.end(JSON.stringify([asked, request.headers['x-name']]));
  });
  assert.deepEqual(JSON.parse(textOf(await send('東京'))), ['東京', null]);
  const named = await send('東京', { headers: ['host', 'x', 'x-name', 'Zürich'] });
  assert.deepEqual(JSON.parse(textOf(named)), ['東京', 'Zürich']);
});

test('a server that sends very many tiny chunks is heard, and takes no more than its share of the time', async (t) => {
  const chunks = 40_000;
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const chopping = await writing(t, (socket, asked) => {
    socket.write(asked === 1 ? `${head}${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n` : lengthOf('whole'));
  });
  const other = await serving(t, (_, response) => void response.end('{}'));
  const began = performance.now();
  let isOver = false;
  const heard = chopping.send().finally(() => (isOver = true));
  let others = 0;
  for (; !isOver; others++) await other.send();
  assert.equal(textOf(await heard), 'x'.repeat(chunks));
  assert.ok(performance.now() - began > 500, 'it was read at full speed');
  assert.ok(others > 0, 'nobody else was heard meanwhile');
  // What it came over is of use as before.
  assert.equal(textOf(await chopping.send()), 'whole');
  assert.equal(chopping.connections(), 1);
});
