/** Answers that refuse, and what else a provider may say in place of an answer. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { closedPort } from '../../../test/support/http/closed-port.ts';
import {
  aReader,
  askerFor,
  failureOf,
  type Operation,
  protocols,
} from '../../../test/support/models/model-upstream.ts';
import { anthropicErrors, htmlError, openaiErrors, withHeaders } from '../../../test/support/models/provider-errors.ts';
import type { Fault } from '../../../test/support/models/script.ts';
import { startProvider } from '../../../test/support/models/start-provider.ts';
import { aProvider } from '../../../test/support/models/a-provider.ts';
import type { Failure } from '../../ports/upstream.ts';
import { createModelUpstream } from './model-upstream.ts';

const says = { text: 'It is fine today.', tokens: { input: 30, output: 6 } };

const errorAnswers: readonly (readonly [Operation, Parameters<typeof withHeaders>[0], Partial<Failure>])[] = [
  ['chat', withHeaders(openaiErrors.limited, { 'retry-after': '7' }), { kind: '429', retryAfterSeconds: 7 }],
  [
    'chat',
    withHeaders(openaiErrors.limited, { 'retry-after-ms': '1500', 'retry-after': '2' }),
    { kind: '429', retryAfterSeconds: 1.5 },
  ],
  [
    'messages',
    withHeaders(anthropicErrors.limited, {
      'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT',
      date: 'Wed, 21 Oct 2026 07:28:00 GMT',
    }),
    { kind: '429', retryAfterSeconds: 30 },
  ],
  ['chat', openaiErrors.limited, { kind: '429', retryAfterSeconds: null }],
  [
    'chat',
    withHeaders(openaiErrors.noQuota, { 'retry-after': '7' }),
    { kind: '429', subject: 'quota', retryAfterSeconds: null },
  ],
  ['messages', anthropicErrors.overloaded, { kind: '5xx', subject: 'overloaded' }],
  ['responses', openaiErrors.contextTooLong, { kind: '400_invalid', subject: 'context_window' }],
  ['chat', openaiErrors.badKey, { kind: '401_unauthenticated' }],
  ['messages', htmlError(502), { kind: '5xx', subject: null }],
];

for (const [operation, refusal, expected] of errorAnswers)
  test(`${operation}: ${refusal.status} is ${JSON.stringify(expected)}, also of a stream, and used nothing`, async (t) => {
    const provider = await startProvider(t, { always: { refuses: refusal } });
    for (const stream of [false, true]) {
      const failure = failureOf(await askerFor(t, provider)(operation, { stream }, { relay: aReader() }));
      assert.deepEqual({ ...failure, ...expected }, failure);
      assert.equal(failure.used, null);
    }
  });

test('an error in place of the first event is that error, and used nothing', async (t) => {
  const fault: Fault = { kind: 'error_event', after: 0, event: null, data: openaiErrors.limited.body };
  const provider = await startProvider(t, { always: { fault } });
  const failure = failureOf(await askerFor(t, provider)('chat', { stream: true }, { relay: aReader() }));
  assert.deepEqual([failure.kind, failure.used], ['429', null]);
});

test('an error after the first event is a broken stream; the provider still says what it used, if it did', async (t) => {
  const data = anthropicErrors.overloaded.body;
  const provider = await startProvider(t, {
    always: { says, fault: { kind: 'error_event', after: 4, event: 'error', data } },
  });
  const failure = failureOf(await askerFor(t, provider)('messages', { stream: true }, { relay: aReader() }));
  assert.deepEqual([failure.kind, failure.subject, failure.used], ['5xx', 'stream_broken', undefined]);
  // Its totals come right before its last event.
  const last = 9;
  provider.always({ says, fault: { kind: 'drop', when: last } });
  const late = failureOf(await askerFor(t, provider)('messages', { stream: true }, { relay: aReader() }));
  assert.deepEqual(late.used, { input_tokens: 30, output_tokens: 6, total_tokens: 36 });
});

test('a stream that was not asked for is no answer, and an answer without the stream that was asked for is one', async (t) => {
  const provider = await startProvider(t, { always: { fault: { kind: 'wrong_type' } } });
  const ask = askerFor(t, provider);
  assert.equal((await ask('chat')).kind, 'returned');
  assert.equal(failureOf(await ask('chat', { stream: true })).kind, 'schema_validation');
});

test('an answer beyond the limit is refused, plain or streamed', async (t) => {
  const provider = await startProvider(t, { always: { says: { text: 'x'.repeat(50_000), pieceChars: 1_000 } } });
  const ask = askerFor(t, provider, { limits: { maxResponseBytes: 10_000 } }, { limits: { maxStreamBytes: 10_000 } });
  assert.equal(failureOf(await ask('chat')).kind, 'schema_validation');
  const streamed = failureOf(await ask('chat', { stream: true }, { relay: aReader() }));
  assert.deepEqual([streamed.kind, streamed.subject], ['5xx', 'stream_broken']);
});

test('too many events are a broken stream', async (t) => {
  const provider = await startProvider(t, { always: { says } });
  const failure = failureOf(
    await askerFor(t, provider, {}, { limits: { maxEvents: 4 } })('chat', { stream: true }, { relay: aReader() }),
  );
  assert.deepEqual([failure.kind, failure.subject], ['5xx', 'stream_broken']);
});

test('nothing is sent where nobody listens, and none of it counts as used', async (t) => {
  const url = `http://127.0.0.1:${await closedPort()}`;
  const failure = failureOf(await askerFor(t, { openai: url, anthropic: url })('chat'));
  assert.deepEqual([failure.kind, failure.effect], ['never_sent', 'none']);
});

test('a provider that repeats its key does not tell it to anybody', async (t) => {
  const key = 'Bearer sk-of-the-file-0123456789';
  const provider = await startProvider(t, { always: { says: { text: `your key is ${key}`, pieceChars: 1_000 } } });
  const ask = askerFor(t, provider, { headers: { Authorization: key } });
  const reader = aReader();
  const told = [await ask('chat'), await ask('chat', { stream: true }, { relay: reader }), reader.events];
  assert.doesNotMatch(JSON.stringify(told), /sk-of-the-file/);
  provider.always({
    refuses: { status: 401, body: { error: { message: `bad key ${key}`, code: 'invalid_api_key' } } },
  });
  assert.doesNotMatch(JSON.stringify(await ask('chat')), /sk-of-the-file/);
});

test('a query in the address goes with every request', async (t) => {
  const provider = await startProvider(t);
  const url = `${provider.openai}?api-version=1`;
  const result = await askerFor(t, { openai: url, anthropic: url })('chat');
  assert.equal(result.kind, 'returned');
  assert.equal(provider.ledger[0]?.path, '/v1/chat/completions?api-version=1');
});

describe('what a provider says of itself', () => {
  const listed = async (
    t: Parameters<typeof startProvider>[0],
    url: string,
    kind: 'openai' | 'anthropic',
    headers = {},
  ) => {
    const protocol = protocols[kind];
    if (protocol === undefined) throw new Error(kind);
    const made = createModelUpstream(aProvider({ kind, url, protocol, headers }));
    t.after(made.close);
    return made.list([], new AbortController().signal);
  };

  test('is read from its list of models', async (t) => {
    const provider = await startProvider(t, { models: ['claude'] });
    assert.deepEqual(await listed(t, provider.anthropic, 'anthropic'), {
      ok: true,
      models: [{ name: 'claude', contextTokens: 200_000, maxOutputTokens: 64_000 }],
    });
    const openai = await listed(t, provider.openai, 'openai');
    assert.deepEqual(openai, { ok: true, models: [{ name: 'claude' }] });
  });

  test('is a problem if it refuses, or cannot be reached', async (t) => {
    const provider = await startProvider(t, { keys: ['k'] });
    assert.deepEqual(await listed(t, provider.openai, 'openai'), {
      ok: false,
      problem: 'it answered with HTTP status 401',
    });
    const nowhere = await listed(t, `http://127.0.0.1:${await closedPort()}`, 'openai');
    assert.equal(nowhere?.ok, false);
  });
});

test('what is no request is not sent', async (t) => {
  const provider = await startProvider(t);
  const made = createModelUpstream(
    aProvider({ name: 'it', url: provider.openai, protocol: protocols['openai'] as never }),
  );
  t.after(made.close);
  const { attemptOf } = await import('../../../test/support/function-upstream.ts');
  const invoke = (tool: string, args: unknown) =>
    made.upstream.invoke(attemptOf(tool, args), new AbortController().signal);
  assert.equal(failureOf(await invoke('it/chat', 'text')).kind, 'schema_validation');
  for (const tool of ['it/nothing', 'it/toString', 'other/chat', 'chat', ''])
    assert.equal(failureOf(await invoke(tool, {})).kind, '404_not_found');
  assert.equal(provider.ledger.length, 0);
});
