/** Headers that say one thing are sent once: of two, a proxy and the gateway may each have read another. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onceHeaders } from '../../../src/core/http/repeated-header.ts';
import { serveHttp } from '../../support/mcp-connect.ts';
import { openDoor } from '../../support/mcp-gateway.ts';
import { sendRaw } from '../../support/raw-http.ts';
import { createCountingTool } from '../../support/tools.ts';
import { checkAnswer } from './check-answer.ts';
import { openHttp, openOnce } from './open-http.ts';

const opened = openOnce(async (t) => {
  const act = createCountingTool('act');
  return { ...(await openHttp(t, { tools: [act.definition] })), act };
});

const body = JSON.stringify({ tool: 'act' });

function linesFor(host: string, key: string): readonly string[] {
  return [
    `Host: ${host}`,
    `Authorization: Bearer ${key}`,
    'Idempotency-Key: one',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Origin: http://${host}`,
    'Mcp-Session-Id: a',
    'Mcp-Method: tools/call',
    'Mcp-Name: act',
    'MCP-Protocol-Version: 2026-07-28',
    'Last-Event-ID: 1.1',
  ];
}

for (const name of onceHeaders) {
  test(`two lines of ${name} are refused at /v1, whether they agree or not`, async () => {
    const { url, keys, act } = opened();
    const lines = linesFor(url.host, keys.agent);
    const line = lines.find((each) => each.toLowerCase().startsWith(`${name}:`));
    assert.ok(line !== undefined, name);
    for (const second of [line, line.replace(/: .*/, ': 7'), line.replace(/^[^:]*/, (same) => same.toUpperCase())]) {
      const answer = await sendRaw(url, ['POST /v1/calls HTTP/1.1', ...lines, second], body);
      assert.equal(answer.status, 400, answer.head);
      // A length that is given twice is no HTTP to begin with.
      const code = name === 'content-length' ? 'MalformedRequest' : 'InputInvalid';
      assert.equal(answer.body['code'], code);
      if (code === 'InputInvalid') assert.match(String(answer.body['reason']), new RegExp(name, 'i'));
      const headers = { 'content-type': 'application/problem+json' };
      checkAnswer('POST', '/v1/calls', { status: answer.status, headers, text: JSON.stringify(answer.body) });
    }
    assert.equal(act.runs(), 0);
  });
}

test('each of them once is a call, and lists may have several lines', async () => {
  const { url, keys, act } = opened();
  const lines = ['POST /v1/calls HTTP/1.1', ...linesFor(url.host, keys.agent), 'Accept: text/html', 'Accept: */*'];
  assert.equal((await sendRaw(url, lines, body)).status, 200);
  assert.equal(act.runs(), 1);
});

test('two lines are refused at paths that nobody has, and where no key is asked for', async () => {
  const { url } = opened();
  for (const path of ['/healthz', '/nothing', '/v1/nothing']) {
    const answer = await sendRaw(url, [`GET ${path} HTTP/1.1`, `Host: ${url.host}`, 'Host: elsewhere']);
    assert.deepEqual([answer.status, answer.body['code']], [400, 'InputInvalid'], path);
  }
});

test('two lines are refused by the MCP door, too, before anything is read', async (t) => {
  const { door } = await openDoor(t, { tools: [] });
  const { url } = await serveHttp(t, door);
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const lines = linesFor(url.host, 'none').filter((line) => !/^content-length/i.test(line));
  const length = `Content-Length: ${list.length}`;
  for (const second of lines) {
    const answer = await sendRaw(url, ['POST /mcp HTTP/1.1', ...lines, length, second], list);
    assert.equal(answer.status, 400, second);
    const { error, jsonrpc } = answer.body as {
      readonly error: { readonly message: string };
      readonly jsonrpc: string;
    };
    assert.equal(jsonrpc, '2.0');
    assert.match(error.message, /^the header '[a-z-]+' is there twice: send it once$/, second);
  }
});
