/** Responses: `POST /responses`. */
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
import { isLast, ResponseFold } from './fold-response.ts';
import { errorObject, readOpenaiError, readStreamError } from './openai-errors.ts';

function needs(args: JsonObject): ModelNeeds {
  const read = ['input', 'instructions', 'tools', 'text'];
  return {
    model: textOf(args['model']),
    streaming: args['stream'] === true,
    tools: listOf(args['tools']).length > 0,
    inputChars: read.reduce((sum, name) => sum + charsIn(args[name]), 0),
    maxOutputTokens: countOf(args['max_output_tokens']),
  };
}

function usage(answer: Json): TokenUsage | null {
  const said = objectOf(objectOf(answer)['usage']);
  const inputTokens = countOf(said['input_tokens']);
  if (inputTokens === null) return null;
  const details = objectOf(said['input_tokens_details']);
  return {
    inputTokens,
    outputTokens: countOf(said['output_tokens']) ?? 0,
    cacheReadTokens: countOf(details['cached_tokens']) ?? 0,
    cacheWriteTokens: countOf(details['cache_write_tokens']) ?? 0,
  };
}

class ResponsesReader implements StreamReader {
  readonly #fold = new ResponseFold();

  take({ event, data }: ProviderEvent): ReturnType<StreamReader['take']> {
    // Some servers end it as they end chat completions, after its last event.
    if (data.startsWith('[DONE]')) return { kind: 'more' };
    const read = parseJson(data);
    if (!isObject(read)) return { kind: 'malformed' };
    const type = textOf(read['type']) ?? event;
    // The error is written in the event itself, or in a field of it.
    if (type === 'error') return { kind: 'failed', failure: readStreamError(errorIn(read)) };
    this.#fold.take(read);
    if (type === 'response.failed')
      return { kind: 'failed', failure: readStreamError(objectOf(read['response'])['error'] ?? null) };
    return { kind: isLast(type) ? 'done' : 'more' };
  }

  textOf({ data }: ProviderEvent): readonly StreamedText[] {
    const { delta, output_index, content_index, summary_index, type } = objectOf(parseJson(data));
    if (typeof delta !== 'string' || delta === '') return [];
    const text = [type, output_index, content_index, summary_index].join(' ');
    return [{ text, path: ['delta'], part: delta }];
  }

  answer(): JsonObject {
    return this.#fold.answer();
  }
}

const errorIn = (event: JsonObject): JsonObject => {
  const { error, type: _, ...own } = event;
  return isObject(error) ? error : own;
};

const write = (events: readonly JsonObject[]): readonly ProviderEvent[] =>
  events.map((each, at) => ({
    event: textOf(each['type']),
    data: JSON.stringify({ ...each, sequence_number: at }),
  }));

function asStream(answer: Json): readonly ProviderEvent[] {
  const response = objectOf(answer);
  const started = { ...response, status: 'in_progress', output: [], usage: null };
  const { status } = response;
  const last = status === 'incomplete' || status === 'failed' ? status : 'completed';
  return write([
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...listOf(response['output']).flatMap((item, at) => eventsOfItem(objectOf(item), at)),
    { type: `response.${last}`, response },
  ]);
}

/** As an item begins: its texts come after that. */
function emptied(item: JsonObject): JsonObject {
  const isOpen = item['status'] === 'completed' ? { status: 'in_progress' } : {};
  if (item['type'] === 'message') return { ...item, ...isOpen, content: [] };
  if (item['type'] === 'reasoning') return { ...item, ...isOpen, summary: [] };
  return typeof item['arguments'] === 'string' ? { ...item, ...isOpen, arguments: '' } : item;
}

function eventsOfItem(item: JsonObject, at: number): readonly JsonObject[] {
  const place = { item_id: item['id'] ?? null, output_index: at };
  const parts = item['type'] === 'message' ? listOf(item['content']).map(objectOf) : [];
  const summary = item['type'] === 'reasoning' ? listOf(item['summary']).map(objectOf) : [];
  return [
    { type: 'response.output_item.added', output_index: at, item: emptied(item) },
    ...parts.flatMap((part, index) => eventsOfPart(part, { ...place, content_index: index })),
    ...summary.flatMap((part, index) => eventsOfSummary(part, { ...place, summary_index: index })),
    ...eventsOfArguments(item, place),
    { type: 'response.output_item.done', output_index: at, item },
  ];
}

function eventsOfPart(part: JsonObject, place: JsonObject): readonly JsonObject[] {
  const field = part['type'] === 'refusal' ? 'refusal' : 'text';
  const whole = textOf(part[field]);
  const kind = field === 'refusal' ? 'response.refusal' : 'response.output_text';
  const more = field === 'refusal' ? {} : { logprobs: [] };
  const texts =
    whole === null
      ? []
      : [
          { type: `${kind}.delta`, ...place, delta: whole, ...more },
          { type: `${kind}.done`, ...place, [field]: whole, ...more },
        ];
  return [
    { type: 'response.content_part.added', ...place, part: whole === null ? part : { ...part, [field]: '' } },
    ...texts,
    { type: 'response.content_part.done', ...place, part },
  ];
}

function eventsOfSummary(part: JsonObject, place: JsonObject): readonly JsonObject[] {
  const whole = textOf(part['text']) ?? '';
  return [
    { type: 'response.reasoning_summary_part.added', ...place, part: { ...part, text: '' } },
    { type: 'response.reasoning_summary_text.delta', ...place, delta: whole },
    { type: 'response.reasoning_summary_text.done', ...place, text: whole },
    { type: 'response.reasoning_summary_part.done', ...place, part },
  ];
}

function eventsOfArguments(item: JsonObject, place: JsonObject): readonly JsonObject[] {
  const whole = textOf(item['arguments']);
  if (item['type'] !== 'function_call' || whole === null) return [];
  return [
    { type: 'response.function_call_arguments.delta', ...place, delta: whole },
    { type: 'response.function_call_arguments.done', ...place, arguments: whole },
  ];
}

export const responses: ModelOperation = {
  path: '/responses',
  description: 'Asks a model of this provider for a response (responses).',
  input: {
    type: 'object',
    properties: { model: { type: 'string', minLength: 1 }, stream: { type: ['boolean', 'null'] } },
    required: ['model'],
  },
  needs,
  withModel: (args, model) => ({ ...args, model }),
  usage,
  readError: readOpenaiError,
  read: () => new ResponsesReader(),
  asStream,
  sayError: (reply, status) => ({ error: errorObject(reply, status) }),
  sayErrorInStream: (reply, status) => {
    const error = errorObject(reply, status);
    const { code = null, message = '' } = error;
    const data = { type: 'error', code, message, param: null, error, sequence_number: 0 };
    return [{ event: 'error', data: JSON.stringify(data) }];
  },
};
