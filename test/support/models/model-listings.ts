/** Lists of models, in the forms in which providers and compatible servers write them. */
import type { JsonObject } from '../../../src/core/values/json.ts';

const openaiModel = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  object: 'model',
  created: 1_780_000_000,
  owned_by: 'openai',
  ...more,
});

const listOf = (data: readonly JsonObject[]): JsonObject => ({ object: 'list', data });

export const listings = {
  /** OpenAI itself says nothing but names. */
  openai: (names: readonly string[]) => listOf(names.map((name) => openaiModel(name))),
  openrouter: (names: readonly string[]) =>
    listOf(
      names.map((name) => ({
        id: name,
        canonical_slug: name,
        name,
        created: 1_780_000_000,
        context_length: 131_072,
        top_provider: { context_length: 131_072, max_completion_tokens: 16_384, is_moderated: false },
        supported_parameters: ['max_tokens', 'temperature', 'tool_choice', 'tools'],
      })),
    ),
  vllm: (names: readonly string[]) =>
    listOf(names.map((name) => openaiModel(name, { owned_by: 'vllm', root: name, max_model_len: 32_768 }))),
  anthropic: (names: readonly string[]): JsonObject => ({
    data: names.map((id) => ({
      type: 'model',
      id,
      display_name: id,
      created_at: '2026-02-19T00:00:00Z',
      max_input_tokens: 200_000,
      max_tokens: 64_000,
    })),
    has_more: false,
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null,
  }),
} as const;

export type ListingForm = keyof typeof listings;
