/** Responses as OpenAI writes them: an answer, and the events, numbered, that bring the same answer. */
import type { JsonObject } from '../../../src/core/values/json.ts';
import { type Asked, event, piecesOf, type Said, tokensOf, type WireEvent } from './said.ts';

function usageOf(said: Said, asked: Asked): JsonObject {
  const { input, output, cacheRead } = tokensOf(said, asked);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

function responseOf(asked: Asked, status: string, output: readonly JsonObject[], usage: JsonObject | null): JsonObject {
  const { id, model, body, createdAt } = asked;
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: createdAt,
    status,
    background: false,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: body['instructions'] ?? null,
    max_output_tokens: body['max_output_tokens'] ?? null,
    model,
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: true,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: body['tools'] ?? [],
    top_p: 1,
    truncation: 'disabled',
    usage,
    user: null,
    metadata: {},
  } as JsonObject;
}

const textPart = (text: string) => ({ type: 'output_text', annotations: [], logprobs: [], text });
const refusalPart = (refusal: string) => ({ type: 'refusal', refusal });

function itemsOf(said: Said, { id }: Asked): readonly JsonObject[] {
  const { reasoning, text, refusal, tools = [] } = said;
  const parts = [
    ...(text === undefined ? [] : [textPart(text)]),
    ...(refusal === undefined ? [] : [refusalPart(refusal)]),
  ];
  const summary = [{ type: 'summary_text', text: reasoning ?? '' }];
  return [
    ...(reasoning === undefined ? [] : [{ id: `rs_${id}`, type: 'reasoning', summary }]),
    ...(parts.length === 0
      ? []
      : [{ id: `msg_${id}`, type: 'message', status: 'completed', content: parts, role: 'assistant' }]),
    ...tools.map((tool, at) => ({
      id: `fc_${id}_${at}`,
      type: 'function_call',
      status: 'completed',
      arguments: JSON.stringify(tool.input),
      call_id: tool.id,
      name: tool.name,
    })),
  ];
}

const statusOf = ({ stop }: Said): string => (stop === undefined ? 'completed' : 'incomplete');

export const responsesAnswer = (said: Said, asked: Asked): JsonObject =>
  responseOf(asked, statusOf(said), itemsOf(said, asked), usageOf(said, asked));

export function responsesStream(said: Said, asked: Asked): readonly WireEvent[] {
  const started = responseOf(asked, 'in_progress', [], null);
  const all: JsonObject[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...itemsOf(said, asked).flatMap((item, at) => eventsOfItem(item, at, said)),
    { type: `response.${statusOf(said)}`, response: responsesAnswer(said, asked) },
  ];
  return all.map((each, at) => event(String(each['type']), { ...each, sequence_number: at }));
}

function eventsOfItem(item: JsonObject, at: number, said: Said): readonly JsonObject[] {
  const place = { item_id: item['id'] ?? null, output_index: at };
  const added = { type: 'response.output_item.added', output_index: at, item: startOf(item) };
  const done = { type: 'response.output_item.done', output_index: at, item };
  return [added, ...eventsWithin(item, place, said), done];
}

/** As an item looks before anything of it was said. */
function startOf(item: JsonObject): JsonObject {
  if (item['type'] === 'reasoning') return { ...item, summary: [] };
  if (item['type'] === 'message') return { ...item, status: 'in_progress', content: [] };
  return { ...item, status: 'in_progress', arguments: '' };
}

function eventsWithin(item: JsonObject, place: JsonObject, said: Said): readonly JsonObject[] {
  if (item['type'] === 'reasoning') {
    const part = { type: 'summary_text', text: said.reasoning ?? '' };
    const here = { ...place, summary_index: 0 };
    return [
      { type: 'response.reasoning_summary_part.added', ...here, part: { ...part, text: '' } },
      ...piecesOf(part.text, said).map((delta) => ({
        type: 'response.reasoning_summary_text.delta',
        ...here,
        delta,
      })),
      { type: 'response.reasoning_summary_text.done', ...here, text: part.text },
      { type: 'response.reasoning_summary_part.done', ...here, part },
    ];
  }
  if (item['type'] === 'message')
    return (item['content'] as JsonObject[]).flatMap((p, at) => eventsOfPart(p, at, place, said));
  const whole = String(item['arguments']);
  return [
    ...piecesOf(whole, said).map((delta) => ({ type: 'response.function_call_arguments.delta', ...place, delta })),
    { type: 'response.function_call_arguments.done', ...place, arguments: whole },
  ];
}

function eventsOfPart(part: JsonObject, at: number, place: JsonObject, said: Said): readonly JsonObject[] {
  const here = { ...place, content_index: at };
  const isText = part['type'] === 'output_text';
  const field = isText ? 'text' : 'refusal';
  const kind = isText ? 'response.output_text' : 'response.refusal';
  const more = isText ? { logprobs: [] } : {};
  const whole = String(part[field]);
  return [
    { type: 'response.content_part.added', ...here, part: { ...part, [field]: '' } },
    ...piecesOf(whole, said).map((delta) => ({ type: `${kind}.delta`, ...here, delta, ...more })),
    { type: `${kind}.done`, ...here, [field]: whole, ...more },
    { type: 'response.content_part.done', ...here, part },
  ];
}
