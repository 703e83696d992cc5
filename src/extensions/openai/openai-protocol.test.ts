import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listings } from '../../../test/support/models/model-listings.ts';
import { chatStream } from '../../../test/support/models/openai-chat.ts';
import { htmlError, openaiErrors, type Refusal } from '../../../test/support/models/provider-errors.ts';
import { created } from '../../../test/support/models/said.ts';
import type { JsonObject, ProviderAnswer } from '../../extension/index.ts';
import { chat } from './chat.ts';
import { openaiProtocol } from './openai-protocol.ts';
import { responses } from './responses.ts';

const answerOf = ({ status, headers = {}, body }: Refusal): ProviderAnswer => ({
  status,
  headers,
  body: typeof body === 'string' ? null : body,
});

const errors: readonly (readonly [string, Refusal, string, string | null, string])[] = [
  ['an invalid request', openaiErrors.invalid, '400_invalid', null, 'invalid_request_error'],
  ['a context too long', openaiErrors.contextTooLong, '400_invalid', 'context_window', 'context_length_exceeded'],
  ['content refused', openaiErrors.contentRefused, '400_invalid', 'content_refused', 'content_policy_violation'],
  ['content filtered', openaiErrors.contentFiltered, '400_invalid', 'content_refused', 'content_filter'],
  ['a bad key', openaiErrors.badKey, '401_unauthenticated', null, 'invalid_api_key'],
  ['a forbidden country', openaiErrors.forbidden, '403_forbidden', null, 'unsupported_country_region_territory'],
  ['no such model', openaiErrors.noSuchModel, '404_not_found', null, 'model_not_found'],
  ['a conflict', openaiErrors.conflict, '409_conflict', null, 'invalid_request_error'],
  ['a body too large', openaiErrors.tooLarge, '400_invalid', null, 'invalid_request_error'],
  ['an unprocessable request', openaiErrors.unprocessable, '400_invalid', null, 'invalid_request_error'],
  ['a rate limit', openaiErrors.limited, '429', null, 'rate_limit_exceeded'],
  ['a quota that is used up', openaiErrors.noQuota, '429', 'quota', 'insufficient_quota'],
  ['a failure', openaiErrors.failed, '5xx', null, 'server_error'],
  ['an overload', openaiErrors.overloaded, '5xx', 'overloaded', 'server_overloaded'],
  ['a proxy that times out', htmlError(504), '5xx', null, 'Http504'],
  ['a payment that is missing', { status: 402, body: { error: { message: 'no credits' } } }, '429', 'quota', 'Http402'],
  ['an error without an object', { status: 400, body: { error: 'bad' } }, '400_invalid', null, 'Http400'],
  ['a code that is a number', { status: 429, body: { error: { code: 429 } } }, '429', null, 'Http429'],
  ['a code that is a name of objects', { status: 500, body: { error: { code: 'toString' } } }, '5xx', null, 'toString'],
];

describe('errors of OpenAI', () => {
  for (const [what, refusal, kind, subject, errorType] of errors)
    test(`${what} is ${kind}${subject === null ? '' : `, about ${subject}`}`, () => {
      const failure = chat.readError(answerOf(refusal));
      assert.deepEqual([failure?.kind, failure?.subject, failure?.errorType], [kind, subject, errorType]);
    });

  test('words decide nothing', () => {
    const body = { error: { message: 'context_length_exceeded insufficient_quota', type: null, code: null } };
    assert.deepEqual(chat.readError({ status: 400, headers: {}, body })?.subject, null);
  });

  const inStreams: readonly (readonly [string, JsonObject, string, string | null])[] = [
    ['a rate limit', { error: { code: 'rate_limit_exceeded' } }, '429', null],
    ['a server error', { error: { type: 'server_error' } }, '5xx', null],
    ['a context too long', { error: { code: 'context_length_exceeded' } }, '400_invalid', 'context_window'],
    ['something unknown', { error: { message: 'no' } }, '5xx', null],
  ];
  for (const [what, body, kind, subject] of inStreams)
    test(`${what} within a stream is ${kind}`, () => {
      const event = { type: 'error', ...body };
      const told = [
        chat.read({}).take({ event: null, data: JSON.stringify(body) }),
        responses.read({}).take({ event: 'error', data: JSON.stringify(event) }),
      ];
      for (const taken of told)
        assert.deepEqual(taken.kind === 'failed' && [taken.failure.kind, taken.failure.subject], [kind, subject]);
    });

  test('the error of a response may also be written in its event itself', () => {
    const event = { type: 'error', code: 'rate_limit_exceeded', message: 'slow down', param: null };
    const taken = responses.read({}).take({ event: 'error', data: JSON.stringify(event) });
    assert.deepEqual(taken.kind === 'failed' && [taken.failure.kind, taken.failure.message], ['429', 'slow down']);
  });

  test('a response that failed is a failure', () => {
    const event = { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } };
    const taken = responses.read({}).take({ event: 'response.failed', data: JSON.stringify(event) });
    assert.deepEqual(taken.kind === 'failed' && taken.failure.kind, '5xx');
  });
});

