import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { createCountingTool, createHeldTool } from '../../support/tools.ts';
import { openHttp, type OpenedHttp } from './open-http.ts';

/** A client that sends a call and goes away before it has the answer. */
async function callAndLeave({ url, keys }: OpenedHttp, body: object, begun: () => Promise<unknown>): Promise<void> {
  const text = JSON.stringify(body);
  const headers = { authorization: `Bearer ${keys.agent}`, 'content-type': 'application/json' };
  const request = httpRequest(new URL('/v1/calls', url), { method: 'POST', headers, agent: false });
  request.on('error', () => undefined);
  request.end(text);
  await begun();
  request.destroy();
}

test('a call whose client left goes on, and an equal one without a key takes its place instead of running again', async (t) => {
  const slow = createHeldTool('slow');
  const http = await openHttp(t, { tools: [slow.definition] });
  const asked = { tool: 'slow', args: { order: 1 } };
  await callAndLeave(http, asked, () => slow.begun());
  const [left] = await http.shell.ports.store.listCalls({ limit: 1 });
  assert.ok(left !== undefined);
  await eventually('the client is on record as gone', async () => {
    const now = await http.shell.ports.store.call(left.id);
    return now?.requesterLeftAtMs !== null;
  });
  const again = http.call(asked);
  slow.runs[0]?.finish('done');
  const { status, body } = await again;
  assert.deepEqual([status, body['result'], body['replayed'], body['call_id']], [200, 'done', true, left.id]);
  assert.equal(slow.runs.length, 1);
});

test('what is no HTTP is never answered in the place of a call under way, on its connection', async (t) => {
  const slow = createHeldTool('slow');
  const http = await openHttp(t, { tools: [slow.definition] });
  const body = JSON.stringify({ tool: 'slow', args: {} });
  const head = [
    'POST /v1/calls HTTP/1.1',
    'host: localhost',
    `authorization: Bearer ${http.keys.agent}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ];
  const heard = await heardAfter(http.url, `${head.join('\r\n')}\r\n\r\n${body}`, () => slow.begun());
  assert.equal(heard, '', 'only the connection ends');
  await eventually('the client is on record as gone', async () => {
    const [left] = await http.shell.ports.store.listCalls({ limit: 1 });
    return left !== undefined && left.requesterLeftAtMs !== null;
  });
  slow.runs[0]?.finish('done');
  assert.equal((await http.call({ tool: 'slow', args: {} })).body['replayed'], true, 'and the call is on record');
});

test('nor in the place of what another door answers on the same server', async (t) => {
  const http = await openHttp(t);
  const held = Promise.withResolvers<void>();
  const server = createServer(() => held.resolve());
  http.door.guard(server);
  t.after(() => void server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const request = 'GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n';
  assert.equal(await heardAfter(url, request, () => held.promise), '');
  assert.match(await heardAfter(url, '', async () => undefined), /^HTTP\/1\.1 400 [\s\S]+"code":"MalformedRequest"/);
});

/** Sends a request, and, once it is under way, something that is none; resolves to all that came back. */
async function heardAfter(url: URL, request: string, underWay: () => Promise<unknown>): Promise<string> {
  const socket = connect(Number(url.port), url.hostname);
  let heard = '';
  socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  if (request !== '') socket.write(request);
  await underWay();
  socket.write('no HTTP at all\r\n\r\n');
  await closed;
  return heard;
}

test('a call that was answered is never taken over: the next equal one runs anew', async (t) => {
  const refund = createCountingTool('refund');
  const http = await openHttp(t, { tools: [refund.definition] });
  for (const ran of [1, 2]) {
    const { body } = await http.call({ tool: 'refund', args: {} });
    assert.deepEqual([body['result'], body['replayed']], [{ ran, args: {} }, undefined]);
  }
});

test('a door that closes takes no new calls, and lets those under way end and be heard', async (t) => {
  const slow = createHeldTool('slow');
  const http = await openHttp(t, { tools: [slow.definition] });
  const under = http.call({ tool: 'slow', args: { n: 1 } });
  await slow.begun();
  const stream = httpRequest(new URL('/v1/audit', http.url), {
    headers: { authorization: `Bearer ${http.keys.viewer}` },
    agent: false,
  });
  stream.end();
  const [response] = (await once(stream, 'response')) as [NodeJS.ReadableStream];
  let told = '';
  response.on('data', (chunk: Buffer) => (told += chunk.toString()));
  const streamEnded = once(response, 'close');

  let isClosed = false;
  const closed = http.door.close({ drainMs: 60_000 }).then(() => (isClosed = true));
  const refused = await http.call({ tool: 'slow', args: { n: 2 } });
  assert.deepEqual([refused.status, refused.body['code']], [503, 'DAEMON_NOT_READY']);
  assert.equal(refused.body['human_message'], 'denied: daemon is closed, ask again once it is open');
  assert.equal(refused.body['title'], 'Gateway is not ready');
  assert.equal(refused.headers['connection'], 'close');
  const ready = await http.ask('GET', '/readyz', { key: null });
  assert.deepEqual([ready.status, ready.body], [503, { status: 'closing' }]);
  await streamEnded;
  assert.match(told, /\nevent: end\ndata: \{"reason":"closing","last":"\d+\.\d+"\}\n\n$/);
  assert.equal(isClosed, false, 'a call is under way');

  slow.runs[0]?.finish('done');
  const { status, body, headers } = await under;
  assert.deepEqual([status, body['result'], headers['connection']], [200, 'done', 'close']);
  await closed;
  assert.equal(slow.runs.length, 1);
});

test('a door that has waited long enough closes without the last of them, and the call is on record', async (t) => {
  const slow = createHeldTool('slow');
  const http = await openHttp(t, { tools: [slow.definition] });
  const under = http.call({ tool: 'slow', args: {} }).catch((error: unknown) => error);
  const run = await slow.begun();
  await http.door.close({ drainMs: 10 });
  http.server.closeAllConnections();
  assert.ok((await under) instanceof Error, 'nobody pretends to have answered');
  run.finish('late');
  await eventually('the outcome is recorded', async () => {
    const [call] = await http.shell.ports.store.listCalls({ limit: 1 });
    return call?.state === 'SUCCEEDED' && call.requesterLeftAtMs !== null;
  });
});
