/**
 * Refusals of MCP servers over HTTP: whom they mean, what they prove, and how a connection that is refused is opened
 * anew.
 */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import {
  type Answering,
  listen,
  listenByHand,
  listenLegacy,
  type Listening,
  listenModern,
  listenStateless,
} from '../../support/upstream-http.ts';
import {
  attemptOf,
  call,
  failureOf,
  httpServer,
  never,
  openUpstreams,
  outputOf,
  statusOf,
} from '../../support/upstream-mcp.ts';

const json = { 'content-type': 'application/json' };
const soon = { limits: { relistEveryMs: 50, relistDebounceMs: 10 } };
const errorText = (id: number, code: number) => JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'no' } });

suite('a call that was done and refused is not sent again', { concurrency: 2 }, () => {
  const refusals: readonly { what: string; answering: Answering; kind: string; effect: string | null }[] = [
    { what: '404', answering: (_, r) => r.writeHead(404).end(), kind: '404_not_found', effect: null },
    { what: '400', answering: (_, r) => r.writeHead(400).end(), kind: '400_invalid', effect: null },
    {
      what: '404 and an error of its own',
      answering: ({ id }, r) => r.writeHead(404, json).end(errorText(id, -32000)),
      kind: 'unknown',
      effect: 'unknown',
    },
    {
      what: '404 and the error of another message',
      answering: ({ id }, r) => r.writeHead(404, json).end(errorText(id + 1, -32022)),
      kind: '404_not_found',
      effect: null,
    },
    {
      what: '403, whatever error comes with it',
      answering: ({ id }, r) => r.writeHead(403, json).end(errorText(id, -32602)),
      kind: '403_forbidden',
      effect: null,
    },
    {
      what: 'an error that a tool passes on: an unsupported version',
      answering: ({ id }, r) => r.writeHead(200, json).end(errorText(id, -32022)),
      kind: 'unknown',
      effect: 'unknown',
    },
  ];
  for (const { what, answering, kind, effect } of refusals) {
    for (const session of ['known', undefined]) {
      test(`${what}, ${session === undefined ? 'without' : 'with'} a session`, async (t) => {
        let done = 0;
        const server = await listenByHand(
          t,
          (message, response) => {
            if (message.method === 'ping') {
              response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: {} }));
              return;
            }
            done++;
            answering(message, response);
          },
          session === undefined ? {} : { session },
        );
        const upstreams = await openUpstreams(t, [httpServer('web', server.url)]);
        const failure = failureOf(await call(upstreams, 'web/any'));
        assert.deepEqual([failure.kind, failure.effect], [kind, effect], JSON.stringify(failure));
        assert.equal(done, 1);
      });
    }
  }
});

suite('another server at the same address', { concurrency: 2 }, () => {
  test('that says it does not speak the revision gets the call again, in its own', async (t) => {
    const [old, next] = [await listenStateless(t), await listenModern(t)];
    let behind: Listening = old;
    const front = await listen(t, (request, response) => void behind.http.emit('request', request, response));
    const upstreams = await openUpstreams(t, [httpServer('web', front.url)]);
    outputOf(await call(upstreams, 'web/echo'));
    assert.equal(statusOf(upstreams, 'web').protocolVersion, '2025-11-25');
    behind = next;
    outputOf(await call(upstreams, 'web/echo'));
    assert.equal(statusOf(upstreams, 'web').protocolVersion, '2026-07-28');
    assert.deepEqual([old.tools.calls.length, next.tools.calls.length], [1, 1]);
  });

  for (const { what, listenOld } of [
    { what: 'with sessions', listenOld: listenLegacy },
    { what: 'without sessions', listenOld: listenStateless },
  ]) {
    test(`of the older revision, ${what}, is found out by the first call that it refuses`, async (t) => {
      const [modern, legacy] = [await listenModern(t), await listenOld(t)];
      let behind: Listening = modern;
      const front = await listen(t, (request, response) => void behind.http.emit('request', request, response));
      const upstreams = await openUpstreams(t, [httpServer('web', front.url)], soon);
      outputOf(await call(upstreams, 'web/echo'));
      behind = legacy;
      const failure = failureOf(await call(upstreams, 'web/echo'));
      assert.equal(failure.kind, '400_invalid', JSON.stringify(failure));
      await eventually('the older revision', async () => statusOf(upstreams, 'web').protocolVersion === '2025-11-25');
      outputOf(await call(upstreams, 'web/echo'));
      assert.equal(legacy.tools.calls.length, 1);
      assert.equal(statusOf(upstreams, 'web').problem, null);
    });
  }

  test('that cannot be connected at first is tried again by the next call that it refuses', async (t) => {
    const [modern, legacy] = [await listenModern(t), await listenLegacy(t)];
    // It shakes hands, and refuses everything after that.
    const broken = await listenByHand(t, (_, response) => response.writeHead(400).end(), { lists: false });
    let behind: Listening = modern;
    const front = await listen(t, (request, response) => void behind.http.emit('request', request, response));
    const upstreams = await openUpstreams(t, [httpServer('web', front.url)], soon);
    behind = broken;
    const isHandshake = (headers: IncomingHttpHeaders) =>
      headers['mcp-method'] === undefined && headers['mcp-protocol-version'] === undefined;
    await eventually('two failed attempts to connect anew', async () => {
      failureOf(await call(upstreams, 'web/echo'));
      return broken.heard.filter(isHandshake).length >= 2;
    });
    assert.match(statusOf(upstreams, 'web').problem ?? '', /^it does not list its tools: .* HTTP status 400$/);
    behind = legacy;
    await eventually('a call that is carried out', async () => (await call(upstreams, 'web/echo')).kind === 'returned');
    assert.equal(statusOf(upstreams, 'web').protocolVersion, '2025-11-25');
  });
});

