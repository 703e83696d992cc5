import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorShapeAt, providerError } from './provider-error.ts';

const told = { status: 403, message: 'no', code: 'POLICY_DENY', members: { error: 'denied', code: 'x' }, id: 'call_1' };

test('the error of OpenAI is in `error`, with the members of the reply', () => {
  assert.deepEqual(providerError('openai', told), {
    error: { error: 'denied', message: 'no', type: 'permission_error', code: 'POLICY_DENY', param: null },
  });
});

test('the error of Anthropic has a type beside it, and its request id', () => {
  assert.deepEqual(providerError('anthropic', told), {
    type: 'error',
    error: { error: 'denied', message: 'no', type: 'permission_error', code: 'POLICY_DENY' },
    request_id: 'call_1',
  });
});

test('an error for both can be read by either', () => {
  const { type, error } = providerError('both', told);
  assert.equal(type, 'error');
  assert.equal((error as { readonly param: unknown }).param, null);
});

for (const [status, openai, anthropic] of [
  [400, 'invalid_request_error', 'invalid_request_error'],
  [401, 'authentication_error', 'authentication_error'],
  [404, 'not_found_error', 'not_found_error'],
  [413, 'invalid_request_error', 'request_too_large'],
  [422, 'invalid_request_error', 'invalid_request_error'],
  [429, 'rate_limit_error', 'rate_limit_error'],
  [502, 'server_error', 'api_error'],
  [503, 'overloaded_error', 'overloaded_error'],
  [504, 'server_error', 'timeout_error'],
] as const)
  test(`status ${status} is ${openai} to one and ${anthropic} to the other`, () => {
    const typeIn = (shape: 'openai' | 'anthropic') =>
      (providerError(shape, { ...told, status })['error'] as { readonly type: string }).type;
    assert.deepEqual([typeIn('openai'), typeIn('anthropic')], [openai, anthropic]);
  });

for (const [path, shape] of [
  ['/v1/chat/completions', 'openai'],
  ['/v1/chat', 'openai'],
  ['/v1/responses/resp_1', 'openai'],
  ['/v1/messages', 'anthropic'],
  ['/v1/messages/count_tokens', 'anthropic'],
  ['/v1/models/a', 'both'],
  ['/v1/messagesx', null],
  ['/v1/calls', null],
  ['/mcp', null],
] as const)
  test(`clients at ${path} read ${shape ?? 'problems'}`, () => assert.equal(errorShapeAt(path), shape));
