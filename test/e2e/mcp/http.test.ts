import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import test, { type TestContext } from 'node:test';
import { isSuccess } from '../../../src/core/call/reply.ts';
import type { HttpHandlerOptions } from '../../../src/doors/mcp/http/http-handler.ts';
import { eventually } from '../../support/eventually.ts';
import { connectHttp, revisions, serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { coffee, createTalk } from '../../support/mcp-workflows.ts';

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Below fetch, which sets and checks headers of its own. */
function send(
  url: URL,
  method: string,
  headers: Record<string, string>,
  chunks: readonly (string | Buffer)[] = [],
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const request = httpRequest(url, { method, headers }, (response) => {
    let body = '';
    response.on('data', (data: Buffer) => (body += data.toString()));
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    response.on('error', reject);
  });
  request.on('error', reject);
  for (const chunk of chunks) request.write(chunk);
  request.end();
  return promise;
}

async function served(t: TestContext, options: Partial<HttpHandlerOptions> = {}) {
  const opened = await openDoor(t, { workflow: coffee });
  return { ...opened, ...(await serveHttp(t, opened.door, options)) };
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
});

const errorOf = ({ body }: Answer) => (JSON.parse(body) as { error: { code: number; message: string } }).error;

async function stillServes(t: TestContext, url: URL): Promise<void> {
  const client = await connectHttp(t, url, '2026-07-28');
  const { reply } = await client.step({ action: 'take_order', inputs: { drink: 'latte' } });
  assert.ok(isSuccess(reply));
}

const strangers: readonly (readonly [string, Record<string, string>, number])[] = [
  ['another host', { host: 'evil.example' }, 403],
  ['another host with our port', { host: 'evil.example:80' }, 403],
  ['a host that cannot be read', { host: 'a b' }, 403],
  ['a page of another origin', { origin: 'https://evil.example' }, 403],
  ['a page of no origin', { origin: 'null' }, 403],
  ['a page of our own', { origin: 'http://localhost:3000' }, 200],
  ['our own name', { host: 'localhost' }, 200],
];

for (const [who, headers, status] of strangers)
  test(`${who} gets ${status}`, async (t) => {
    const { url, handler } = await served(t);
    const answer = await send(url, 'POST', { ...json, ...headers }, [initialize]);
    assert.equal(answer.status, status, answer.body);
    assert.equal(handler.sessions(), status === 200 ? 1 : 0);
  });

test('who came in under one name is looked at again under another', async (t) => {
  const { url } = await served(t);
  for (const [who, headers, status] of [...strangers, ...strangers.toReversed()])
    assert.equal((await send(url, 'POST', { ...json, ...headers }, [initialize])).status, status, who);
});

