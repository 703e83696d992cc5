import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { boundConnections, type ConnectionLimits } from './bound-connections.ts';

const roomy: ConnectionLimits = {
  maxConnections: 32,
  maxConnectionsPerAddress: 32,
  maxConnectionsPerAgent: 32,
  bodyStallMs: 10_000,
};

type Opened = Awaited<ReturnType<Awaited<ReturnType<typeof serve>>['open']>>;

/** Whoever names themselves in the path is known by that name; `/wait` is answered when the test says so. */
async function serve(t: TestContext, limits: Partial<ConnectionLimits> = {}) {
  const connections = boundConnections({ ...roomy, ...limits });
  const waiting: ServerResponse[] = [];
  const accepted: Socket[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const [, holder = '', what] = (request.url ?? '').split('/');
    if (holder !== '' && !connections.admit(request.socket, holder)) return void response.writeHead(503).end();
    if (what === 'wait') return void waiting.push(response);
    response.end('ok');
  });
  connections.watch(server);
  server.on('connection', (socket) => void accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open = async (localAddress = '127.0.0.1') => {
    const before = accepted.length;
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    t.after(() => socket.destroy());
    let said = '';
    socket.on('error', () => undefined).on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(socket, 'connect');
    await eventually('it was accepted', async () => accepted.length > before);
    const isOpen = () => !socket.closed;
    const ask = async (target: string, lines = '') => {
      said = '';
      socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`);
      const status = () => /^HTTP\/1\.1 (\d+)/.exec(said)?.[1];
      return Number(await eventually('an answer', async () => status() ?? (socket.closed ? '0' : null)));
    };
    const send = (text: string) => void socket.write(text);
    const closed = () => eventually('it is closed', async () => socket.closed);
    return { isOpen, ask, send, closed };
  };
  return { open, waiting };
}

test('of those without a key the longest idle one gives way to a newcomer, who is always let in', async (t) => {
  const { open } = await serve(t, { maxConnections: 8 });
  const [first, second] = [await open(), await open(), await open(), await open()];
  assert.equal(await first.ask('/'), 200);
  const newcomer = await open();
  assert.equal(await newcomer.ask('/'), 200);
  await second.closed();
  assert.ok(first.isOpen(), 'the one that was used later');
});

test('who has shown a key is not closed for those who have not', async (t) => {
  const { open } = await serve(t, { maxConnections: 8 });
  const known = await open();
  assert.equal(await known.ask('/bot'), 200);
  const flood: Opened[] = [];
  for (let count = 0; count < 40; count++) flood.push(await open());
  assert.equal(await known.ask('/bot'), 200);
  await eventually('only the last of them are open', async () => flood.filter(({ isOpen }) => isOpen()).length <= 4);
  const newcomer = await open();
  assert.equal(await newcomer.ask('/other'), 200);
});

test('a half of a request is idle: it gives way, too', async (t) => {
  const { open } = await serve(t, { maxConnections: 4 });
  const slow = await open();
  slow.send('GET / HTTP/1.1\r\nHo');
  for (let count = 0; count < 4; count++) await open();
  await slow.closed();
});

/** Other systems have one loopback address unless somebody sets up more. */
const oneAddress = process.platform === 'linux' ? false : 'needs a second loopback address';

test('one address takes the room of its own connections, not of others', { skip: oneAddress }, async (t) => {
  const { open } = await serve(t, { maxConnectionsPerAddress: 3 });
  const other = await open('127.0.0.2');
  const mine: Opened[] = [];
  for (let count = 0; count < 10; count++) mine.push(await open('127.0.0.1'));
  await eventually('three are left', async () => mine.filter(({ isOpen }) => isOpen()).length === 3);
  assert.equal(await other.ask('/'), 200);
});

test('a holder of keys takes the room of their own idle connections, and is refused when all are in use', async (t) => {
  const { open, waiting } = await serve(t, { maxConnectionsPerAgent: 2 });
  const [first, second, third, fourth] = [await open(), await open(), await open(), await open()];
  assert.equal(await first.ask('/bot'), 200);
  assert.equal(await second.ask('/bot'), 200);
  assert.equal(await third.ask('/bot'), 200);
  await first.closed();
  for (const busy of [second, third]) busy.send('GET /bot/wait HTTP/1.1\r\nHost: x\r\n\r\n');
  await eventually('both wait', async () => waiting.length === 2);
  assert.equal(await fourth.ask('/bot'), 503);
  assert.equal(await fourth.ask('/other'), 200, 'somebody else is let in');
  for (const response of waiting) response.end('ok');
  assert.equal(await fourth.ask('/bot'), 200);
});

test('when many holders fill the room, whoever has most of it gives way to a new one', async (t) => {
  const { open } = await serve(t, { maxConnections: 16, maxConnectionsPerAgent: 14 });
  const large: Opened[] = [];
  for (let count = 0; count < 13; count++) {
    const socket = await open();
    assert.equal(await socket.ask('/large'), 200);
    large.push(socket);
  }
  const small = await open();
  assert.equal(await small.ask('/small'), 200);
  const fresh = await open();
  assert.equal(await fresh.ask('/small'), 200);
  const newest = await open();
  assert.equal(await newest.ask('/newest'), 200);
  await eventually('one of many', async () => large.filter(({ isOpen }) => isOpen()).length < 13);
  assert.ok(small.isOpen() && fresh.isOpen());
});

test('a body that stalls after its answer ends the connection', async (t) => {
  const { open } = await serve(t, { bodyStallMs: 50 });
  const stalling = await open();
  assert.equal(await stalling.ask('/', 'Content-Length: 10\r\n'), 200);
  await stalling.closed();
});
