/** HTTP tools keep the contract of upstreams, against a real server. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { createHttpUpstream } from '../../../src/adapters/upstream-http/http-upstream.ts';
import { compileSchema } from '../../../src/core/schema/compile-schema.ts';
import { httpTool } from '../../../src/index.ts';
import { listenApi, listenTcp, targetOf, toolOf } from '../../support/http/api.ts';
import { openGateway } from '../../support/open-gateway.ts';
import { type Fault, planted, provesUpstream } from '../../../src/extension/proves/proves-upstream.ts';

const body = (code: string) => ({ code, message: `no: ${planted}` });
const statuses: Readonly<Partial<Record<Fault, readonly [number, unknown?]>>> = {
  'a result': [200, { ok: true }],
  'a result of the wrong shape': [200, { ok: 'maybe' }],
  'an answer beyond the limit': [200, { ok: true, more: 'x'.repeat(5_000) }],
  'input refused': [422, body('x')],
  'not authenticated': [401, body('x')],
  forbidden: [403, body('x')],
  'not found': [404, body('x')],
  'a key in flight': [409, body('idempotency_key_in_use')],
  'a key completed': [409, body('idempotency_key_completed')],
  'a key of another request': [409, body('idempotency_key_mismatch')],
  'a conflict without a code': [409, { message: 'idempotency_key_in_use' }],
  'stale evidence': [412, body('evidence_stale')],
  'a rate limit of 7 seconds': [429, body('x')],
  'a failure of its own': [500, body('x')],
};

const checked = compileSchema({ type: 'object', properties: { ok: { type: 'boolean' } } });

provesUpstream('HTTP', {
  cannot: {},
  async stage(t, fault) {
    const waiting: ServerResponse[] = [];
    const api = await listenApi(t, (_, response) => {
      const [status, said] = statuses[fault] ?? [200];
      const headers = { 'content-type': 'application/json', ...(status === 429 ? { 'retry-after': '7' } : {}) };
      if (fault === 'dropped after it was sent') response.socket?.destroy();
      else if (fault === 'no answer until it is released') waiting.push(response);
      else response.writeHead(status, headers).end(said === undefined ? '{"ok":' : JSON.stringify(said));
    });
    if (fault === 'never sent') await api.stop();
    const checkOutput = checked.ok ? checked.check : null;
    const target = targetOf(api.url, { headers: { Authorization: planted }, limits: { maxResponseBytes: 1_000 } });
    const { upstream, close } = createHttpUpstream(target, new Map([['it', toolOf({}, { checkOutput })]]));
    t.after(close);
    const release = () => {
      for (const response of waiting)
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    };
    return { upstream, tool: 'it', hasBegun: () => api.heard.length > 0, release };
  },
});

const refund = (url: string) =>
  httpTool({ name: 'refund', method: 'POST', url: `${url}/refunds`, input: { type: 'object' } });

test('[C5-http-1] the status of an HTTP answer becomes class, code and verdict of the one table', async (t) => {
  const answers: readonly (readonly [number, string, string, string])[] = [
    [422, 'ToolTerminal', 'InputInvalid', 'none'],
    [403, 'ToolTerminal', 'Forbidden', 'none'],
    [429, 'ProviderTransient', 'RateLimited', 'none'],
    [503, 'ProviderTransient', 'Provider5xx', 'unknown'],
  ];
  for (const [status, ...expected] of answers) {
    const api = await listenApi(t, (_, response) => response.writeHead(status, { 'retry-after': '7' }).end());
    const gateway = await openGateway(t, [refund(api.url)]);
    const session = await gateway.openSession();
    const reply = (await gateway.call({ tool: 'refund', args: {}, session })) as {
      class?: string;
      code?: string;
      effect?: string;
    };
    assert.deepEqual([reply.class, reply.code, reply.effect], expected, String(status));
    // Gateways of one test share a store, and another one with the same tool would go on with this one's retries.
    await gateway.close();
  }
});

test('[C6-effect-5] never sent is only what no byte was written of; a lost answer to a write is unknown', async (t) => {
  const gone = await listenApi(t, (_, response) => response.end());
  await gone.stop();
  const closing = await listenTcp(t, (socket) => socket.end());
  const lost = await openGateway(t, [refund(closing)]);
  const unsent = await openGateway(t, [refund(gone.url)]);
  const told = async (asked: typeof lost) =>
    ((await asked.call({ tool: 'refund', args: {} })) as { effect?: string }).effect;
  assert.deepEqual([await told(unsent), await told(lost)], ['none', 'unknown']);
});

test('[C6-keys-11] an HTTP write carries the id of its call as its key, a read carries none', async (t) => {
  const api = await listenApi(t, (_, response) => response.end('ok'));
  const read = httpTool({ name: 'read', method: 'GET', url: api.url, input: { type: 'object' } });
  const gateway = await openGateway(t, [refund(api.url), read]);
  const { call_id } = (await gateway.call({ tool: 'refund', args: {} })) as { call_id?: string };
  await gateway.call({ tool: 'read', args: {} });
  assert.deepEqual(
    api.heard.map(({ headers }) => headers['idempotency-key']),
    [call_id, undefined],
  );
});
