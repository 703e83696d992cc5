/** Whether a request was sent, told apart on real sockets: nothing may be called unsent that could have arrived. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { Failure, UpstreamResult } from '../../ports/upstream.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { listenApi, listenTcp, targetOf, TimedOut, toolOf, upstreamOf } from '../../../test/support/http/api.ts';

function failureIn(result: UpstreamResult): Failure {
  assert.equal(result.kind, 'failed');
  return (result as Extract<UpstreamResult, { kind: 'failed' }>).failure;
}

async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

describe('never sent', () => {
  const unsent = (failure: Failure) =>
    assert.deepEqual([failure.kind, failure.effect, failure.retryAfterSeconds], ['never_sent', 'none', null]);

  test('a port where nobody listens', async (t) =>
    unsent(failureIn(await upstreamOf(t, targetOf(await closedPort()))())));

  test('a host that does not exist', async (t) =>
    unsent(failureIn(await upstreamOf(t, targetOf('http://nowhere.invalid'))())));

  test('a server that does not speak TLS', async (t) => {
    const url = await listenTcp(t, (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'));
    unsent(failureIn(await upstreamOf(t, targetOf(url.replace('http:', 'https:')))()));
  });

  test('a TLS handshake that is never answered', async (t) => {
    const heard: Buffer[] = [];
    const url = await listenTcp(t, (socket) => socket.on('data', (bytes: Buffer) => heard.push(bytes)));
    const target = targetOf(url.replace('http:', 'https:'), { limits: { connectTimeoutMs: 100 } });
    unsent(failureIn(await upstreamOf(t, target)()));
    assert.doesNotMatch(Buffer.concat(heard).toString('latin1'), /POST/);
  });

  test('a request that waited for a connection until its time to send was over', async (t) => {
    const api = await listenApi(t, () => undefined);
    const invoke = upstreamOf(t, targetOf(api.url, { limits: { maxConnections: 1, maxSendDelayMs: 100 } }));
    const stop = new AbortController();
    const first = invoke({ n: 1 }, stop.signal);
    await eventually('it came', async () => api.heard.length === 1);
    unsent(failureIn(await invoke({ n: 2 })));
    stop.abort();
    await first;
    assert.deepEqual(
      api.heard.map(({ body }) => body),
      ['{"n":1}'],
    );
  });

  test('one that is given up in the queue is not sent later, and its connection serves the next', async (t) => {
    const answers: (() => void)[] = [];
    const api = await listenApi(t, (_, response) => answers.push(() => response.end('x')));
    const invoke = upstreamOf(t, targetOf(api.url, { limits: { maxConnections: 1 } }));
    const first = invoke({ n: 1 });
    await eventually('it came', async () => answers.length === 1);
    const [cancel, timeout] = [new AbortController(), new AbortController()];
    const waiting = [invoke({ n: 2 }, cancel.signal), invoke({ n: 3 }, timeout.signal)];
    cancel.abort();
    timeout.abort(new TimedOut());
    const ends = (await Promise.all(waiting)).map(failureIn);
    assert.deepEqual(
      ends.map(({ kind, effect }) => [kind, effect]),
      [
        ['cancelled', 'none'],
        ['never_sent', 'none'],
      ],
    );
    answers[0]?.();
    await first;
    const last = invoke({ n: 4 });
    await eventually('it came', async () => answers.length === 2);
    answers[1]?.();
    await last;
    assert.deepEqual([api.heard.map(({ body }) => body), api.connections()], [['{"n":1}', '{"n":4}'], 1]);
  });
});

describe('sent, and the answer is lost', () => {
  const lost = (failure: Failure, errorType = 'ConnectionLost') =>
    assert.deepEqual([failure.kind, failure.effect, failure.errorType], ['timeout', null, errorType]);

  test('a server that closes before it reads', async (t) => {
    const url = await listenTcp(t, (socket) => socket.end());
    lost(failureIn(await upstreamOf(t, targetOf(url))()));
  });

  test('a server that resets the connection', async (t) => {
    const url = await listenTcp(t, (socket) => socket.once('data', () => socket.resetAndDestroy()));
    lost(failureIn(await upstreamOf(t, targetOf(url))()));
  });

  test('a connection that the kernel accepted and nobody reads', async (t) => {
    const url = await listenTcp(t, (socket) => socket.pause());
    const target = targetOf(url, { limits: { headersTimeoutMs: 50 } });
    lost(failureIn(await upstreamOf(t, target)()), 'TimeoutError');
  });

  test('a kept connection that closes under a write; it is sent once', async (t) => {
    let asked = 0;
    const api = await listenApi(t, (_, response) => {
      if (++asked === 1) response.end('x');
      else response.socket?.destroy();
    });
    for (const method of ['POST', 'GET']) {
      asked = 0;
      const before = api.heard.length;
      const invoke = upstreamOf(t, targetOf(api.url), toolOf({ method }));
      assert.equal((await invoke()).kind, 'returned');
      lost(failureIn(await invoke()));
      assert.equal(api.heard.length - before, 2, method);
    }
  });

  test('a body that stops in the middle', async (t) => {
    const api = await listenApi(t, (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    lost(failureIn(await upstreamOf(t, targetOf(api.url))()));
  });

  test('a body that pauses for too long', async (t) => {
    const api = await listenApi(t, (_, response) => void response.writeHead(200).write('half'));
    lost(failureIn(await upstreamOf(t, targetOf(api.url, { limits: { bodyTimeoutMs: 50 } }))()), 'TimeoutError');
  });

  test('the status of a refusal counts though its body is lost or too large', async (t) => {
    const cut = await listenApi(t, (_, response) => {
      response.writeHead(422, { 'content-length': '100' });
      response.write('half', () => response.destroy());
    });
    const large = await listenApi(t, (_, response) => response.writeHead(422).end('x'.repeat(5_000)));
    for (const { url } of [cut, large])
      assert.equal(
        failureIn(await upstreamOf(t, targetOf(url, { limits: { maxResponseBytes: 1_000 } }))()).kind,
        '400_invalid',
      );
  });

  for (const bytes of [
    'this is no HTTP\r\n\r\n',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`,
    'HTTP/1.1 103 Early\r\n\r\n'.repeat(40),
  ])
    test(`an answer that is no usable HTTP: ${bytes.slice(0, 20).trim()}`, async (t) => {
      const url = await listenTcp(t, (socket) => socket.once('data', () => socket.write(bytes)));
      const { kind, subject, effect } = failureIn(await upstreamOf(t, targetOf(url))());
      assert.deepEqual([kind, subject, effect], ['schema_validation', 'response', null]);
    });
});

describe('a call that is stopped', () => {
  test('by its caller closes the connection, and may have happened', async (t) => {
    let closed = 0;
    const api = await listenApi(t, (_, response) => response.on('close', () => closed++));
    const stop = new AbortController();
    const late: UpstreamResult[] = [];
    const end = upstreamOf(t, targetOf(api.url))({}, stop.signal, { late: (result) => late.push(result) });
    await eventually('it came', async () => api.heard.length === 1);
    stop.abort();
    const { kind, effect } = failureIn(await end);
    assert.deepEqual([kind, effect], ['cancelled', null]);
    await eventually('it came', async () => closed === 1);
    assert.deepEqual(late, []);
  });

  test('by its timeout keeps the connection of a write, and its answer is heard late, once', async (t) => {
    const answers: (() => void)[] = [];
    const api = await listenApi(t, (_, response) => answers.push(() => response.end('done')));
    const stop = new AbortController();
    const late: UpstreamResult[] = [];
    const end = upstreamOf(t, targetOf(api.url))({}, stop.signal, { late: (result) => late.push(result) });
    await eventually('it came', async () => answers.length === 1);
    stop.abort(new TimedOut());
    const { kind, effect } = failureIn(await end);
    assert.deepEqual([kind, effect], ['timeout', null]);
    answers[0]?.();
    await eventually('it came', async () => late.length > 0);
    assert.deepEqual(late, [{ kind: 'returned', output: 'done', errors: [] }]);
  });

  test('by its timeout ends a read', async (t) => {
    let closed = 0;
    const api = await listenApi(t, (_, response) => response.on('close', () => closed++));
    const stop = new AbortController();
    const read = upstreamOf(t, targetOf(api.url), toolOf({ method: 'GET' }, { effectClass: 'pure' }));
    const end = read({}, stop.signal, { late: () => assert.fail('a read is not heard late') });
    await eventually('it came', async () => api.heard.length === 1);
    stop.abort(new TimedOut());
    assert.equal(failureIn(await end).kind, 'timeout');
    await eventually('it came', async () => closed === 1);
  });

  test('before it began is not sent', async (t) => {
    const api = await listenApi(t, (_, response) => response.end());
    const { kind, effect } = failureIn(await upstreamOf(t, targetOf(api.url))({}, AbortSignal.abort()));
    assert.deepEqual([kind, effect, api.heard.length], ['cancelled', 'none', 0]);
  });

  test('only so many late answers are awaited; the oldest connection is closed', async (t) => {
    let closed = 0;
    const api = await listenApi(t, (_, response) => response.on('close', () => closed++));
    const invoke = upstreamOf(t, targetOf(api.url, { limits: { maxLateAnswers: 1 } }));
    for (const [at, stop] of [new AbortController(), new AbortController()].entries()) {
      const end = invoke({}, stop.signal, { late: () => undefined });
      await eventually('it came', async () => api.heard.length === at + 1);
      stop.abort(new TimedOut());
      await end;
    }
    await eventually('it came', async () => closed === 1);
  });
});