describe('the usage of a stream', () => {
  const asked = { model: 'm', stream: true };
  const events = (body: JsonObject) =>
    chatStream(
      { text: 'Hi there', tokens: { input: 3, output: 2 } },
      { id: '1', model: 'm', body, createdAt: created },
    );
  const toldOf = (given: JsonObject, body: JsonObject) => {
    const reader = chat.read(given);
    return events(body).flatMap((event) => reader.told?.(event) ?? []);
  };

  test('is always asked for, beside other options of the stream', () => {
    const sent = chat.withModel({ ...asked, stream_options: { include_obfuscation: false } }, 'other');
    assert.deepEqual(sent, {
      model: 'other',
      stream: true,
      stream_options: { include_obfuscation: false, include_usage: true },
    });
    assert.deepEqual(chat.withModel({ model: 'm' }, 'm'), { model: 'm' });
  });

  test('is not told to whoever did not ask for it', () => {
    assert.deepEqual(toldOf(asked, chat.withModel(asked, 'm')), events(asked));
  });

  test('is told untouched to whoever asked for it', () => {
    const given = { ...asked, stream_options: { include_usage: true } };
    assert.deepEqual(toldOf(given, given), events(given));
  });

  test('is left out of an answer that is told as a stream, likewise', () => {
    const answer = { id: 'x', choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } };
    assert.doesNotMatch(JSON.stringify(chat.asStream(answer, asked)), /usage/);
    assert.match(JSON.stringify(chat.asStream(answer)), /usage/);
  });
});

test('what a request needs is read from it', () => {
  const args = {
    model: 'gpt-5',
    messages: [{ role: 'user', content: 'abcd' }],
    tools: [{ type: 'function' }],
    max_tokens: 7,
    max_completion_tokens: 9,
    n: 2,
    stream: true,
  };
  const { inputChars, ...rest } = chat.needs(args);
  assert.deepEqual(rest, { model: 'gpt-5', streaming: true, tools: true, maxOutputTokens: 9, answers: 2 });
  assert.ok(inputChars >= 'roleusercontentabcd'.length);
  const image = { type: 'image_url', image_url: { url: 'x'.repeat(9_999) } };
  assert.ok(chat.needs({ ...args, messages: [{ role: 'user', content: [image] }] }).inputChars < 200);
  assert.equal(responses.needs({ model: 'm', input: 'abc', max_output_tokens: 5 }).maxOutputTokens, 5);
});

test('tokens from a cache are a part of the input', () => {
  const usage = { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60 } };
  const read = { inputTokens: 100, outputTokens: 5, cacheReadTokens: 60, cacheWriteTokens: 0 };
  assert.deepEqual(chat.usage({ usage }), read);
  assert.deepEqual(chat.usage({}), null);
  assert.deepEqual(chat.usage({ usage: { prompt_tokens: -1 } }), null);
  const said = { input_tokens: 100, output_tokens: 5, input_tokens_details: { cached_tokens: 60 } };
  assert.deepEqual(responses.usage({ usage: said }), read);
});

test('a list of models says what each server says of them', () => {
  const read = openaiProtocol.listing?.read;
  assert.deepEqual(read?.(listings.openai(['a', 'b'])), [{ name: 'a' }, { name: 'b' }]);
  assert.deepEqual(read?.(listings.vllm(['a'])), [{ name: 'a', contextTokens: 32_768 }]);
  assert.deepEqual(read?.(listings.openrouter(['a'])), [
    { name: 'a', contextTokens: 131_072, maxOutputTokens: 16_384, tools: true },
  ]);
  assert.deepEqual(read?.('no list'), []);
});
