/** Lists the models that an agent may name, in a form that the clients of OpenAI and of Anthropic read. */
import type { UsableModel } from '../../../core/model/choose-provider.ts';
import { type Answer, type Asked, json, refuse, refuseInput } from '../answer.ts';
import { principal } from '../call-routes.ts';

/** Nobody says when a model was made, and both clients expect a time. */
const sometime = { created: 0, created_at: '1970-01-01T00:00:00Z' };

const entryOf = ({ id, provider, contextTokens, maxOutputTokens }: UsableModel) => ({
  id,
  object: 'model',
  type: 'model',
  ...sometime,
  owned_by: provider,
  display_name: id,
  max_input_tokens: contextTokens ?? null,
  max_tokens: maxOutputTokens ?? null,
});

export async function listModels({ query, parts, who }: Asked): Promise<Answer> {
  const all = parts.models.usable(principal(who));
  const after = query['after_id'];
  const begin = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && begin === 0)
    return refuseInput('listModels', [{ path: '/after_id', expected: 'the id of a listed model', got: after }], parts);
  const end = begin + Number(query['limit'] ?? all.length);
  const data = all.slice(begin, end).map(entryOf);
  const [first_id, last_id] = [data[0]?.id ?? null, data.at(-1)?.id ?? null];
  return json({ object: 'list', data, first_id, last_id, has_more: end < all.length });
}

export async function readModel({ id, parts, who }: Asked): Promise<Answer> {
  const found = parts.models.usable(principal(who)).find((model) => model.id === id);
  if (found !== undefined) return json(entryOf(found));
  return refuse('UnknownModel', `no model '${id}' that this key may ask is declared; GET /v1/models lists those`);
}
