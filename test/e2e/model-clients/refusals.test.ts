/** CONTRACT sections 3 and 4 for clients of models: refusals in the provider's form, with the members of the reply. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isObject } from '../../../src/core/values/json.ts';
import { type Closing, openHttp, openOnce } from '../http/open-http.ts';
import { startModelsUp } from '../../support/models/models-up.ts';
import { askFor } from '../../support/models/read-stream.ts';

const messages = [{ role: 'user', content: 'hello' }];
const chat = { model: 'gpt-5', messages };
const errorIn = (body: unknown): Readonly<Record<string, unknown>> => {
  const error = isObject(body) ? body['error'] : null;
  assert.ok(isObject(error));
  return error;
};

test('[C3-models-2] each refusal has its status, says whether to come again, and carries the reply', async (t) => {
  const { up, through, provider } = await startModelsUp(t, {
    agent: `model_policy: { allow: [gpt-5, claude-*] }
    limits: [{ match: claude/*, rate: 1/hour }]
    rules: [{ defer: gpt/responses }, { permit: gpt/* }, { permit: claude/* }]`,
  });
  const ask = async (path: string, body: object, headers = {}) => {
    const response = await askFor(`${up.url}${path}`, { key: through.key, body, headers });
    return { status: response.status, headers: response.headers, error: errorIn(await response.json()) };
  };
  const denied = await ask('/v1/chat/completions', { ...chat, model: 'gpt-4' });
  assert.deepEqual(
    [denied.status, denied.error['code'], denied.error['type']],
    [403, 'MODEL_DENIED', 'permission_error'],
  );
  assert.deepEqual(denied.error['resolution'], { type: 'rule_block', rule_id: 'model_policy' });
  assert.deepEqual([denied.headers.get('x-should-retry'), denied.headers.get('retry-after')], ['false', null]);
  assert.equal(denied.headers.get('x-request-id'), denied.error['call_id']);

  const held = await ask('/v1/responses', { model: 'gpt-5', input: 'hello', stream: true });
  assert.deepEqual([held.status, held.error['code']], [403, 'POLICY_DEFER'], 'a client would take 202 for an answer');
  assert.equal(held.headers.get('x-should-retry'), 'false');

  const invalid = await ask('/v1/chat/completions', { model: 'gpt-5' });
  assert.deepEqual([invalid.status, invalid.error['error']], [422, 'validation_failed']);

  const asked = { model: 'claude-opus-5', max_tokens: 9, messages };
  assert.equal((await askFor(`${up.url}/v1/messages`, { key: through.key, body: asked })).status, 200);
  const limited = await ask('/v1/messages?beta=true', asked);
  assert.deepEqual([limited.status, limited.error['type']], [429, 'rate_limit_error']);
  assert.equal(limited.headers.get('x-should-retry'), 'true');
  assert.match(String(limited.headers.get('retry-after')), /^\d+$/);
  const both = { 'x-api-key': through.key.replace(/.{3}$/, 'AAA') };
  assert.equal((await ask('/v1/messages', asked, both)).status, 401, 'two keys that differ');
  assert.equal(provider.ledger.filter(({ method }) => method === 'POST').length, 1);
});

test('[C1-models-4] an agent sees the models that it may ask, in the form of both clients', async (t) => {
  const { up, through } = await startModelsUp(t, {
    agent: `model_policy: { allow: [small, large] }
    rules: [{ permit: gpt/* }, { permit: claude/messages }]`,
    declared: `retry: { retryable: false }
    models: { small: { context: 1000, max_output: 100 }, other: {} }
    aliases: { fast: small }`,
  });
  const { body } = await up.ask('/v1/models', { key: through.key });
  const entry = (id: string, owned_by: string) => ({
    id,
    object: 'model',
    type: 'model',
    created: 0,
    created_at: '1970-01-01T00:00:00Z',
    owned_by,
    display_name: id,
    max_input_tokens: 1000,
    max_tokens: 100,
  });
  const data = [
    entry('small', 'gpt'),
    entry('fast', 'gpt'),
    entry('claude/small', 'claude'),
    entry('claude/fast', 'claude'),
  ];
  assert.deepEqual(body, { object: 'list', data, first_id: 'small', last_id: 'claude/fast', has_more: false });
  const page = await up.ask('/v1/models?limit=1&after_id=small', { headers: { 'x-api-key': through.key } });
  assert.deepEqual([page.body['data'], page.body['has_more']], [[data[1]], true]);
  assert.deepEqual((await up.ask('/v1/models/claude%2Ffast', { key: through.key })).body, data[3]);
  const missing = await up.ask('/v1/models/other', { key: through.key });
  assert.deepEqual([missing.status, errorIn(missing.body)['code']], [404, 'UnknownModel']);

  const ask = async (model: string, path: string, more: object) =>
    (await askFor(`${up.url}${path}`, { key: through.key, body: { model, messages, ...more } })).status;
  assert.equal(await ask('fast', '/v1/chat/completions', {}), 200, 'an alias');
  assert.equal(await ask('claude/small', '/v1/messages', { max_tokens: 9 }), 200, 'by its provider');
  assert.equal(await ask('other', '/v1/chat/completions', {}), 403, 'declared, and not permitted');
});

describe('before there is a call', () => {
  const http = openOnce((t: Closing) => openHttp(t, { door: { maxModelBodyBytes: 1_000, maxBodyBytes: 100 } }));

  for (const [what, path, sent, status, code] of [
    ['no provider has the operation', '/v1/chat/completions', { body: chat }, 404, 'UnknownModel'],
    [
      'an operation of the provider that the gateway has not',
      '/v1/messages/count_tokens',
      { body: {} },
      404,
      'NoSuchPath',
    ],
    ['another host', '/v1/messages', { body: chat, headers: { host: 'evil.example' } }, 403, 'HostForbidden'],
    ['no JSON', '/v1/messages', { bytes: '{"model":' }, 400, 'InputInvalid'],
    [
      'no media type',
      '/v1/responses',
      { bytes: '{}', headers: { 'content-type': 'text/plain' } },
      415,
      'UnsupportedMediaType',
    ],
    ['more than the limit', '/v1/responses', { body: { model: 'x'.repeat(1_001) } }, 413, 'InputTooLarge'],
    ['less than that limit', '/v1/responses', { body: { model: 'x'.repeat(500) } }, 404, 'UnknownModel'],
    ['a query that nobody knows', '/v1/messages?x=1', { body: chat }, 422, 'InputInvalid'],
    ['no key', '/v1/messages', { body: chat, key: null }, 401, 'Unauthenticated'],
  ] as const)
    test(`[C3-models-3] ${what} is ${status} ${code}, in the form of the provider`, async () => {
      const { status: got, body, headers } = await http().ask('POST', path, sent);
      const error = errorIn(body);
      assert.deepEqual([got, error['code'], headers['x-should-retry']], [status, code, 'false']);
      assert.equal(typeof error['message'], 'string');
      assert.equal(
        path.startsWith('/v1/messages') ? body['type'] : error['param'],
        path.startsWith('/v1/messages') ? 'error' : null,
      );
    });
});
