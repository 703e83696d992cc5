/** Answers that are handed over piece by piece; those that are collected are tested with the adapters. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { listenApi } from '../../../../test/support/http/api.ts';
import { systemResolver } from '../node-resolver.ts';
import { type ClientLimits, defaultClientLimits } from './client-limits.ts';
import { createClients } from './http-clients.ts';
import type { HttpRequest } from './http-request.ts';
import type { ChooseTaker, HttpEnd } from './send-request.ts';

function clientFor(t: TestContext, url: string, more: Partial<ClientLimits> = {}) {
  const { hostname: host, port } = new URL(url);
  const clients = createClients({ ...defaultClientLimits, ...more }, systemResolver, { host, port: Number(port) });
  t.after(clients.close);
  const request: HttpRequest = { method: 'GET', url: new URL(url), headers: new Map(), body: null, hasKey: false };
  return (choose?: ChooseTaker) => clients.of(null).send(request, performance.now() + 60_000, choose);
}

const summaryOf = (end: HttpEnd) => (end.kind === 'lost' ? [end.kind, end.how] : [end.kind]);

test('pieces come in order, one at a time, and the end after the last of them was taken', async (t) => {
  const sent = Array.from({ length: 200 }, (_, at) => `piece ${at}\n`);
  const api = await listenApi(t, async (_, response) => {
    for (const piece of sent) {
      response.write(piece);
      await turn();
    }
    response.end();
  });
  let text = '';
  let atOnce = 0;
  const send = clientFor(t, api.url);
  const exchange = send(() => async (piece) => {
    assert.equal(++atOnce, 1);
    await turn();
    await turn();
    text += piece.toString();
    atOnce--;
  });
  const end = await exchange.end;
  assert.equal(text, sent.join(''));
  assert.deepEqual(end.kind === 'answered' && [end.status, end.body?.length], [200, 0]);
});

test('an answer that stops in the middle of a chunk goes on when the rest of it comes', async (t) => {
  const halves = ['a'.repeat(100), 'b'.repeat(100)];
  const isTaken = Promise.withResolvers<void>();
  const api = await listenApi(t, async (_, response) => {
    response.writeHead(200, { 'content-length': 200 }).write(halves[0]);
    await isTaken.promise;
    // In a later turn than the one in which it goes on reading.
    await turn();
    await turn();
    response.end(halves[1]);
  });
  const pieces: string[] = [];
  const exchange = clientFor(
    t,
    api.url,
  )(() => async (piece) => {
    await turn();
    pieces.push(piece.toString());
    isTaken.resolve();
    if (piece.length === 0) exchange.stop();
  });
  const end = await exchange.end;
  assert.deepEqual([summaryOf(end), pieces], [['answered'], halves]);
});

const mebibyte = Buffer.alloc(1 << 20, 'x');

async function pour(response: ServerResponse, count: { mebibytes: number }): Promise<void> {
  while (!response.destroyed) {
    count.mebibytes++;
    if (!response.write(mebibyte)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
}

test('nothing is read while a piece is not taken, and stopping closes the connection', async (t) => {
  const count = { mebibytes: 0 };
  let closed: Promise<unknown> = Promise.resolve();
  const api = await listenApi(t, ({ url }, response) => {
    if (url === '/quick') return response.end('quick');
    closed = once(response, 'close');
    return void pour(response, count);
  });
  const send = clientFor(t, api.url, { maxStreamBytes: Infinity });
  const began = Promise.withResolvers<void>();
  const exchange = send(() => () => {
    began.resolve();
    return new Promise(() => undefined);
  });
  await began.promise;
  for (let at = 0; at < 300; at++) await (await fetch(`${api.url}/quick`)).text();
  // What the buffers of two sockets hold; a reader that did not pause would have taken far more.
  assert.ok(count.mebibytes < 32, `${count.mebibytes} MiB were written`);
  exchange.stop();
  assert.deepEqual(await exchange.end, { kind: 'stopped', sent: true });
  await closed;
});

test('a slow taker is no silence of the server', async (t) => {
  const api = await listenApi(t, (_, response) => {
    response.write('one');
    setImmediate(() => response.end('two'));
  });
  const send = clientFor(t, api.url, { bodyTimeoutMs: 1 });
  const taken: string[] = [];
  const end = await send(() => async (piece) => {
    for (let at = 0; at < 2_000; at++) await turn();
    taken.push(piece.toString());
  }).end;
  assert.deepEqual([end.kind, taken.join('')], ['answered', 'onetwo']);
});

const broken: readonly (readonly [string, (response: ServerResponse) => void, Partial<ClientLimits>, string])[] = [
  ['a connection that closes', (response) => response.destroy(), {}, 'closed'],
  ['a server that says nothing more', () => undefined, { bodyTimeoutMs: 50 }, 'timeout'],
  ['more than the limit', (response) => response.end('x'.repeat(100)), { maxStreamBytes: 50 }, 'too_large'],
];

for (const [what, breakOff, more, how] of broken)
  test(`${what} ends an answer that is handed over, after what had arrived was taken`, async (t) => {
    const api = await listenApi(t, (_, response) => {
      response.write('first', () => breakOff(response));
    });
    let taken = '';
    const end = await clientFor(
      t,
      api.url,
      more,
    )(() => async (piece) => {
      await turn();
      taken += piece.toString();
    }).end;
    assert.deepEqual(summaryOf(end), ['lost', how]);
    assert.equal(taken.slice(0, 5), how === 'too_large' && taken === '' ? '' : 'first');
  });

test('a head may be refused to a taker: then the answer is collected', async (t) => {
  const api = await listenApi(t, (_, response) => response.writeHead(500).end('whole'));
  const end = await clientFor(t, api.url)(({ status }) => (status === 200 ? async () => undefined : null)).end;
  assert.deepEqual(end.kind === 'answered' && [end.status, end.body?.toString()], [500, 'whole']);
});
