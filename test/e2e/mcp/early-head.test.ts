/** While a lone call runs, the head of its answer goes ahead; the answer itself comes when the outcome is on record, and not before. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { aTool } from '../../support/builders.ts';
import { serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { introduce } from '../../support/mcp-raw.ts';

const revision = '2026-07-28';
/** Tools that end when the test lets them. */
async function served(t: TestContext) {
  const gates = { first: Promise.withResolvers<object>(), second: Promise.withResolvers<object>() };
  const tools = Object.entries(gates).map(([name, { promise }]) => ({ ...aTool({ name }), run: () => promise }));
  const opened = await openDoor(t, { tools });
  const { url, server } = await serveHttp(t, opened.door);
  t.after(() => Object.values(gates).forEach(({ resolve }) => resolve({})));
  return { ...opened, url, server, gates };
}

/** Resolves with the head of the answer. */
function ask(url: URL, name: string): Promise<Response> {
  const { headers, message } = introduce({ id: 1, method: 'tools/call', params: { name, arguments: {} } });
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(message) });
}

test('the head comes while the tool runs, the answer after it', { timeout: 20_000 }, async (t) => {
  const { url, gates } = await served(t);
  const response = await ask(url, 'first');
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json');
  assert.equal(response.headers.get('content-length'), null);
  gates.first.resolve({ sold: 3 });
  assert.match(await response.text(), /"sold":3/);
});

test('a refusal comes as a whole: nothing was sent whose answer could be awaited', async (t) => {
  const { url } = await served(t);
  const response = await ask(url, 'nothing');
  const text = await response.text();
  assert.equal(response.headers.get('content-length'), String(Buffer.byteLength(text)));
  assert.match(text, /unknown_action/);
});

test('with others waiting, the head comes with the answer', { timeout: 20_000 }, async (t) => {
  const { url, gates } = await served(t);
  const first = await ask(url, 'first');
  const second = ask(url, 'second');
  gates.second.resolve({ sold: 2 });
  const answer = await second;
  const text = await answer.text();
  assert.equal(answer.headers.get('content-length'), String(Buffer.byteLength(text)));
  gates.first.resolve({ sold: 1 });
  assert.match(await first.text(), /"sold":1/);
});

test('a gateway that dies after the head has answered nothing', { timeout: 20_000 }, async (t) => {
  const { url, server } = await served(t);
  const client = new Client({ name: 'watching', version: '1' }, { versionNegotiation: { mode: { pin: revision } } });
  const headOfCall = Promise.withResolvers<void>();
  const watching: typeof fetch = async (to, init) => {
    const response = await fetch(to, init);
    if (new Headers(init?.headers).get('mcp-method') === 'tools/call') headOfCall.resolve();
    return response;
  };
  await client.connect(new StreamableHTTPClientTransport(url, { fetch: watching }));
  t.after(() => client.close());
  const failed = assert.rejects(client.callTool({ name: 'first', arguments: {} }), /terminated/);
  await headOfCall.promise;
  server.closeAllConnections();
  await failed;
});

test('a client that goes away after the head has left, and that is on record', { timeout: 20_000 }, async (t) => {
  const { url, gates, shell } = await served(t);
  const response = await ask(url, 'first');
  await response.body?.cancel();
  const [running] = shell.live.running.values();
  assert.ok(running !== undefined);
  const left = async () => (await shell.ports.store.call(running.call.id))?.requesterLeftAtMs ?? null;
  while ((await left()) === null) await new Promise(setImmediate);
  gates.first.resolve({});
});
