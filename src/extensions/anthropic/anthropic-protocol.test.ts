import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listings } from '../../../test/support/models/model-listings.ts';
import { anthropicErrors, type Refusal } from '../../../test/support/models/provider-errors.ts';
import { anthropicProtocol } from './anthropic-protocol.ts';
import { messages } from './messages.ts';

const errors: readonly (readonly [string, Refusal, string, string | null])[] = [
  ['an invalid request', anthropicErrors.invalid, '400_invalid', null],
  ['a prompt too long, which has no code of its own', anthropicErrors.contextTooLong, '400_invalid', null],
  ['a bad key', anthropicErrors.badKey, '401_unauthenticated', null],
  ['credit that is used up', anthropicErrors.noCredit, '429', 'quota'],
  ['a permission that is missing', anthropicErrors.forbidden, '403_forbidden', null],
  ['no such model', anthropicErrors.noSuchModel, '404_not_found', null],
  ['a conflict', anthropicErrors.conflict, '409_conflict', null],
  ['a body too large', anthropicErrors.tooLarge, '400_invalid', null],
  ['an unprocessable request', anthropicErrors.unprocessable, '400_invalid', null],
  ['a rate limit', anthropicErrors.limited, '429', null],
  ['a limit of spending', anthropicErrors.noQuota, '429', 'quota'],
  ['a failure', anthropicErrors.failed, '5xx', null],
  ['a timeout of its own', anthropicErrors.timedOut, '5xx', null],
  ['an overload', anthropicErrors.overloaded, '5xx', 'overloaded'],
];

describe('errors of Anthropic', () => {
  for (const [what, { status, body }, kind, subject] of errors) {
    test(`${what} is ${kind}${subject === null ? '' : `, about ${subject}`}`, () => {
      const failure = messages.readError({ status, headers: {}, body });
      assert.deepEqual([failure?.kind, failure?.subject], [kind, subject]);
    });
    // These have a type that only their status tells apart.
    if (status === 409) continue;
    test(`${what} is the same within a stream`, () => {
      const taken = messages.read({}).take({ event: 'error', data: JSON.stringify(body) });
      assert.deepEqual(taken.kind === 'failed' && [taken.failure.kind, taken.failure.subject], [kind, subject]);
    });
  }

  test('an overload that a proxy tells with another status is an overload', () =>
    assert.equal(
      messages.readError({ status: 500, headers: {}, body: anthropicErrors.overloaded.body })?.subject,
      'overloaded',
    ));
});

test('what caches hold is counted beside the input', () => {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 60,
    cache_creation_input_tokens: 30,
    output_tokens: 5,
  };
  const read = { inputTokens: 100, outputTokens: 5, cacheReadTokens: 60, cacheWriteTokens: 30 };
  assert.deepEqual(messages.usage({ usage }), read);
  assert.deepEqual(messages.usage({ usage: { ...usage, cache_read_input_tokens: null } }), {
    ...read,
    inputTokens: 40,
    cacheReadTokens: 0,
  });
  assert.equal(messages.usage({ usage: {} }), null);
});

test('what a request needs is read from it', () => {
  const args = { model: 'c', system: 'abc', messages: [], max_tokens: 99, tools: [{ name: 't' }] };
  assert.deepEqual(messages.needs(args), {
    model: 'c',
    streaming: false,
    tools: true,
    inputChars: 'abc'.length + 'namet'.length,
    maxOutputTokens: 99,
  });
});

test('a list of models says how much they read and write', () =>
  assert.deepEqual(anthropicProtocol.listing?.read(listings.anthropic(['claude'])), [
    { name: 'claude', contextTokens: 200_000, maxOutputTokens: 64_000 },
  ]));
