/** How calls leave and what is heard of their answers: a real server hears and answers, our transport alone asks it. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import test, { type TestContext } from 'node:test';
import { type JSONRPCMessage, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client';
import { listenHttp } from '../../../../test/support/listen-http.ts';
import { HttpTransport } from './http-transport.ts';
import { defaultMcpLimits } from '../mcp-limits.ts';

interface Asked {
  readonly name?: string;
  readonly meta?: Record<string, unknown>;
}

/** All that is heard until the answer to one call is over. */
async function calling(t: TestContext, answer: (response: ServerResponse) => void, asked: Asked = {}) {
  const heard: IncomingHttpHeaders[] = [];
  const url = await listenHttp(t, (request, response) => {
    request.resume();
    heard.push(request.headers);
    answer(response);
  });
  const transport = new HttpTransport({ kind: 'http', url, headers: {} }, defaultMcpLimits);
  transport.setProtocolVersion('2025-11-25');
  const messages: unknown[] = [];
  transport.onmessage = (message) => messages.push(message);
  const params = { name: asked.name ?? 'x', _meta: asked.meta ?? {} };
  const over = Promise.withResolvers<void>();
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params } as JSONRPCMessage;
  await transport.send(message, { onRequestStreamEnd: () => over.resolve() });
  await over.promise;
  return { messages, headers: heard[0] ?? {} };
}

const json = { 'content-type': 'application/json' };

for (const [revision, meta] of [
  ['2025-11-25', {}],
  ['2026-07-28', { [PROTOCOL_VERSION_META_KEY]: '2026-07-28' }],
] as const) {
  test(`whatever a tool is called, its result comes as it was sent, in ${revision}`, async (t) => {
    const large = '9007199254740993';
    const answer = `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"n":${large}}}}`;
    const exact = { jsonrpc: '2.0', id: 1, result: { content: [], structuredContent: { n: BigInt(large) } } };
    for (const [name, written] of [
      ['plain', 'plain'],
      ['two words', 'two words'],
      ['größe', `=?base64?${Buffer.from('größe').toString('base64')}?=`],
    ] as const) {
      const { messages, headers } = await calling(t, (to) => void to.writeHead(200, json).end(answer), { name, meta });
      assert.deepEqual(messages, [exact], name);
      assert.equal(headers['mcp-name'], revision === '2026-07-28' ? written : undefined);
    }
  });
}

test('a mark of the byte order before an answer is read over, as fetch does', async (t) => {
  const answer = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}';
  const { messages } = await calling(t, (to) => void to.writeHead(200, json).end(`\ufeff${answer}`));
  assert.deepEqual(messages, [JSON.parse(answer)]);
});

test('a stream under a status that has no body is closed, not forgotten', async (t) => {
  const closed = Promise.withResolvers<void>();
  const answer = (to: ServerResponse) => {
    to.on('close', closed.resolve);
    to.writeHead(205, { 'content-type': 'text/event-stream' }).write(': hello\n\n');
  };
  assert.deepEqual((await calling(t, answer)).messages, []);
  await closed.promise;
});