suite('a redirect', { concurrency: 2 }, () => {
  test('is a problem of the connection that names the address to write, without its secrets', async (t) => {
    const server = await listenByHand(t, () => assert.fail('nothing is called'));
    const front = await listen(t, (request, response) => {
      response.writeHead(307, { location: `${request.url}/?key=secret` }).end();
    });
    const there = await listen(t, (_, response) => response.writeHead(308, { location: server.url }).end());
    const limits = { maxSendDelayMs: 50 };
    const configs = [httpServer('slash', `${front.url}?key=secret`), httpServer('moved', there.url)];
    const upstreams = await openUpstreams(t, configs, { limits });
    const { state, problem } = statusOf(upstreams, 'slash');
    assert.deepEqual([state, problem], ['waiting', `it redirects to ${front.url}?…; write that address as its url`]);
    assert.equal(statusOf(upstreams, 'moved').problem, `it redirects to ${server.url}; write that address as its url`);
  });

  test('of a call is not followed, and has done nothing where it says to send the same elsewhere', async (t) => {
    let status = 307;
    const server = await listenByHand(t, (_, response) => response.writeHead(status, { location: '/other/' }).end());
    const upstreams = await openUpstreams(t, [httpServer('web', server.url)]);
    for (const [next, effect] of [
      [307, 'none'],
      [308, 'none'],
      [302, null],
      [303, null],
    ] as const) {
      status = next;
      const failure = failureOf(await call(upstreams, 'web/any'));
      assert.deepEqual([failure.kind, failure.errorType, failure.effect], ['unknown', `Http${status}`, effect]);
      assert.doesNotMatch(failure.message, /other/);
      assert.match(statusOf(upstreams, 'web').problem ?? '', /^it redirects to http:\S+\/other\/; write that address/);
    }
  });
});

for (const type of ['application/json', 'text/event-stream'])
  test(`an answer that is too large is told as that, as ${type}`, async (t) => {
    const large = `data: ${'x'.repeat(20_000)}`;
    const server = await listenByHand(t, (_, response) => response.writeHead(200, { 'content-type': type }).end(large));
    const upstreams = await openUpstreams(t, [httpServer('web', server.url)], { limits: { maxMessageBytes: 10_000 } });
    const failure = failureOf(await call(upstreams, 'web/any'));
    assert.match(failure.message, /the server sent a message above 10000 bytes$/);
  });

test('who calls a server that is away hears so well before the time of the tool is over', async (t) => {
  const server = await listen(t, () => undefined);
  await server.stop();
  const upstreams = await openUpstreams(t, [httpServer('web', server.url)]);
  // An hour: without a limit of its own the adapter would wait for longer than this test may take.
  const failure = failureOf(await upstreams.upstream.invoke(attemptOf('web/any', {}, { timeoutMs: 3_600_000 }), never));
  assert.deepEqual([failure.kind, failure.effect], ['never_sent', 'none']);
  // And half of the tool's time, when that is short: its timer is set first and is due long before the other.
  const patient = await openUpstreams(t, [httpServer('web', server.url)], { limits: { maxSendDelayMs: 3_600_000 } });
  const refused = patient.upstream.invoke(attemptOf('web/any', {}, { timeoutMs: 6_000 }), never);
  const first = await Promise.race([refused, pause(6_000, null, { ref: false })]);
  assert.ok(first !== null, 'the time of the tool was over');
  assert.equal(failureOf(first).kind, 'never_sent');
});
