import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { InMemoryTransport, Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { DoorServer } from '../door-server.ts';
import { createOpenRequests, endCancelledRequests } from './open-requests.ts';

const info = { name: 'door', version: '1' };
const capabilities = { tools: {} };

/** What the SDK keeps of requests that have no answer. */
const kept = (transport: object) => {
  const { _requestToStreamMapping: requests, _streamMapping: streams } = transport as Record<
    string,
    Map<unknown, unknown>
  >;
  return [requests?.size, streams?.size];
};

async function aSession() {
  const server = new Server(info, { capabilities });
  const ending = Promise.withResolvers<void>();
  server.fallbackRequestHandler = async ({ method }) => {
    if (method === 'slow') await ending.promise;
    return { told: method };
  };
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => 'session' });
  await server.connect(transport);
  endCancelledRequests(transport);
  const post = (body: object) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const named = { ...headers, 'mcp-session-id': 'session', 'mcp-protocol-version': '2025-11-25' };
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: named });
    return transport.handleRequest(request, { parsedBody: body });
  };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info };
  await (await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params })).text();
  const cancel = (requestId: unknown) =>
    post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
  return { transport, post, cancel, finish: () => ending.resolve() };
}

const asks = (id: number, method: string) => ({ jsonrpc: '2.0', id, method, params: {} });

test(
  'the stream of a request that is cancelled ends without an answer, and nothing of it is kept',
  { timeout: 120_000 },
  async () => {
    const { transport, post, cancel, finish } = await aSession();
    for (let id = 1; id <= 50; id++) {
      const answer = await post(asks(id, 'slow'));
      await cancel(id);
      assert.equal(await answer.text(), '');
    }
    assert.deepEqual(kept(transport), [0, 0]);
    finish();
    assert.match(await (await post(asks(51, 'quick'))).text(), /"told":"quick"/);
  },
);

test('in a list the others are answered, and nothing is kept once they are', { timeout: 120_000 }, async () => {
  const { transport, post, cancel, finish } = await aSession();
  const answer = await post([asks(1, 'slow'), asks(2, 'slow')]);
  await cancel(1);
  finish();
  assert.match(await answer.text(), /"told":"slow".*"id":2|"id":2.*"told":"slow"/);
  assert.deepEqual(kept(transport), [0, 0]);
});

test('whoever cancels what was never asked, or was answered, ends nothing', { timeout: 120_000 }, async () => {
  const { transport, post, cancel, finish } = await aSession();
  const answer = await post(asks(1, 'slow'));
  for (const id of [7, '1', null, {}, 0]) await cancel(id);
  assert.deepEqual(kept(transport), [1, 1]);
  finish();
  assert.match(await answer.text(), /"told":"slow"/);
});

test('a client that cancels whatever it asks leaves nothing behind', { timeout: 120_000 }, async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = new DoorServer(info, { capabilities }, async () => []);
  await server.connect(theirs);
  await ours.start();
  const flood = async (from: number) => {
    for (let n = from; n < from + 400; n++) {
      const id = `${'x'.repeat(50_000)}${n}`;
      void ours.send({ jsonrpc: '2.0', id, method: 'ping' });
      void ours.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      await new Promise(setImmediate);
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await flood(0);
  const after = await flood(400);
  assert.ok(after - before < 8e6, `400 requests left ${Math.round((after - before) / 1e6)} MB`);
  await ours.close();
});

const pings = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' });

test('of two bodies at once that have an id in common one passes', () => {
  const requests = createOpenRequests();
  const arrived = requests.expect([pings(1), pings(2)]);
  assert.ok(arrived !== null);
  assert.equal(requests.expect(pings(2)), null);
  assert.ok(requests.expect(pings('2')) !== null, 'a text is another id');
  requests.open.set(1, undefined);
  arrived();
  assert.equal(requests.expect(pings(1)), null, 'it has no answer yet');
  assert.ok(requests.expect(pings(2)) !== null, 'the SDK did not take it');
});

test('what is no request has no id that could be in use', () => {
  const requests = createOpenRequests();
  requests.open.set(1, undefined);
  const others = [
    { jsonrpc: '2.0', id: 1, result: {} },
    { method: 'notifications/initialized' },
    pings({}),
    pings(null),
  ];
  for (const body of [...others, others, undefined, null, 'text', []]) assert.ok(requests.expect(body) !== null);
  assert.equal(requests.expect([pings(3), pings(3)]), null, 'a list may have an id twice');
});
