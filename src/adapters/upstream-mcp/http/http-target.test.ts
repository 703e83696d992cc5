/** What really goes over the wire, and what comes of it: a real server hears and answers. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import test, { type TestContext } from 'node:test';
import { listenHttp } from '../../../../test/support/listen-http.ts';
import { type HttpRequest, send } from './http-client.ts';
import { headersFor, targetOf } from './http-target.ts';

interface Heard {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function listen(t: TestContext, answer: (response: ServerResponse, request: IncomingMessage) => void) {
  const heard: Heard[] = [];
  const url = await listenHttp(t, (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      heard.push({ method: request.method, url: request.url, headers: request.headers, body });
      answer(response, request);
    });
  });
  return { heard, host: new URL(url).host };
}

const yes = (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');

function requestOf(headers: readonly string[], over: Partial<HttpRequest> = {}): HttpRequest {
  return { method: 'POST', headers, body: '{}', maxBodyBytes: 1_000, ...over };
}

test('the address, the headers and every character of the body arrive', async (t) => {
  const { heard, host } = await listen(t, yes);
  const target = targetOf(new URL(`http://${host}/mcp?a=1`));
  const body = JSON.stringify({ text: 'Zürich, 東京, 😀' });
  const given = [{ 'X-Token': 'old', 'Content-Length': '1' }, { 'x-token': 'new' }];
  const answer = await send(target, requestOf(headersFor(target, ...given), { body }));
  assert.equal(answer.status, 200);
  assert.equal(String(answer.body), '{}');
  assert.deepEqual(heard, [
    {
      method: 'POST',
      url: '/mcp?a=1',
      headers: {
        host,
        'x-token': 'new',
        'content-length': String(Buffer.byteLength(body)),
        connection: 'keep-alive',
      },
      body,
    },
  ]);
});

test('a login in the address is sent, unless the headers name another', async (t) => {
  const { heard, host } = await listen(t, yes);
  const target = targetOf(new URL(`http://me:my%20word@${host}/mcp`));
  await send(target, requestOf(headersFor(target)));
  await send(target, requestOf(headersFor(target, { Authorization: 'Bearer x' })));
  const basic = `Basic ${Buffer.from('me:my word').toString('base64')}`;
  assert.deepEqual(
    heard.map(({ headers }) => headers.authorization),
    [basic, 'Bearer x'],
  );
});

test('a header that cannot be sent is a rejection, and nothing arrives', async (t) => {
  const { heard, host } = await listen(t, yes);
  const target = targetOf(new URL(`http://${host}/mcp`));
  await assert.rejects(send(target, requestOf(headersFor(target, { 'x-a': 'two\r\nlines' }))), {
    message: 'fetch failed',
  });
  assert.equal(heard.length, 0);
});

test('an answer that is too large is told as that; of a refusal the beginning is enough', async (t) => {
  let status = 200;
  const { host } = await listen(t, (response) => void response.writeHead(status).end('x'.repeat(2_000)));
  const target = targetOf(new URL(`http://${host}/mcp`));
  const ask = () => send(target, requestOf(headersFor(target)));
  await assert.rejects(ask(), { name: 'MessageTooLarge', message: 'the server sent a message above 1000 bytes' });
  status = 500;
  assert.equal((await ask()).status, 500);
});

test('a cancelled request ends the wait, at any moment', async (t) => {
  const left: Promise<unknown>[] = [];
  const { host } = await listen(t, (response) => {
    left.push(once(response, 'close'));
    if (left.length === 2) response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    stop.abort();
  });
  const target = targetOf(new URL(`http://${host}/mcp`));
  let stop = new AbortController();
  const ask = () => send(target, requestOf(headersFor(target), { signal: stop.signal }));
  for (const _moment of ['while nothing came', 'in the middle of the answer']) {
    stop = new AbortController();
    await assert.rejects(ask(), { name: 'AbortError' });
  }
  await Promise.all(left);
  stop = new AbortController();
  stop.abort();
  await assert.rejects(ask(), { name: 'AbortError' }, 'before anything was sent');
  stop = new AbortController();
  const waiting = ask();
  stop.abort();
  await assert.rejects(waiting, { name: 'AbortError' }, 'while it waited for a connection');
  assert.equal(left.length, 2);
});
