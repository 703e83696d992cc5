/** Messages as Anthropic writes them: an answer, and the events that bring the same answer. */
import type { JsonObject } from '../../../src/core/values/json.ts';
import { type Asked, event, piecesOf, type Said, tokensOf, type WireEvent } from './said.ts';

/** The tokens of caches are beside `input_tokens`, not a part of them. */
function usageOf(said: Said, asked: Asked): JsonObject {
  const { input, output, cacheRead, cacheWrite } = tokensOf(said, asked);
  return {
    input_tokens: input - cacheRead - cacheWrite,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    service_tier: 'standard',
  };
}

const stopOf = ({ stop, tools, refusal }: Said): string => {
  if (refusal !== undefined) return 'refusal';
  if (stop === 'length') return 'max_tokens';
  return tools === undefined ? 'end_turn' : 'tool_use';
};

const signature = 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h';

function blocksOf({ reasoning, text, refusal, tools = [] }: Said): readonly JsonObject[] {
  const said = text ?? refusal;
  return [
    ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: reasoning, signature }]),
    ...(said === undefined ? [] : [{ type: 'text', text: said }]),
    ...tools.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
  ];
}

export function messagesAnswer(said: Said, asked: Asked): JsonObject {
  return {
    id: `msg_${asked.id}`,
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content: blocksOf(said),
    stop_reason: stopOf(said),
    stop_sequence: null,
    usage: usageOf(said, asked),
  };
}

export function messagesStream(said: Said, asked: Asked): readonly WireEvent[] {
  const whole = messagesAnswer(said, asked);
  const usage = usageOf(said, asked);
  const message = { ...whole, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
  const { stop_reason = null, stop_sequence = null } = whole;
  const { service_tier: _, cache_creation: __, ...totals } = usage;
  const all: JsonObject[] = [
    { type: 'message_start', message },
    ...blocksOf(said).flatMap((block, index) => [
      ...eventsOfBlock(block, index, said),
      ...(index === 0 ? [{ type: 'ping' }] : []),
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: totals },
    { type: 'message_stop' },
  ];
  return all.map((each) => event(String(each['type']), each));
}

function eventsOfBlock(block: JsonObject, index: number, said: Said): readonly JsonObject[] {
  const deltas = deltasOf(block, said).map((delta) => ({ type: 'content_block_delta', index, delta }));
  const start = { type: 'content_block_start', index, content_block: startOf(block) };
  return [start, ...deltas, { type: 'content_block_stop', index }];
}

function startOf(block: JsonObject): JsonObject {
  if (block['type'] === 'text') return { ...block, text: '' };
  if (block['type'] === 'thinking') return { ...block, thinking: '', signature: '' };
  return { ...block, input: {} };
}

function deltasOf(block: JsonObject, said: Said): readonly JsonObject[] {
  if (block['type'] === 'text')
    return piecesOf(String(block['text']), said).map((text) => ({ type: 'text_delta', text }));
  if (block['type'] === 'thinking')
    return [
      ...piecesOf(String(block['thinking']), said).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature },
    ];
  const pieces = ['', ...piecesOf(JSON.stringify(block['input']), said)];
  return pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json }));
}
