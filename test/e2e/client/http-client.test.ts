/** The client over real sockets: what it makes of everything that can stand between it and a daemon. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import {
  CallError,
  type ClientBounds,
  createClient,
  httpTransport,
  ToolDeniedError,
} from '../../../src/client/index.ts';
import { errorSamples, pendingSample, successSample } from '../../support/reply-samples.ts';
import { type Answering, cutting, replying, saying, startServer } from './answering-server.ts';

const clientAt = (url: string, bounds: ClientBounds = {}, answerTimeoutSeconds = 30) =>
  createClient({ transport: httpTransport({ url, key: 'rk_1', answerTimeoutSeconds }), ...bounds });

async function errorOf(call: Promise<unknown>): Promise<CallError> {
  const error: unknown = await call.then(
    (value) => assert.fail(`it succeeded: ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );
  assert.ok(error instanceof CallError, String(error));
  return error;
}

const html = '<html><body><h1>502 Bad Gateway</h1></body></html>';
const text = JSON.stringify(successSample);
const truncated: Answering = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
  response.write(text.slice(0, 40), () => response.destroy());
};
const shortened = saying(200, 'application/json', text.slice(0, 40));

describe('an answer that did not come back whole', () => {
  const losses: readonly (readonly [string, Answering])[] = [
    ['the line was cut', cutting],
    ['a proxy answered with a page', saying(502, 'text/html', html)],
    ['half of it came', truncated],
    ['a proxy shortened it', shortened],
    ['there was nothing in it', saying(200, 'application/json', '')],
  ];
  for (const [what, loss] of losses) {
    test(`is asked for again with the same key: ${what}`, async (t) => {
      const { seen, url } = await startServer(t, [loss, replying({ ...successSample, replayed: true })]);
      assert.deepEqual(await clientAt(url).call('refund', { order: 'ord_1' }), successSample.result);
      assert.equal(seen.length, 2);
      const [first, second] = seen;
      assert.match(String(first?.headers['idempotency-key']), /^[0-9a-f-]{36}$/);
      assert.equal(second?.headers['idempotency-key'], first?.headers['idempotency-key']);
      assert.equal(second?.body, first?.body);
    });

    test(`has an effect that nobody knows: ${what}`, async (t) => {
      const { seen, url } = await startServer(t, [loss]);
      const error = await errorOf(clientAt(url, { maxResends: 1 }).call('refund'));
      assert.deepEqual([error.error, error.effect, error.reply], ['no_reply', 'unknown', null]);
      assert.equal(seen.length, 2);
      assert.ok(!error.message.includes('<html>'));
    });
  }

  test('counts as lost when it takes too long', async (t) => {
    const { seen, url } = await startServer(t, [() => {}]);
    const client = clientAt(url, { maxResends: 1 }, 0.1);
    const error = await errorOf(client.call('refund', {}, { waitSeconds: 0 }));
    assert.deepEqual([error.error, error.effect, seen.length], ['no_reply', 'unknown', 2]);
    assert.match(error.message, /no answer within 0.1 seconds/);
  });
});

describe('an answer that is no reply', () => {
  test('is not asked for again: it would be the same', async (t) => {
    const { seen, url } = await startServer(t, [saying(200, 'application/json', '{"message":"hello"}')]);
    const error = await errorOf(clientAt(url).call('refund'));
    assert.deepEqual([error.error, error.effect, seen.length], ['no_reply', 'unknown', 1]);
  });

  test('has no effect if the door turned the request away', async (t) => {
    const problem = {
      type: 'urn:recourse:code:Unauthenticated',
      title: 'No key',
      status: 401,
      code: 'Unauthenticated',
    };
    const { seen, url } = await startServer(t, [saying(401, 'application/problem+json', JSON.stringify(problem))]);
    const error = await errorOf(clientAt(url).call('refund'));
    assert.deepEqual(
      [error.error, error.code, error.effect, seen.length],
      ['turned_away', 'Unauthenticated', 'none', 1],
    );
  });

  test('is not followed to another place', async (t) => {
    const other = await startServer(t, [replying(successSample)]);
    const { url } = await startServer(t, [
      (response) => response.writeHead(307, { location: `${other.url}/v1/calls` }).end(),
    ]);
    const error = await errorOf(clientAt(url, { maxResends: 0 }).call('refund'));
    assert.deepEqual([error.effect, other.seen.length], ['unknown', 0]);
  });
});

test('nobody listens: nothing was sent, and nothing is tried again', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  for (const host of ['127.0.0.1', 'localhost']) {
    const error = await errorOf(clientAt(`http://${host}:${port}`).call('refund'));
    assert.deepEqual([error.error, error.effect], ['not_sent', 'none'], host);
  }
});

describe('the body decides, never the status', () => {
  for (const status of [200, 202, 400, 404, 500, 503])
    test(`[C3-body-1] with status ${status}`, async (t) => {
      const succeeding = await startServer(t, [replying(successSample, status)]);
      assert.deepEqual(await clientAt(succeeding.url).call('refund'), successSample.result);
      const denying = await startServer(t, [replying(errorSamples.denied, status)]);
      await assert.rejects(clientAt(denying.url).call('refund'), (error) => {
        assert.ok(error instanceof ToolDeniedError);
        assert.deepEqual(error.reply, errorSamples.denied);
        return true;
      });
    });
});

test('a pending call is looked up by its id until it has ended', async (t) => {
  const pending = { ...pendingSample, retry_after_seconds: 0 };
  const { seen, url } = await startServer(t, [replying(pending), replying(pending), replying(successSample)]);
  assert.deepEqual(await clientAt(url).call('refund'), successSample.result);
  assert.deepEqual(
    seen.map(({ method, path }) => `${method} ${path}`),
    ['POST /v1/calls', 'GET /v1/calls/call_1', 'GET /v1/calls/call_1'],
  );
  assert.ok(seen.every(({ headers }) => headers.authorization === 'Bearer rk_1'));
});

test('a denial that says when to ask again is waited for by the clock', async (t) => {
  const resolution = { type: 'retry_after', retry_after_seconds: 0.3 } as const;
  const denied = replying({ ...errorSamples.denied, code: 'RATE_EXCEEDED', resolution });
  const { seen, url } = await startServer(t, [denied, replying(successSample)]);
  const began = performance.now();
  await clientAt(url).call('refund');
  assert.ok(performance.now() - began >= 290);
  assert.equal(seen[1]?.headers['idempotency-key'], seen[0]?.headers['idempotency-key']);
});

test('a call is let go when its signal is aborted, and what became of it is not known', async (t) => {
  const stop = new AbortController();
  const { seen, url } = await startServer(t, [() => stop.abort(new Error('enough'))]);
  const error = await errorOf(clientAt(url).call('refund', {}, { signal: stop.signal }));
  assert.deepEqual([error.error, error.effect, String(error.cause)], ['aborted', 'unknown', 'Error: enough']);
  assert.equal(seen.length, 1);
});

test('an answer without end is not read to its end', async () => {
  let bytes = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      bytes += 4 << 20;
      controller.enqueue(new Uint8Array(4 << 20).fill(32));
    },
  });
  const fetch = (async () => new Response(endless)) as typeof globalThis.fetch;
  const client = createClient({ transport: httpTransport({ url: 'http://host', key: 'k', fetch }), maxResends: 0 });
  const error = await errorOf(client.call('refund'));
  assert.deepEqual([error.error, error.effect], ['no_reply', 'unknown']);
  assert.ok(bytes <= 80 << 20, `${bytes}`);
});
