/**
 * Many connections, stalled bodies and many MCP sessions against `recourse up`: those who have a key still get their
 * answers.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { type GovernedUp, startGoverned } from '../../support/governed-up.ts';
import { openSocket, readAnswer } from '../../support/raw-http.ts';
import { rules, smallServer } from '../../support/small-server.ts';

const yaml = `runtime:
  limits: { max_connections: 40, max_connections_per_address: 20, max_mcp_sessions: 8, max_mcp_sessions_per_agent: 4, body_stall_ms: 300 }
agents:
${rules('bot', ['permit: small/*'])}${rules('other', ['permit: small/*'])}tools:
${smallServer()}`;

async function started(t: TestContext): Promise<{ readonly up: GovernedUp; readonly url: URL; readonly key: string }> {
  const up = await startGoverned(t, yaml);
  await up.ready();
  return { up, url: new URL(up.url), key: up.keyOf('bot') };
}

/** Idle ones, and ones that have sent the half of a head. */
async function flood(t: TestContext, url: URL, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let each = 0; each < count; each++) {
    const socket = await openSocket(url);
    if (each % 3 === 0) socket.write('GET /healthz HTTP/1.1\r\nHos');
    sockets.push(socket);
  }
  return sockets;
}

const call = { tool: 'small/echo', args: { text: 'hello' } };

test('idle connections without a key shut nobody out', async (t) => {
  const { up, url, key } = await started(t);
  // An honest client that keeps its connection.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const kept = async () => {
    const headers = { authorization: `Bearer ${key}` };
    const request = httpRequest(new URL('/v1/tools', url), { agent, headers });
    request.end();
    const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
    response.resume();
    await once(response, 'end');
    return [response.statusCode, request.reusedSocket];
  };
  assert.deepEqual(await kept(), [200, false]);
  const sockets = await flood(t, url, 120);
  assert.deepEqual(await kept(), [200, true], 'its connection was not taken for another');
  for (const path of ['/readyz', '/healthz']) assert.equal((await up.ask(path)).status, 200, path);
  assert.equal((await up.ask('/v1/calls', { key, body: call })).status, 200);
  assert.ok(sockets.filter((socket) => !socket.closed).length <= 20, 'as many as one address may have');
});

test('a body that stalls is answered with 408, with a key and without', async (t) => {
  const { url, key } = await started(t);
  const post = async (authorization: string) => {
    const socket = await openSocket(url);
    const lines = ['POST /v1/calls HTTP/1.1', `Host: ${url.host}`, 'Content-Type: application/json', authorization];
    socket.write(`${lines.join('\r\n')}\r\nContent-Length: 100\r\n\r\n{"tool":`);
    return readAnswer(socket);
  };
  const stalled = await post(`Authorization: Bearer ${key}`);
  assert.deepEqual([stalled.status, stalled.body['code']], [408, 'RequestTimeout']);
  assert.equal((await post('X-Nothing: here')).status, 401, 'and then the connection is closed');
});

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'many', version: '1' } },
};

test('an agent that opens MCP session after session shuts out nobody, not even itself', async (t) => {
  const { up, key } = await started(t);
  const headers = { accept: 'application/json, text/event-stream' };
  const open = async (as: string) => {
    const response = await fetch(`${up.url}/mcp`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${as}`, connection: 'close' },
      body: JSON.stringify(initialize),
    });
    await response.text();
    return response.status;
  };
  for (let count = 0; count < 30; count++) assert.equal(await open(key), 200);
  assert.equal(await open(up.keyOf('other')), 200);
});
