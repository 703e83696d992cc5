/** Chat completions: `POST /chat/completions`. */
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
import { ChunkFold } from './fold-chunks.ts';
import { errorObject, readOpenaiError, readStreamError } from './openai-errors.ts';

const isSet = (value: Json | undefined): boolean => listOf(value).length > 0;

function needs(args: JsonObject): ModelNeeds {
  const read = ['messages', 'tools', 'functions', 'response_format'];
  return {
    model: textOf(args['model']),
    streaming: args['stream'] === true,
    tools: isSet(args['tools']) || isSet(args['functions']),
    inputChars: read.reduce((sum, name) => sum + charsIn(args[name]), 0),
    maxOutputTokens: countOf(args['max_completion_tokens']) ?? countOf(args['max_tokens']),
    answers: countOf(args['n']) ?? 1,
  };
}

const asksUsage = (args: JsonObject): boolean => objectOf(args['stream_options'])['include_usage'] === true;

/** A stream says what it used only if it is asked to. */
function withModel(args: JsonObject, model: string): JsonObject {
  if (args['stream'] !== true || asksUsage(args)) return { ...args, model };
  return { ...args, model, stream_options: { ...objectOf(args['stream_options']), include_usage: true } };
}

function usage(answer: Json): TokenUsage | null {
  const said = objectOf(objectOf(answer)['usage']);
  const [inputTokens, outputTokens] = [countOf(said['prompt_tokens']), countOf(said['completion_tokens'])];
  if (inputTokens === null) return null;
  const details = objectOf(said['prompt_tokens_details']);
  return {
    inputTokens,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: countOf(details['cached_tokens']) ?? 0,
    cacheWriteTokens: countOf(details['cache_write_tokens']) ?? 0,
  };
}

const done = '[DONE]';

class ChatReader implements StreamReader {
  readonly #fold = new ChunkFold();
  readonly #isUsageAsked: boolean;

  constructor(asked: JsonObject) {
    this.#isUsageAsked = asksUsage(asked);
  }

  take({ event, data }: ProviderEvent): ReturnType<StreamReader['take']> {
    if (data.startsWith(done)) return { kind: 'done' };
    const chunk = parseJson(data);
    if (!isObject(chunk)) return { kind: 'malformed' };
    const error = chunk['error'] ?? (event === 'error' ? chunk : null);
    if (error !== null) return { kind: 'failed', failure: readStreamError(error) };
    this.#fold.take(chunk);
    return { kind: 'more' };
  }

  /** INVARIANT: whoever did not ask for the usage hears what a provider tells those who do not. */
  told(given: ProviderEvent): ProviderEvent | null {
    if (this.#isUsageAsked || !given.data.includes('"usage"')) return given;
    const chunk = parseJson(given.data);
    if (!isObject(chunk) || !Object.hasOwn(chunk, 'usage')) return given;
    const { usage: said = null, ...rest } = chunk;
    if (said !== null && !isSet(chunk['choices'])) return null;
    return { event: given.event, data: JSON.stringify(rest) };
  }

  textOf({ data }: ProviderEvent): readonly StreamedText[] {
    const chunk = objectOf(parseJson(data));
    return listOf(chunk['choices']).flatMap((each, at) => {
      const { index = at, delta = null } = objectOf(each);
      return textsIn(delta, ['choices', at, 'delta'], `choice ${String(index)}`);
    });
  }

  answer(): JsonObject {
    return this.#fold.answer();
  }
}

/** Every text of a delta that grows. Calls of tools are told apart by their index. */
function textsIn(value: Json, path: readonly (string | number)[], text: string): readonly StreamedText[] {
  if (typeof value === 'string') return value === '' ? [] : [{ text, path, part: value }];
  if (Array.isArray(value))
    return (value as readonly Json[]).flatMap((each, at) => {
      const index = countOf(objectOf(each)['index']) ?? at;
      return textsIn(each, [...path, at], `${text} ${index}`);
    });
  return Object.entries(objectOf(value))
    .filter(([name]) => !['role', 'id', 'type', 'name'].includes(name))
    .flatMap(([name, each]) => textsIn(each, [...path, name], `${text} ${name}`));
}

const chunkEvent = (chunk: JsonObject): ProviderEvent => ({ event: null, data: JSON.stringify(chunk) });

/** One chunk with all of each choice, one with its end, one with the usage. */
function asStream(answer: Json, asked?: JsonObject): readonly ProviderEvent[] {
  const { choices = [], usage: said = null, ...rest } = objectOf(answer);
  const head = { ...rest, object: 'chat.completion.chunk' };
  const isUsageTold = said !== null && (asked === undefined || asksUsage(asked));
  const chunks = listOf(choices).flatMap((each) => {
    const { index = 0, message = {}, finish_reason = null, ...more } = objectOf(each);
    return [
      { ...head, choices: [{ index, delta: deltaOf(objectOf(message)), ...more, finish_reason: null }] },
      { ...head, choices: [{ index, delta: {}, finish_reason }] },
    ];
  });
  const none = chunks.length === 0 ? [{ ...head, choices: [] }] : [];
  const last = isUsageTold ? [{ ...head, choices: [], usage: said }] : [];
  return [...[...none, ...chunks, ...last].map(chunkEvent), { event: null, data: done }];
}

function deltaOf(message: JsonObject): JsonObject {
  const calls = message['tool_calls'];
  if (!Array.isArray(calls)) return message;
  return { ...message, tool_calls: (calls as readonly Json[]).map((call, index) => ({ index, ...objectOf(call) })) };
}

export const chat: ModelOperation = {
  path: '/chat/completions',
  description: 'Asks a model of this provider to continue a conversation (chat completions).',
  input: {
    type: 'object',
    properties: {
      model: { type: 'string', minLength: 1 },
      messages: { type: 'array', items: { type: 'object' } },
      stream: { type: ['boolean', 'null'] },
    },
    required: ['model', 'messages'],
  },
  needs,
  withModel,
  usage,
  readError: readOpenaiError,
  read: (asked) => new ChatReader(asked),
  asStream,
  sayError: (reply, status) => ({ error: errorObject(reply, status) }),
  sayErrorInStream: (reply, status) => [chunkEvent({ error: errorObject(reply, status) })],
};
