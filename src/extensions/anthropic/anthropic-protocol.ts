/** Providers of the kind `anthropic`: messages. */
import type { Json, ListedModel, ModelProtocol } from '../../extension/index.ts';
import { countOf, listOf, objectOf, textOf } from '../shared/read-json.ts';
import { messages } from './messages.ts';

function readModel(listed: Json): readonly ListedModel[] {
  const model = objectOf(listed);
  const name = textOf(model['id']);
  if (name === null || name === '') return [];
  const [contextTokens, maxOutputTokens] = [countOf(model['max_input_tokens']), countOf(model['max_tokens'])];
  return [
    {
      name,
      ...(contextTokens === null || contextTokens === 0 ? {} : { contextTokens }),
      ...(maxOutputTokens === null || maxOutputTokens === 0 ? {} : { maxOutputTokens }),
    },
  ];
}

export const anthropicProtocol: ModelProtocol = {
  operations: { messages },
  headers: { 'anthropic-version': '2023-06-01' },
  listing: { path: '/v1/models?limit=1000', read: (body) => listOf(objectOf(body)['data']).flatMap(readModel) },
  retry: null,
};
