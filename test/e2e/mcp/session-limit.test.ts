/** MCP sessions of revision 2025-11-25 over HTTP: how many there may be, and whose gives way. */
import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import test, { type TestContext } from 'node:test';
import type { HttpHandlerOptions } from '../../../src/doors/mcp/http/http-handler.ts';
import { eventually } from '../../support/eventually.ts';
import { connectHttp, serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { coffee, createTalk } from '../../support/mcp-workflows.ts';
import { openSocket, readAnswer } from '../../support/raw-http.ts';

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

async function send(url: URL, method: string, headers: Record<string, string>, [body]: readonly string[] = []) {
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  const got: IncomingHttpHeaders = Object.fromEntries(response.headers);
  return { status: response.status, headers: got, body: await response.text() };
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

const list = '{"jsonrpc":"2.0","id":2,"method":"tools/list"}';

/** Each key is an agent of its own. */
const authenticate: NonNullable<HttpHandlerOptions['authenticate']> = async ({ headers }) => ({
  tenant: 'default',
  agent: headers.authorization ?? 'nobody',
});

test('an agent that opens more than its share loses its own longest unused session, and nobody else is shut out', async (t) => {
  const { url, handler } = await served(t, { maxSessions: 4, maxSessionsPerAgent: 3, authenticate });
  const greedy = { ...json, authorization: 'greedy' };
  const ids: string[] = [];
  for (let count = 0; count < 10; count++) {
    const opened = await send(url, 'POST', greedy, [initialize]);
    assert.equal(opened.status, 200, opened.body);
    ids.push(String(opened.headers['mcp-session-id']));
  }
  assert.equal(handler.sessions(), 3);
  const statusOf = async (id: string) => (await send(url, 'POST', { ...greedy, 'mcp-session-id': id }, [list])).status;
  assert.deepEqual(await Promise.all(ids.map(statusOf)), [...Array.from({ length: 7 }, () => 404), 200, 200, 200]);
  for (const agent of ['first', 'second', 'third']) {
    const opened = await send(url, 'POST', { ...json, authorization: agent }, [initialize]);
    assert.equal(opened.status, 200, `${agent}: the one with the most gives way`);
  }
  assert.equal(handler.sessions(), 4);
  const left = await Promise.all(ids.slice(7).map(statusOf));
  assert.equal(left.filter((status) => status === 200).length, 1);
});

test('a session whose client listens gives way only after those that nobody uses', async (t) => {
  const { url, handler } = await served(t, { maxSessionsPerAgent: 2 });
  const sessionOf = async () => String((await send(url, 'POST', json, [initialize])).headers['mcp-session-id']);
  const listening = await sessionOf();
  const stream = httpRequest(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': listening } });
  t.after(() => void stream.destroy());
  const answered = new Promise<number>((resolve) => stream.on('response', ({ statusCode = 0 }) => resolve(statusCode)));
  stream.end();
  assert.equal(await answered, 200);
  const unused = await sessionOf();
  await sessionOf();
  const statusOf = async (id: string) => (await send(url, 'POST', { ...json, 'mcp-session-id': id }, [list])).status;
  assert.deepEqual([await statusOf(listening), await statusOf(unused)], [200, 404]);
  assert.equal(handler.sessions(), 2);
});

test('sessions with a request under way do not give way, and one that ends makes room', async (t) => {
  const talk = createTalk();
  const { door, shell } = await openDoor(t, { workflow: talk.workflow });
  const { url } = await serveHttp(t, door, { maxSessions: 1 });
  const busy = await connectHttp(t, url, '2025-11-25');
  const called = busy.step({ action: 'wait' });
  await eventually('the body runs', async () => talk.heard.includes('began'));
  const second = await send(url, 'POST', json, [initialize]);
  assert.equal(second.status, 503);
  assert.ok(Number(second.headers['retry-after']) > 0);
  for (const running of shell.live.running.values()) running.cancel('ToolCancelled');
  assert.equal((await called).isError, true);
  assert.equal((await send(url, 'POST', json, [initialize])).status, 200);
});

test('a body that stalls is 408, and ends the connection', async (t) => {
  const { url } = await served(t, { bodyStallMs: 50 });
  const socket = await openSocket(url);
  const lines = ['POST /mcp HTTP/1.1', `Host: ${url.host}`, 'Content-Type: application/json', 'Content-Length: 100'];
  socket.write(`${lines.join('\r\n')}\r\n\r\n{"jsonrpc"`);
  const { status, head, body } = await readAnswer(socket);
  assert.equal(status, 408);
  assert.match(head, /connection: close/i);
  assert.match(JSON.stringify(body), /took too long to arrive/);
});

test('a session that its client ends makes room', async (t) => {
  const { url, handler } = await served(t, { maxSessions: 1 });
  const first = await send(url, 'POST', json, [initialize]);
  const session = String(first.headers['mcp-session-id']);
  const ended = await send(url, 'DELETE', { ...json, 'mcp-session-id': session });
  assert.equal(ended.status, 200);
  assert.equal(handler.sessions(), 0);
  assert.equal((await send(url, 'POST', json, [initialize])).status, 200);
});