const wrong: readonly (readonly [string, string, Record<string, string>, string, number])[] = [
  ['another method', 'PUT', json, initialize, 405],
  ['another content type', 'POST', { ...json, 'content-type': 'text/plain' }, initialize, 415],
  ['no content type', 'POST', { accept: json.accept }, initialize, 415],
  ['a body that is not JSON', 'POST', json, '{"jsonrpc"', 400],
  ['no body', 'POST', json, '', 400],
  ['JSON that is no message', 'POST', json, '[]', 400],
  ['a call before initialize', 'POST', json, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', 400],
  ['a session that does not exist', 'POST', { ...json, 'mcp-session-id': 'x' }, initialize, 404],
  ['a stream without a session', 'GET', json, '', 400],
];

for (const [what, method, headers, body, status] of wrong)
  test(`${what} gets ${status}, in JSON-RPC`, async (t) => {
    const { url } = await served(t);
    const answer = await send(url, method, headers, [body]);
    assert.equal(answer.status, status, answer.body);
    assert.equal(typeof errorOf(answer).code, 'number');
    await stillServes(t, url);
  });

test('another path gets 404', async (t) => {
  const { url } = await served(t);
  assert.equal((await send(new URL('/other', url), 'POST', json, [initialize])).status, 404);
});

test('a body beyond the limit gets 413, whether or not it says how long it is', async (t) => {
  const { url } = await served(t, { maxBodyBytes: 10_000 });
  const large = Buffer.alloc(30_000, 'x');
  const declared = await send(url, 'POST', { ...json, 'content-length': String(large.length) }, [large]);
  assert.equal(declared.status, 413);
  const chunked = await send(url, 'POST', json, [large.subarray(0, 9_000), large.subarray(9_000)]);
  assert.equal(chunked.status, 413);
  await stillServes(t, url);
});

test('a megabyte of garbage, as bytes, as text or as depth, is answered and harms nobody', async (t) => {
  const { url } = await served(t);
  const size = 1_000_000;
  const bodies = [
    Buffer.alloc(size, 0xff),
    Buffer.from(JSON.stringify('x'.repeat(size))),
    Buffer.from('['.repeat(size)),
    Buffer.from(`${'['.repeat(size / 2)}${']'.repeat(size / 2)}`),
    Buffer.from(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"step","arguments":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}}`,
    ),
  ];
  for (const body of bodies) {
    const answer = await send(url, 'POST', json, [body]);
    assert.equal(answer.status, 400, answer.body);
    assert.equal(typeof errorOf(answer).code, 'number');
  }
  await stillServes(t, url);
});

for (const revision of revisions)
  test(`arguments as large and as deep as a body allows are typed refusals, in ${revision}`, async (t) => {
    const { url } = await served(t);
    const client = await connectHttp(t, url, revision);
    let deep: unknown = 1;
    for (let depth = 0; depth < 500; depth++) deep = { deep };
    for (const inputs of [{ drink: 'x'.repeat(2_000_000) }, deep]) {
      const { reply } = await client.step({ action: 'take_order', inputs });
      assert.ok('error' in reply && reply.error === 'validation_failed', JSON.stringify(reply).slice(0, 300));
    }
  });

test('an initialize that cannot be read takes no place', async (t) => {
  const { url, handler } = await served(t, { maxSessions: 1 });
  const broken = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}';
  for (let time = 0; time < 3; time++) assert.equal((await send(url, 'POST', json, [broken])).status, 400);
  assert.equal(handler.sessions(), 0);
  assert.equal((await send(url, 'POST', json, [initialize])).status, 200);
});

test('a session that nobody uses is closed, and its id is not found any more', async (t) => {
  const { url, handler } = await served(t, { sessionIdleMs: 100 });
  const first = await send(url, 'POST', json, [initialize]);
  await eventually('it is closed', async () => handler.sessions() === 0);
  const headers = { ...json, 'mcp-session-id': String(first.headers['mcp-session-id']) };
  const late = await send(url, 'POST', headers, ['{"jsonrpc":"2.0","id":2,"method":"tools/list"}']);
  assert.equal(late.status, 404);
});

test('a session with a call under way is in use, however long it takes', async (t) => {
  const talk = createTalk();
  const { door, shell } = await openDoor(t, { workflow: talk.workflow });
  const { url, handler } = await serveHttp(t, door, { sessionIdleMs: 60 });
  const busy = await connectHttp(t, url, '2025-11-25');
  const called = busy.step({ action: 'wait' });
  await eventually('the body runs', async () => talk.heard.includes('began'));
  const idle = await send(url, 'POST', json, [initialize]);
  assert.equal(idle.status, 200);
  await eventually('the idle session is closed', async () => handler.sessions() === 1);
  for (const running of shell.live.running.values()) running.cancel('ToolCancelled');
  assert.equal((await called).isError, true);
});

test('closing lets a call end, and takes no new ones', async (t) => {
  const talk = createTalk();
  const { door, shell } = await openDoor(t, { workflow: talk.workflow });
  const { url, handler } = await serveHttp(t, door);
  const client = await connectHttp(t, url, '2026-07-28');
  const called = client.step({ action: 'wait' });
  await eventually('the body runs', async () => talk.heard.includes('began'));
  const closed = handler.close();
  const late = await send(url, 'POST', json, [initialize]);
  assert.equal(late.status, 503);
  for (const running of shell.live.running.values()) running.cancel('ToolCancelled');
  assert.equal((await called).isError, true);
  await closed;
});

test('an id that is in use is refused, and no answer goes to another request', async (t) => {
  const talk = createTalk();
  const { door, shell } = await openDoor(t, { workflow: talk.workflow });
  const { url } = await serveHttp(t, door);
  const session = String((await send(url, 'POST', json, [initialize])).headers['mcp-session-id']);
  const post = (...messages: readonly object[]) => {
    const [first] = messages;
    const body = JSON.stringify(messages.length === 1 ? first : messages);
    return send(url, 'POST', { ...json, 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }, [body]);
  };
  const step = (id: unknown, action: string) => {
    return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'step', arguments: { action } } };
  };
  const list = { jsonrpc: '2.0', id: 5, method: 'tools/list' };
  const slow = post(step(5, 'wait'));
  await eventually('the body runs', async () => talk.heard.includes('began'));
  for (const refused of [
    await post(list),
    await post({ ...list, id: 6 }, list),
    await post(step('7', 'x'), step('7', 'x')),
  ]) {
    assert.equal(refused.status, 400);
    assert.deepEqual([errorOf(refused).code, errorOf(refused).message.split(':')[0]], [-32_600, 'this id is in use']);
  }
  assert.equal((await post({ ...list, id: '5' })).status, 200, 'a text is another id');
  for (const running of shell.live.running.values()) running.cancel('ToolCancelled');
  assert.match((await slow).body, /"requested":"wait"/);
  assert.equal((await post(list)).status, 200, 'what is answered is free again');
});
