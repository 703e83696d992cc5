/** Answers that come over several connections: a real server ends its streams, our transport asks for the rest. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import test, { type TestContext } from 'node:test';
import { type JSONRPCMessage, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client';
import { listenHttp } from '../../../../test/support/listen-http.ts';
import { HttpTransport } from './http-transport.ts';
import { defaultMcpLimits, type McpLimits } from '../mcp-limits.ts';

const stream = { 'content-type': 'text/event-stream' };
const answer = 'data: {"jsonrpc":"2.0","id":1,"result":{"ok":true}}\n\n';
const quick = { resumeDelayMs: 1, minResumeDelayMs: 1 };

type Answering = (response: ServerResponse, time: number) => void;

/** `first` answers the call, `rest` the questions for more, counted from 0. */
async function calling(
  t: TestContext,
  first: Answering,
  rest: Answering,
  { limits = {}, meta = {} }: { limits?: Partial<McpLimits>; meta?: Record<string, unknown> } = {},
) {
  const posts: IncomingHttpHeaders[] = [];
  const gets: IncomingHttpHeaders[] = [];
  const url = await listenHttp(t, (request, response) => {
    request.resume();
    const heard = request.method === 'POST' ? posts : gets;
    heard.push(request.headers);
    (heard === posts ? first : rest)(response, heard.length - 1);
  });
  const connection = { kind: 'http' as const, url, headers: { 'x-token': 'secret' } };
  const transport = new HttpTransport(connection, { ...defaultMcpLimits, ...quick, ...limits });
  transport.setProtocolVersion('2025-11-25');
  const messages: unknown[] = [];
  transport.onmessage = (message) => messages.push(message);
  const stop = new AbortController();
  /** The first listener is that of the request, the second one that of the wait before it is resumed. */
  const resting = Promise.withResolvers<void>();
  let listeners = 0;
  const listen = stop.signal.addEventListener.bind(stop.signal);
  stop.signal.addEventListener = (...given: Parameters<typeof listen>) => {
    listen(...given);
    if (++listeners === 2) resting.resolve();
  };
  let ends = 0;
  const over = Promise.withResolvers<void>();
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', _meta: meta } } as JSONRPCMessage;
  const onRequestStreamEnd = () => {
    ends++;
    over.resolve();
  };
  await transport.send(message, { onRequestStreamEnd, requestSignal: stop.signal });
  t.after(() => assert.equal(ends, 1, 'the end is told once'));
  /** Everything that was told by the end. */
  const told = async () => {
    await over.promise;
    return { messages, posts, gets, asked: gets.map((headers) => headers['last-event-id']) };
  };
  return { told, stop, resting: resting.promise };
}

const ends =
  (text: string): Answering =>
  (response) =>
    void response.writeHead(200, stream).end(text);

const breaks =
  (text: string): Answering =>
  (response) =>
    void response.writeHead(200, stream).write(text, () => response.socket?.destroy());

test('what ended too early is asked for behind the last whole event, until the answer is here', async (t) => {
  const later = [ends(': still at it\n\n'), ends('id: b\n\n'), breaks('id: ü 3\n\nid: half\ndata: {'), ends(answer)];
  const rest: Answering = (response, time) => later[time]?.(response, time);
  const { told } = await calling(t, ends('id: a\nretry: 5\ndata:\n\n'), rest);
  const { messages, posts, gets, asked } = await told();
  assert.deepEqual(messages, [{ jsonrpc: '2.0', id: 1, result: { ok: true } }]);
  assert.equal(posts.length, 1, 'the call was sent once');
  assert.deepEqual(asked, ['a', 'a', 'b', Buffer.from('ü 3').toString('latin1')]);
  for (const headers of gets) {
    const { accept, 'x-token': token, 'mcp-protocol-version': version, 'content-length': length } = headers;
    assert.deepEqual([accept, token, version, length], ['text/event-stream', 'secret', '2025-11-25', undefined]);
  }
});

test('a stream that had its answer, or no mark, is over when it ends', async (t) => {
  const long = `id: ${'x'.repeat(2_000)}\n\n`;
  for (const text of [`id: a\n${answer}`, ': hello\n\n', 'id: a\n\nid:\n\n', 'id: a', 'id: a\u0001\n\n', long]) {
    for (const first of [ends(text), breaks(text)]) {
      const { told } = await calling(t, first, ends(answer));
      assert.deepEqual((await told()).asked, [], JSON.stringify(text.slice(0, 50)));
    }
  }
});

test('in the revision 2026-07-28 a stream that ends is over', async (t) => {
  const meta = { [PROTOCOL_VERSION_META_KEY]: '2026-07-28' };
  const { told } = await calling(t, ends('id: a\n\n'), ends(answer), { meta });
  const { messages, gets } = await told();
  assert.deepEqual([messages.length, gets.length], [0, 0]);
});

