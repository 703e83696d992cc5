/** Providers of the kind `openai`: OpenAI itself, and every server that speaks chat completions or responses. */
import type { Json, JsonObject, ListedModel, ModelProtocol } from '../../extension/index.ts';
import { countOf, listOf, objectOf, textOf } from '../shared/read-json.ts';
import { chat } from './chat.ts';
import { responses } from './responses.ts';

/** Names of the same figure with different servers. */
const windowFields = ['context_length', 'max_model_len', 'max_context_length', 'context_window', 'max_input_tokens'];
const outputFields = ['max_completion_tokens', 'max_output_tokens'];

function firstCount(fields: readonly string[], ...from: readonly JsonObject[]): number | null {
  for (const object of from)
    for (const field of fields) {
      const count = countOf(object[field]);
      if (count !== null && count > 0) return count;
    }
  return null;
}

function readModel(listed: Json): readonly ListedModel[] {
  const model = objectOf(listed);
  const name = textOf(model['id']);
  if (name === null || name === '') return [];
  const top = objectOf(model['top_provider']);
  const contextTokens = firstCount(windowFields, model, top);
  const maxOutputTokens = firstCount(outputFields, model, top);
  const parameters = model['supported_parameters'];
  const tools = Array.isArray(parameters) ? { tools: parameters.includes('tools') } : {};
  return [
    {
      name,
      ...(contextTokens === null ? {} : { contextTokens }),
      ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
      ...tools,
    },
  ];
}

export const openaiProtocol: ModelProtocol = {
  operations: { chat, responses },
  headers: {},
  listing: { path: '/models', read: (body) => listOf(objectOf(body)['data']).flatMap(readModel) },
  retry: null,
};
