/** Messages: `POST /v1/messages`. */
import type {
  Json,
  JsonObject,
  ModelNeeds,
  ModelOperation,
  ProviderEvent,
  StreamedText,
  StreamReader,
  TokenUsage,
} from '../../extension/index.ts';
import { charsIn, countOf, isObject, listOf, objectOf, parseJson, textOf } from '../shared/read-json.ts';
import { readAnthropicError, readStreamError, sayError } from './anthropic-errors.ts';
import { MessageFold } from './fold-message.ts';

function needs(args: JsonObject): ModelNeeds {
  const read = ['system', 'messages', 'tools'];
  return {
    model: textOf(args['model']),
    streaming: args['stream'] === true,
    tools: listOf(args['tools']).length > 0,
    inputChars: read.reduce((sum, name) => sum + charsIn(args[name]), 0),
    maxOutputTokens: countOf(args['max_tokens']),
  };
}

/** What caches hold is not a part of `input_tokens`. What a message that has not ended says is not yet the sum. */
function usage(answer: Json): TokenUsage | null {
  const { usage: given, stop_reason } = objectOf(answer);
  const said = objectOf(given);
  if (stop_reason === null) return null;
  const plain = countOf(said['input_tokens']);
  if (plain === null) return null;
  const cacheReadTokens = countOf(said['cache_read_input_tokens']) ?? 0;
  const cacheWriteTokens = countOf(said['cache_creation_input_tokens']) ?? 0;
  return {
    inputTokens: plain + cacheReadTokens + cacheWriteTokens,
    outputTokens: countOf(said['output_tokens']) ?? 0,
    cacheReadTokens,
    cacheWriteTokens,
  };
}

class MessagesReader implements StreamReader {
  readonly #fold = new MessageFold();

  take({ event, data }: ProviderEvent): ReturnType<StreamReader['take']> {
    const read = parseJson(data);
    if (!isObject(read)) return { kind: 'malformed' };
    const type = textOf(read['type']) ?? event;
    if (type === 'error') return { kind: 'failed', failure: readStreamError(read) };
    this.#fold.take(read);
    return { kind: type === 'message_stop' ? 'done' : 'more' };
  }

  textOf({ data }: ProviderEvent): readonly StreamedText[] {
    const { index, delta } = objectOf(parseJson(data));
    return ['text', 'thinking', 'partial_json'].flatMap((field) => {
      const part = textOf(objectOf(delta)[field]);
      return part === null || part === '' ? [] : [{ text: `${String(index)} ${field}`, path: ['delta', field], part }];
    });
  }

  answer(): JsonObject {
    return this.#fold.answer();
  }
}

const write = (event: JsonObject): ProviderEvent => ({ event: textOf(event['type']), data: JSON.stringify(event) });

function asStream(answer: Json): readonly ProviderEvent[] {
  const { content = [], stop_reason = null, stop_sequence = null, ...rest } = objectOf(answer);
  const said = objectOf(rest['usage']);
  const begun = Object.hasOwn(said, 'output_tokens') ? { ...said, output_tokens: 0 } : said;
  const message = { ...rest, content: [], stop_reason: null, stop_sequence: null, usage: begun };
  const all: JsonObject[] = [
    { type: 'message_start', message },
    ...listOf(content).flatMap((block, index) => eventsOfBlock(objectOf(block), index)),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: said },
    { type: 'message_stop' },
  ];
  return all.map(write);
}

function eventsOfBlock(block: JsonObject, index: number): readonly JsonObject[] {
  const { text, thinking, signature, input } = block;
  const deltas: JsonObject[] = [];
  const emptied: Record<string, Json> = {};
  if (typeof text === 'string' && block['type'] === 'text') {
    deltas.push({ type: 'text_delta', text });
    emptied['text'] = '';
  }
  if (typeof thinking === 'string') {
    deltas.push({ type: 'thinking_delta', thinking });
    emptied['thinking'] = '';
  }
  if (typeof signature === 'string') {
    deltas.push({ type: 'signature_delta', signature });
    emptied['signature'] = '';
  }
  if (isObject(input)) {
    deltas.push({ type: 'input_json_delta', partial_json: JSON.stringify(input) });
    emptied['input'] = {};
  }
  return [
    { type: 'content_block_start', index, content_block: { ...block, ...emptied } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

export const messages: ModelOperation = {
  path: '/v1/messages',
  description: 'Asks a model of this provider for a message (messages).',
  input: {
    type: 'object',
    properties: {
      model: { type: 'string', minLength: 1 },
      messages: { type: 'array', items: { type: 'object' } },
      max_tokens: { type: 'integer', minimum: 1 },
      stream: { type: 'boolean' },
    },
    required: ['model', 'messages', 'max_tokens'],
  },
  needs,
  withModel: (args, model) => ({ ...args, model }),
  usage,
  readError: readAnthropicError,
  read: () => new MessagesReader(),
  asStream,
  sayError,
  sayErrorInStream: (reply, status) => [{ event: 'error', data: JSON.stringify(sayError(reply, status)) }],
};
