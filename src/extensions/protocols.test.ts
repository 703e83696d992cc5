/** What holds for every operation: the stream of an answer is that answer, and an answer is a stream again. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { messagesAnswer, messagesStream } from '../../test/support/models/anthropic-messages.ts';
import { chatAnswer, chatStream } from '../../test/support/models/openai-chat.ts';
import { responsesAnswer, responsesStream } from '../../test/support/models/openai-responses.ts';
import { type Asked, created, type Said, type WireEvent } from '../../test/support/models/said.ts';
import { errorSamples } from '../../test/support/reply-samples.ts';
import type { Json, JsonObject, ModelOperation } from '../extension/index.ts';
import { messages } from './anthropic/messages.ts';
import { chat } from './openai/chat.ts';
import { responses } from './openai/responses.ts';

const asked = (more: JsonObject = {}): Asked => ({
  id: '7',
  model: 'm',
  body: { model: 'm', ...more },
  createdAt: created,
});

const operations: readonly (readonly [
  string,
  ModelOperation,
  (said: Said, asked: Asked) => JsonObject,
  (said: Said, asked: Asked) => readonly WireEvent[],
])[] = [
  ['chat', chat, chatAnswer, chatStream],
  ['responses', responses, responsesAnswer, responsesStream],
  ['messages', messages, messagesAnswer, messagesStream],
];

function fold(operation: ModelOperation, events: readonly WireEvent[]): Json {
  const reader = operation.read({});
  const kinds = events.map((event) => reader.take(event).kind);
  assert.deepEqual([kinds.at(-1), new Set(kinds.slice(0, -1))], ['done', new Set(['more'])]);
  return reader.answer();
}

/** Chat completions alone say an empty list in an answer that their stream does not say. */
function withoutAnnotations(answer: JsonObject): JsonObject {
  const choices = answer['choices'] as readonly JsonObject[] | undefined;
  if (choices === undefined) return answer;
  const bare = ({ annotations: _, ...message }: JsonObject) => message;
  return { ...answer, choices: choices.map((each) => ({ ...each, message: bare(each['message'] as JsonObject) })) };
}

const tokens = { input: 40, output: 9, cacheRead: 10 };
const tools = [
  { id: 'call_1', name: 'weather', input: { city: 'Zürich', days: 3 } },
  { id: 'call_2', name: 'clock', input: {} },
];
const scripts: Readonly<Record<string, Said>> = {
  'a text': { text: 'The weather is fine, ünïcödé and 🎉.', tokens },
  'calls of tools': { tools, tokens },
  'a text, then calls of tools': { text: 'Let me see.', tools, tokens, pieceChars: 1 },
  'thinking before a text': { reasoning: 'Hm, let me think.', text: 'Yes.', tokens },
  'a refusal': { refusal: 'I cannot help with that.', tokens },
  'an answer that was cut': { text: 'So much', stop: 'length', tokens },
  'nothing at all': { tokens },
};

for (const [name, operation, answer, stream] of operations)
  describe(name, () => {
    for (const [what, said] of Object.entries(scripts))
      test(`${what}: the stream makes what the answer says`, () => {
        const request = asked({ stream_options: { include_usage: true } });
        assert.deepEqual(fold(operation, stream(said, request)), withoutAnnotations(answer(said, request)));
      });

    test('any answer, written as a stream and read again, is that answer', () => {
      const said = fc.record(
        {
          reasoning: fc.string({ minLength: 1 }),
          text: fc.string({ unit: 'grapheme', minLength: 1 }),
          tools: fc.array(
            fc.record({
              id: fc.string({ minLength: 1 }),
              name: fc.string({ minLength: 1 }),
              input: fc.dictionary(fc.string(), fc.jsonValue()),
            }),
            { minLength: 1 },
          ),
        },
        { requiredKeys: [] },
      );
      fc.assert(
        fc.property(said, fc.integer({ min: 1, max: 3 }), (each, n) => {
          const whole = JSON.parse(JSON.stringify(answer(each as Said, asked({ n })))) as JsonObject;
          assert.deepEqual(fold(operation, operation.asStream(whole)), whole);
        }),
      );
    });

    test('a stream that was cut anywhere leaves an answer that is a beginning of the whole', () => {
      const events = stream({ reasoning: 'Hm.', text: 'Let me see.', tools, tokens }, asked());
      for (let length = 0; length < events.length; length++) {
        const reader = operation.read({});
        for (const event of events.slice(0, length)) assert.equal(reader.take(event).kind, 'more');
        assert.equal(typeof reader.answer(), 'object');
      }
    });

    test('an event that is no JSON is malformed, and one that nobody knows changes nothing', () => {
      const reader = operation.read({});
      assert.equal(reader.take({ event: null, data: '{"a": ' }).kind, 'malformed');
      assert.equal(reader.take({ event: null, data: '"text"' }).kind, 'malformed');
      const before = JSON.stringify(reader.answer());
      assert.equal(reader.take({ event: 'vendor.news', data: '{"type":"vendor.news"}' }).kind, 'more');
      if (name !== 'chat') assert.equal(JSON.stringify(reader.answer()), before);
    });

    test('the parts of each text, joined, are the texts of the answer', () => {
      const said: Said = { text: 'A longer text, cut into pieces.', tools, tokens, pieceChars: 4 };
      const reader = operation.read({});
      const texts = new Map<string, string>();
      for (const event of stream(said, asked()))
        for (const { text, path, part } of event.data.startsWith('[') ? [] : reader.textOf(event)) {
          texts.set(text, (texts.get(text) ?? '') + part);
          assert.equal(at(JSON.parse(event.data) as Json, path), part);
        }
      const found = [...texts.values()];
      for (const whole of [said.text ?? '', ...tools.map(({ input }) => JSON.stringify(input))])
        assert.ok(found.includes(whole), `${whole} among ${JSON.stringify(found)}`);
    });

    test('a refusal of ours has every member of the reply, and ends a stream as a failure', () => {
      for (const reply of Object.values(errorSamples)) {
        const written = operation.sayError(reply, 429)['error'] as JsonObject;
        const { message, code, ...rest } = JSON.parse(JSON.stringify(reply)) as JsonObject;
        assert.deepEqual({ ...written, ...rest }, written);
        assert.deepEqual([written['message'], written['code'], written['type']], [message, code, 'rate_limit_error']);
        const reader = operation.read({});
        const kinds = operation.sayErrorInStream(reply, 500).map((event) => reader.take(event).kind);
        assert.deepEqual(kinds, ['failed']);
      }
    });
  });

const at = (value: Json, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>((within, key) => (within as Record<string | number, unknown>)[key], value);
