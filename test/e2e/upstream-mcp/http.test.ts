/**
 * MCP servers over HTTP behind the real adapter: both revisions, sessions that are forgotten, refusals, broken answers.
 */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { type Answering, listen, listenByHand, listenLegacy, listenModern } from '../../support/upstream-http.ts';
import { call, failureOf, httpServer, openUpstreams, outputOf, saidBy, statusOf } from '../../support/upstream-mcp.ts';

suite('a server of the revision 2026-07-28', { concurrency: 2 }, () => {
  test('is found out, listed and called; arguments, vendor fields and headers arrive as they are', async (t) => {
    const server = await listenModern(t);
    const upstreams = await openUpstreams(t, [httpServer('web', server.url, { 'x-token': 'secret' })]);
    assert.equal(statusOf(upstreams, 'web').protocolVersion, '2026-07-28');
    const entry = upstreams.catalogue().get('web/echo');
    assert.deepEqual(entry?.listing, { 'vendor/mark': [1] });

    const args = { region: 'Zürich', nested: { deep: [1, null, 'x'] } };
    const result = await call(upstreams, 'web/echo', args);
    const heard = saidBy(result) as { arguments: unknown; _meta: Record<string, unknown> };
    assert.deepEqual(heard.arguments, args);
    assert.equal(heard._meta['recourse/attempt'], 1);
    assert.match(String(heard._meta['recourse/call_id']), /^call_/);
    assert.equal(heard._meta['recourse/idempotency_key'], heard._meta['recourse/call_id']);
    const output = outputOf(result);
    assert.deepEqual(output['vendor/extra'], { kept: true });
    assert.equal((output['_meta'] as Record<string, unknown>)['vendor/trace'], 'x');
    assert.equal('resultType' in output, false);

    const last = server.heard.findLast((headers) => headers['mcp-method'] === 'tools/call');
    assert.equal(last?.['x-token'], 'secret');
    assert.equal(last?.['mcp-name'], 'echo');
    assert.equal(last?.['mcp-param-region'], `=?base64?${Buffer.from('Zürich').toString('base64')}?=`);
    assert.equal(last?.['x-recourse-mark'], undefined);
  });

  test('hears that nobody waits any more', async (t) => {
    const server = await listenModern(t);
    const upstreams = await openUpstreams(t, [httpServer('web', server.url)]);
    const stop = new AbortController();
    const running = call(upstreams, 'web/slow', {}, stop.signal);
    await eventually('the call', async () => server.tools.calls.length === 1);
    stop.abort();
    assert.equal(failureOf(await running).kind, 'cancelled');
    await eventually('the abort', async () => server.tools.aborted.length === 1);
  });

  test('that asks for input fails typed', async (t) => {
    const server = await listenModern(t);
    const upstreams = await openUpstreams(t, [httpServer('web', server.url)]);
    const failure = failureOf(await call(upstreams, 'web/ask'));
    assert.deepEqual([failure.kind, failure.errorType, failure.effect], ['unknown', 'InputRequired', null]);
  });

  test('that tells of new tools is listed again', async (t) => {
    const server = await listenModern(t);
    const upstreams = await openUpstreams(t, [httpServer('web', server.url)], {
      limits: { relistEveryMs: 50, relistDebounceMs: 10 },
    });
    await eventually('the subscription', async () => {
      server.tools.generation = 1;
      server.changed();
      return upstreams.catalogue().has('web/grown_0');
    });
  });
});