for (const status of [400, 404, 405, 301, 204]) {
  test(`a server that says ${status} to it ends it`, async (t) => {
    const refuse: Answering = (response) => void response.writeHead(status).end();
    const { messages, asked } = await (await calling(t, ends('id: a\n\n'), refuse)).told();
    assert.deepEqual([messages, asked], [[], ['a']]);
  });
}

test('a server that is busy, broken or away is asked again, and given up after so many times in a row', async (t) => {
  const limits = { maxResumeFailures: 4 };
  const rest: Answering = (response, time) => {
    if (time === 3) return void response.writeHead(200, stream).end('id: b\n\n');
    if (time === 1) return void response.socket?.destroy();
    response.writeHead(time === 0 ? 409 : 503, time === 2 ? stream : {}).end('no');
  };
  const { messages, asked } = await (await calling(t, ends('id: a\n\n'), rest, { limits })).told();
  assert.deepEqual([messages, asked], [[], ['a', 'a', 'a', 'a', 'b', 'b', 'b', 'b']]);
});

test('so is one that never brings anything new', async (t) => {
  const limits = { maxEmptyResumes: 3 };
  const rest: Answering = (response, time) =>
    ends(time < 5 ? `id: ${time}\n\n` : 'id: 4\ndata: {}\n\n')(response, time);
  const { asked } = await (await calling(t, ends('id: a\n\n'), rest, { limits })).told();
  assert.deepEqual(asked, ['a', '0', '1', '2', '3', '4', '4', '4']);
});

test('what is too large is not asked for twice', async (t) => {
  const limits = { maxMessageBytes: 1_000 };
  const { told } = await calling(t, ends('id: a\n\n'), ends(`data: ${'x'.repeat(2_000)}\n\n`), { limits });
  assert.deepEqual((await told()).asked, ['a']);
});

test('the server says how long to wait, within bounds', async (t) => {
  for (const [retry, limits] of [
    ['60', {}],
    ['0', { minResumeDelayMs: 60 }],
    ['99999999999', { maxResumeDelayMs: 60 }],
    ['none', { resumeDelayMs: 60 }],
  ] as const) {
    const began = performance.now();
    const { told } = await calling(t, ends(`id: a\nretry: ${retry}\n\n`), ends(answer), { limits });
    assert.equal((await told()).messages.length, 1);
    assert.ok(performance.now() - began >= 59, retry);
  }
});

test('many connections are read at one pace', async (t) => {
  const began = performance.now();
  const limits = { floodBurst: 10, floodPerSecond: 100 };
  const rest: Answering = (response, time) =>
    ends(time < 5 ? `id: ${time}\n${'\n'.repeat(6)}` : answer)(response, time);
  const { told } = await calling(t, ends('id: a\n\n'), rest, { limits });
  await told();
  assert.ok(performance.now() - began >= 150);
});

test('all streams of a server are read at one pace, and what was asked for is no part of it', async (t) => {
  const told = ': hello\n\n'.repeat(8);
  const url = await listenHttp(t, (request, response) => {
    request.resume();
    const chatters = request.headers['mcp-name'] === 'chatty';
    response.writeHead(200, stream).end(`${chatters ? told : ''}${answer}`);
  });
  const call = (transport: HttpTransport, name: string) => {
    const over = Promise.withResolvers<void>();
    const params = { name, _meta: { [PROTOCOL_VERSION_META_KEY]: '2026-07-28' } };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params } as JSONRPCMessage;
    void transport.send(message, { onRequestStreamEnd: () => over.resolve() });
    return over.promise;
  };
  const open = (limits: Partial<McpLimits>) =>
    new HttpTransport({ kind: 'http', url, headers: {} }, { ...defaultMcpLimits, ...limits });

  const slow = open({ floodBurst: 10, floodPerSecond: 100 });
  const began = performance.now();
  await Promise.all(Array.from({ length: 3 }, () => call(slow, 'chatty')));
  assert.ok(performance.now() - began >= 100, 'three streams share the burst of one');

  const strict = open({ floodBurst: 1, floodPerSecond: 0.001 });
  for (let calls = 0; calls < 30; calls++) await call(strict, 'quiet');
});

test('nobody waits any more: nothing is asked, and what was asked is hung up', async (t) => {
  const early = await calling(t, ends('id: a\nretry: 60000\n\n'), ends(answer));
  await early.resting;
  early.stop.abort();
  assert.deepEqual((await early.told()).asked, []);

  for (const head of [false, true]) {
    const left = Promise.withResolvers<void>();
    const silent: Answering = (response) => {
      response.on('close', () => left.resolve());
      if (head) response.writeHead(200, stream).flushHeaders();
      asked.resolve();
    };
    const asked = Promise.withResolvers<void>();
    const waiting = await calling(t, ends('id: a\n\n'), silent);
    await asked.promise;
    waiting.stop.abort();
    await left.promise;
    assert.deepEqual((await waiting.told()).asked, ['a']);
  }
});
