/** While a lone call runs, the head of its answer goes ahead; the answer itself comes when the outcome is on record, and not before. */
import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { once } from 'node:events';
import test, { type TestContext } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { aTool } from '../../support/builders.ts';
import { serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';

const revision = '2026-07-28';
const envelope = {
  [PROTOCOL_VERSION_META_KEY]: revision,
  [CLIENT_INFO_META_KEY]: { name: 'raw', version: '1' },
  [CLIENT_CAPABILITIES_META_KEY]: {},
};

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
async function ask(url: URL, name: string): Promise<IncomingMessage> {
  const text = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: {}, _meta: envelope },
  });
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'mcp-protocol-version': revision,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  const sent = request(url, { method: 'POST', headers, agent: false }).end(text);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return text;
}

test('the head comes while the tool runs, the answer after it', { timeout: 20_000 }, async (t) => {
  const { url, gates } = await served(t);
  const response = await ask(url, 'first');
  assert.equal(response.statusCode, 200);
  assert.equal(response.headers['content-type'], 'application/json');
  assert.equal(response.headers['content-length'], undefined);
  gates.first.resolve({ sold: 3 });
  assert.match(await textOf(response), /"sold":3/);
});

test('a refusal comes as a whole: nothing was sent whose answer could be awaited', async (t) => {
  const { url } = await served(t);
  const response = await ask(url, 'nothing');
  const text = await textOf(response);
  assert.equal(response.headers['content-length'], String(Buffer.byteLength(text)));
  assert.match(text, /unknown_action/);
});

test('with others waiting, the head comes with the answer', { timeout: 20_000 }, async (t) => {
  const { url, gates } = await served(t);
  const first = await ask(url, 'first');
  const second = ask(url, 'second');
  gates.second.resolve({ sold: 2 });
  const answer = await second;
  const text = await textOf(answer);
  assert.equal(answer.headers['content-length'], String(Buffer.byteLength(text)));
  gates.first.resolve({ sold: 1 });
  assert.match(await textOf(first), /"sold":1/);
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
  response.destroy();
  const [running] = shell.live.running.values();
  assert.ok(running !== undefined);
  const left = async () => (await shell.ports.store.call(running.call.id))?.requesterLeftAtMs ?? null;
  while ((await left()) === null) await new Promise(setImmediate);
  gates.first.resolve({});
});