suite('a server of the revision 2025-11-25 with sessions', { concurrency: 2 }, () => {
  for (const status of [404, 400]) {
    test(`that forgot its session and says ${status}: it is opened anew and the call is carried out once`, async (t) => {
      const server = await listenLegacy(t, undefined, status);
      const upstreams = await openUpstreams(t, [httpServer('web', server.url)]);
      assert.equal(statusOf(upstreams, 'web').protocolVersion, '2025-11-25');
      outputOf(await call(upstreams, 'web/echo', { n: 1 }));
      server.forget();
      const results = await Promise.all([2, 3, 4].map((n) => call(upstreams, 'web/echo', { n })));
      for (const result of results) outputOf(result);
      assert.equal(server.tools.calls.length, 4);
      assert.equal(server.sessions.size, 1, 'one session for all of them');
    });
  }

  test('says goodbye when it is closed', async (t) => {
    const server = await listenLegacy(t);
    const upstreams = await openUpstreams(t, [httpServer('web', server.url)]);
    outputOf(await call(upstreams, 'web/echo'));
    const [transport] = server.sessions.values();
    const closed = new Promise<void>((resolve) => {
      const before = transport?.onclose;
      if (transport !== undefined) {
        transport.onclose = () => {
          before?.();
          resolve();
        };
      }
    });
    await upstreams.close();
    await closed;
  });

  test('at an address that says who asks: it is said with everything, with the stream of news and the goodbye, too', async (t) => {
    const server = await listenLegacy(t);
    const said: string[] = [];
    server.http.prependListener('request', ({ method, headers }) => said.push(`${method} ${headers.authorization}`));
    const upstreams = await openUpstreams(t, [httpServer('web', server.url.replace('//', '//ann:s%40y@'))]);
    const login = `Basic ${Buffer.from('ann:s@y').toString('base64')}`;
    await eventually('the stream', async () => said.includes(`GET ${login}`));
    await upstreams.close();
    assert.equal(said.at(-1), `DELETE ${login}`);
    assert.ok(said.every((each) => each.endsWith(login)));
  });

  test('whose headers name a host, or what is ours to say: all that is sent is alike, the stream of news and the goodbye, too', async (t) => {
    const server = await listenLegacy(t);
    const said: string[] = [];
    server.http.prependListener('request', ({ method, headers: { host, expect } }) =>
      said.push(`${method} ${host} ${expect}`),
    );
    const headers = { host: 'named.example', expect: '100-continue', 'keep-alive': 'timeout=9' };
    const upstreams = await openUpstreams(t, [httpServer('web', server.url, headers)]);
    await eventually('the stream', async () => said.includes('GET named.example undefined'));
    await upstreams.close();
    assert.equal(said.at(-1), 'DELETE named.example undefined');
    assert.ok(said.every((each) => each.endsWith(' named.example undefined')));
  });

  test('that goes away is never sent anything; when it comes back the next call works', async (t) => {
    const server = await listenLegacy(t);
    const upstreams = await openUpstreams(t, [httpServer('web', server.url)], { limits: { maxSendDelayMs: 5_000 } });
    outputOf(await call(upstreams, 'web/echo'));
    await server.stop();
    // A question that meets a dying connection proves nothing; once that is gone, none leaves the house.
    const failure = await eventually('a refused connection', async () => {
      const found = failureOf(await call(upstreams, 'web/echo'));
      assert.ok(['never_sent', 'unknown'].includes(found.kind), found.kind);
      return found.kind === 'never_sent' && found;
    });
    assert.equal(failure.effect, 'none');
    assert.match(statusOf(upstreams, 'web').problem ?? '', /ECONNREFUSED/);
    assert.ok(upstreams.catalogue().has('web/echo'), 'its tools stay listed');
    await listenLegacy(t, server.tools, 404, Number(new URL(server.url).port));
    outputOf(await call(upstreams, 'web/echo'));
    assert.equal(statusOf(upstreams, 'web').problem, null);
  });

  test('that was not there at the start is connected when it comes', async (t) => {
    const first = await listenLegacy(t);
    await first.stop();
    const upstreams = await openUpstreams(t, [httpServer('web', first.url)]);
    assert.equal(statusOf(upstreams, 'web').state, 'waiting');
    assert.match(statusOf(upstreams, 'web').problem ?? '', /cannot be reached \(ECONNREFUSED\)/);
    await listenLegacy(t, undefined, 404, Number(new URL(first.url).port));
    outputOf(await call(upstreams, 'web/echo'));
  });

  test('that comes back after a long time is tried again as soon as somebody calls it', async (t) => {
    let tries = 0;
    let isBack = false;
    const server = await listenByHand(t, ({ id }, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [] } }));
    });
    server.http.prependListener('request', (request) => {
      if (isBack) return;
      tries++;
      request.socket.destroy();
    });
    const limits = { backoffInitialMs: 50, backoffMaxMs: 60_000, maxSendDelayMs: 1_000 };
    const upstreams = await openUpstreams(t, [httpServer('web', server.url)], { limits });
    // 50, 100, 200, 400, 800 ms: the sixth failure is followed by a wait that no call would outlast.
    await eventually('six tries', async () => tries === 6 && statusOf(upstreams, 'web').state === 'waiting');
    isBack = true;
    outputOf(await call(upstreams, 'web/any'));
  });

  test('hears that nobody waits any more', async (t) => {
    const server = await listenLegacy(t);
    const upstreams = await openUpstreams(t, [httpServer('web', server.url)]);
    const stop = new AbortController();
    const running = call(upstreams, 'web/slow', {}, stop.signal);
    await eventually('the call', async () => server.tools.calls.length === 1);
    stop.abort();
    assert.equal(failureOf(await running).kind, 'cancelled');
    await eventually('the abort', async () => server.tools.aborted.length === 1);
  });
});

