/** Chat completions as OpenAI writes them: an answer, and the chunks that bring the same answer. */
import type { JsonObject } from '../../../src/core/values/json.ts';
import { type Asked, event, piecesOf, type Said, tokensOf, type WireEvent } from './said.ts';

const choicesOf = ({ body }: Asked): number => (typeof body['n'] === 'number' ? body['n'] : 1);

const headOf = ({ id, model, createdAt }: Asked, object: string) => ({
  id: `chatcmpl-${id}`,
  object,
  created: createdAt,
  model,
  service_tier: 'default',
  system_fingerprint: 'fp_44709d6fcb',
});

function usageOf(said: Said, asked: Asked): JsonObject {
  const { input, output, cacheRead } = tokensOf(said, asked, choicesOf(asked));
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function finishOf({ stop, tools }: Said): string {
  return stop ?? (tools === undefined ? 'stop' : 'tool_calls');
}

export function chatAnswer(said: Said, asked: Asked): JsonObject {
  const calls = said.tools?.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }));
  const message = {
    role: 'assistant',
    content: said.text ?? null,
    ...(calls === undefined ? {} : { tool_calls: calls }),
    refusal: said.refusal ?? null,
    annotations: [],
  };
  const choice = (index: number) => ({ index, message, logprobs: null, finish_reason: finishOf(said) });
  return {
    ...headOf(asked, 'chat.completion'),
    choices: Array.from({ length: choicesOf(asked) }, (_, index) => choice(index)),
    usage: usageOf(said, asked),
  };
}

/** Chunks of several choices come in turns. */
export function chatStream(said: Said, asked: Asked): readonly WireEvent[] {
  const { include_usage } = (asked.body['stream_options'] ?? {}) as JsonObject;
  const usage = include_usage === true ? { usage: null } : {};
  const head = headOf(asked, 'chat.completion.chunk');
  const chunk = (index: number, delta: JsonObject, finish: string | null = null) =>
    event(null, {
      ...head,
      choices: [{ index, delta, logprobs: null, finish_reason: finish }],
      ...usage,
      obfuscation: 'Zx9',
    });
  const steps = [...deltasOf(said).map((delta) => [delta, null] as const), [{}, finishOf(said)] as const];
  const chunks = steps.flatMap(([delta, finish]) =>
    Array.from({ length: choicesOf(asked) }, (_, index) => chunk(index, delta, finish)),
  );
  const last = include_usage === true ? [event(null, { ...head, choices: [], usage: usageOf(said, asked) })] : [];
  return [...chunks, ...last, event(null, '[DONE]')];
}

function deltasOf(said: Said): readonly JsonObject[] {
  const { text, refusal, tools = [] } = said;
  const first = {
    role: 'assistant',
    content: text === undefined ? null : '',
    refusal: refusal === undefined ? null : '',
  };
  const calls = tools.flatMap(({ id, name, input }, index) => [
    { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
    ...piecesOf(JSON.stringify(input), said).map((piece) => ({
      tool_calls: [{ index, function: { arguments: piece } }],
    })),
  ]);
  return [
    first,
    ...piecesOf(text ?? '', said).map((content) => ({ content })),
    ...piecesOf(refusal ?? '', said).map((piece) => ({ refusal: piece })),
    ...calls,
  ];
}
