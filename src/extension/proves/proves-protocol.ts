/**
 * What must the protocol of a kind of providers of models do? A stream is the answer that it brings, and an answer is
 * a stream again. The harness has what the provider really says.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ErrorReply } from '../../core/call/reply.ts';
import type { ModelOperation, ModelProtocol, ProviderEvent } from '../../core/model/protocol.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';

/** One request, and what the provider answers, whole and as a stream. */
export interface ProtocolSample {
  readonly what: string;
  readonly request: JsonObject;
  readonly answer: JsonObject;
  readonly stream: readonly ProviderEvent[];
}

export interface ProtocolHarness {
  readonly protocol: ModelProtocol;
  /** By the name of the operation; each needs some. */
  readonly samples: Readonly<Record<string, readonly ProtocolSample[]>>;
}

export function provesProtocol(name: string, { protocol, samples }: ProtocolHarness): void {
  for (const [operation, of] of Object.entries(protocol.operations))
    describe(`${operation} of ${name} keeps the contract of protocols`, () => {
      const all = samples[operation] ?? [];
      test('there are samples of it', () => assert.ok(all.length > 0));
      test('what it asks for is at a path, and has a schema', () => {
        assert.match(of.path, /^\//);
        assert.ok(of.description !== '');
        assert.equal(typeof of.input, 'object');
      });
      for (const sample of all) provesSample(of, sample);
      provesRefusals(of);
    });
}

function provesSample(of: ModelOperation, { what, request, answer, stream }: ProtocolSample): void {
  test(`${what}: the stream brings what the answer says, and as many tokens`, () => {
    const streamed = fold(of, stream);
    assert.deepEqual(streamed, answer);
    assert.deepEqual(of.usage(streamed), of.usage(answer));
  });

  test(`${what}: the answer, written as a stream and read again, is that answer`, () => {
    assert.deepEqual(fold(of, of.asStream(answer)), answer);
  });

  test(`${what}: a stream that was cut anywhere is not done, and its beginning can be read`, () => {
    for (let length = 0; length < stream.length; length++) {
      const reader = of.read(request);
      for (const event of stream.slice(0, length)) assert.equal(reader.take(event).kind, 'more');
      assert.doesNotThrow(() => JSON.stringify(reader.answer()));
    }
  });

  test(`${what}: the same request for another model differs in nothing else`, () => {
    const { model: _, ...needs } = of.needs(request);
    const other = of.withModel(request, 'another-model');
    const { model, ...otherNeeds } = of.needs(other);
    assert.deepEqual([model, otherNeeds], ['another-model', needs]);
  });
}

function provesRefusals(of: ModelOperation): void {
  test('what is no event of it does not throw', () => {
    for (const data of ['', '{', '"text"', '[]', '{}', 'null'])
      assert.doesNotThrow(() => of.read({}).take({ event: null, data }));
  });

  test('an answer or a request of any shape does not throw', () => {
    for (const odd of [null, 'text', 7, [], {}, { choices: 7 }, { messages: 'x' }] as readonly Json[]) {
      assert.doesNotThrow(() => of.usage(odd));
      assert.doesNotThrow(() => of.readError({ status: 500, headers: {}, body: odd }));
      if (typeof odd === 'object' && odd !== null && !Array.isArray(odd))
        assert.doesNotThrow(() => of.needs(odd as JsonObject));
    }
  });

  test('a refusal of ours in a stream is read as a failure', () => {
    const reader = of.read({});
    const kinds = of.sayErrorInStream(aRefusal, 429).map((event) => reader.take(event).kind);
    assert.ok(kinds.includes('failed'), kinds.join(', '));
  });
}

const aRefusal = {
  error: 'denied',
  requested: 'openai/chat',
  class: 'Governance',
  code: 'RATE_EXCEEDED',
  message: 'denied: openai/chat rate limit (10/minute) exceeded',
  human_message: 'denied: openai/chat rate limit (10/minute) exceeded',
  effect: 'none',
  resolution: { type: 'retry_after', retry_after_seconds: 7 },
  valid_next_actions: [],
  call_id: 'call_1',
  session: null,
} as unknown as ErrorReply;

function fold(of: ModelOperation, events: readonly ProviderEvent[]): Json {
  const reader = of.read({});
  const kinds = events.map((event) => reader.take(event).kind);
  assert.deepEqual([kinds.at(-1), kinds.slice(0, -1).every((kind) => kind === 'more')], ['done', true]);
  return reader.answer();
}