suite('an answer that is none', { concurrency: 2 }, () => {
  const json = { 'content-type': 'application/json' };
  const stream = { 'content-type': 'text/event-stream' };
  const cases: readonly { what: string; answering: Answering; kind: string; effect?: string; seconds?: number }[] = [
    { what: '401', answering: (_, r) => r.writeHead(401).end(), kind: '401_unauthenticated' },
    { what: '403', answering: (_, r) => r.writeHead(403).end(), kind: '403_forbidden' },
    { what: '404', answering: (_, r) => r.writeHead(404).end(), kind: '404_not_found' },
    { what: '409', answering: (_, r) => r.writeHead(409).end(), kind: '409_conflict' },
    { what: '429', answering: (_, r) => r.writeHead(429, { 'retry-after': '17' }).end(), kind: '429', seconds: 17 },
    { what: '500', answering: (_, r) => r.writeHead(500).end('oh'), kind: '5xx' },
    { what: '503', answering: (_, r) => r.writeHead(503, { 'retry-after': '3' }).end(), kind: '5xx', seconds: 3 },
    {
      what: '302 elsewhere',
      answering: (_, r) => r.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
      kind: 'unknown',
    },
    { what: 'a cut connection', answering: (_, r) => void r.socket?.destroy(), kind: 'unknown' },
    { what: 'half a JSON', answering: (_, r) => r.writeHead(200, json).end('{"jsonrpc"'), kind: 'unknown' },
    {
      what: 'a web page',
      answering: (_, r) => r.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      kind: 'unknown',
    },
    { what: 'nothing but "accepted"', answering: (_, r) => r.writeHead(202).end(), kind: 'unknown' },
    {
      what: 'the answer to something else',
      answering: ({ id }, r) => r.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id: id + 1, result: {} })),
      kind: 'unknown',
    },
    {
      what: 'a stream without an answer',
      answering: (_, r) => r.writeHead(200, stream).end(': hello\n\n'),
      kind: 'unknown',
    },
    {
      what: 'a stream that breaks',
      answering: (_, r) => {
        r.writeHead(200, stream).write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n');
        setImmediate(() => r.socket?.destroy());
      },
      kind: 'unknown',
    },
    {
      what: '100 MB of JSON',
      answering: ({ id }, r) => pour(r.writeHead(200, json), `{"jsonrpc":"2.0","id":${id},"result":{"content":"`),
      kind: 'unknown',
    },
    { what: '100 MB in one event', answering: (_, r) => pour(r.writeHead(200, stream), 'data: '), kind: 'unknown' },
    { what: '100 MB of apology', answering: (_, r) => pour(r.writeHead(500, json), ''), kind: '5xx' },
    {
      what: 'a JSON-RPC error for wrong parameters',
      answering: ({ id }, r) =>
        r.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'no' } })),
      kind: '400_invalid',
      effect: 'unknown',
    },
  ];
  for (const { what, answering, kind, effect, seconds } of cases) {
    test(`${what} is ${kind}`, async (t) => {
      const server = await listenByHand(t, answering);
      const upstreams = await openUpstreams(t, [httpServer('web', server.url)]);
      pouredMegabytes = 0;
      const failure = failureOf(await call(upstreams, 'web/any'));
      assert.equal(failure.kind, kind, JSON.stringify(failure));
      assert.equal(failure.effect, effect ?? null);
      assert.equal(failure.retryAfterSeconds, seconds ?? null);
      assert.ok(pouredMegabytes < 50, `${pouredMegabytes} MB were taken in`);
    });
  }

  test('a server that never shakes hands is given up after the time limit', async (t) => {
    const server = await listen(t, () => undefined);
    const upstreams = await openUpstreams(t, [httpServer('web', server.url)], {
      limits: { connectTimeoutMs: 200, maxSendDelayMs: 100 },
    });
    assert.match(statusOf(upstreams, 'web').problem ?? '', /did not finish the handshake within 200 ms/);
    assert.equal(failureOf(await call(upstreams, 'web/any')).kind, 'never_sent');
  });
});

test('the time limit of a handshake holds for all of its steps together', async (t) => {
  // Neither of its two steps takes all of the time; together they take more.
  const server = await listenByHand(t, () => undefined, { shakesAfterMs: 600 });
  const upstreams = await openUpstreams(t, [httpServer('web', server.url)], { limits: { connectTimeoutMs: 1_000 } });
  assert.match(statusOf(upstreams, 'web').problem ?? '', /did not finish the handshake within 1000 ms/);
});

/** How much the other side took, with what lies in the buffers between. */
let pouredMegabytes = 0;

/** As much as the other side takes, 100 MB at most. */
function pour(response: NodeJS.WritableStream, beginning: string): void {
  const block = 'x'.repeat(1 << 20);
  let left = 100;
  response.write(beginning);
  const more = (): void => {
    while (left > 0) {
      left--;
      pouredMegabytes++;
      if (!response.write(block)) return;
    }
    response.end();
  };
  response.on('drain', more);
  response.on('error', () => undefined);
  more();
}
