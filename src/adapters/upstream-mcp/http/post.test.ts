/** What really goes over the wire, and what comes of it: a real server hears and answers. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import test, { type TestContext } from 'node:test';
import { listenHttp } from '../../../../test/support/listen-http.ts';
import { createLine } from '../line.ts';
import type { PostOrder, Target } from './carrier.ts';
import { carryBy } from './carry-node.ts';
import { carryPlain } from './carry-plain.ts';
import { headersFor, send, targetOf } from './post.ts';

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

function orderOf(headers: readonly string[], over: Partial<PostOrder> = {}): PostOrder {
  return { headers, body: '{}', onLine: () => undefined, maxBodyBytes: 1_000, ...over };
}

/** What goes over TLS is node's; here it goes without, so that a server needs no certificate. */
const agent = new Agent({ keepAlive: true });
test.after(() => agent.destroy());

for (const [what, carry] of [
  ['our client', carryPlain],
  ["node's client", carryBy(request, agent)],
] as const) {
  const post = (target: Target, order: PostOrder) => send('POST', target, order, carry);

  test(`${what}: the address, the headers and every character of the body arrive`, async (t) => {
    const { heard, host } = await listen(t, yes);
    const target = targetOf(new URL(`http://${host}/mcp?a=1`));
    const body = JSON.stringify({ text: 'Zürich, 東京, 😀' });
    const given = [{ 'X-Token': 'old', 'Content-Length': '1' }, { 'x-token': 'new' }];
    const answer = await post(target, orderOf(headersFor(target, ...given), { body }));
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

  test(`${what}: a login in the address is sent, unless the headers name another`, async (t) => {
    const { heard, host } = await listen(t, yes);
    const target = targetOf(new URL(`http://me:my%20word@${host}/mcp`));
    await post(target, orderOf(headersFor(target)));
    await post(target, orderOf(headersFor(target, { Authorization: 'Bearer x' })));
    const basic = `Basic ${Buffer.from('me:my word').toString('base64')}`;
    assert.deepEqual(
      heard.map(({ headers }) => headers.authorization),
      [basic, 'Bearer x'],
    );
  });

  test(`${what}: a header that cannot be sent is a rejection, and nothing arrives`, async (t) => {
    const { heard, host } = await listen(t, yes);
    const target = targetOf(new URL(`http://${host}/mcp`));
    await assert.rejects(post(target, orderOf(headersFor(target, { 'x-a': 'two\r\nlines' }))), {
      code: 'ERR_INVALID_CHAR',
    });
    assert.equal(heard.length, 0);
  });

  test(`${what}: an answer that is too large is told as that; of a refusal the beginning is enough`, async (t) => {
    let status = 200;
    const { host } = await listen(t, (response) => void response.writeHead(status).end('x'.repeat(2_000)));
    const target = targetOf(new URL(`http://${host}/mcp`));
    const ask = () => post(target, orderOf(headersFor(target)));
    await assert.rejects(ask(), { name: 'MessageTooLarge', message: 'the server sent a message above 1000 bytes' });
    status = 500;
    assert.equal((await ask()).status, 500);
  });

  test(`${what}: a line that is hung up ends the wait, at any moment`, async (t) => {
    const left: Promise<unknown>[] = [];
    const { host } = await listen(t, (response) => {
      left.push(once(response, 'close'));
      if (left.length === 2) response.writeHead(200, { 'content-type': 'application/json' }).write('{');
      line.hangUp();
    });
    const target = targetOf(new URL(`http://${host}/mcp`));
    let line = createLine();
    const ask = () => post(target, orderOf(headersFor(target), { onLine: line.carriedBy }));
    for (const _moment of ['while nothing came', 'in the middle of the answer']) {
      line = createLine();
      await assert.rejects(ask(), { name: 'AbortError' });
    }
    await Promise.all(left);
    line = createLine();
    line.hangUp();
    await assert.rejects(ask(), { name: 'AbortError' }, 'before anything was sent');
    assert.equal(left.length, 2);
  });
}

test('a signal is made for those who ask, and tells what became of the line', () => {
  const [early, late] = [createLine(), createLine()];
  const signal = early.signal();
  assert.equal(signal.aborted, false);
  early.hangUp();
  assert.ok(signal.aborted && early.isHungUp());
  late.hangUp();
  assert.ok(late.signal().aborted);
});
