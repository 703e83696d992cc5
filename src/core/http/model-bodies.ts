/** JSON Schemas of the bodies for clients of models. What providers define is described by them, not here. */
import { closedObject, listOf, type Ref, type Schema, text, textOrNull, wholeNumber } from './reply-schema-fields.ts';

const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });
const object: Schema = { type: 'object' };

export const modelRequestBodies = {
  /** The arguments of the tool: its own schema judges them. */
  ModelRequest: { type: 'object', properties: { model: text, stream: { type: 'boolean' } }, required: ['model'] },
} as const satisfies Record<string, Schema>;

export function modelAnswerBodies(ref: Ref) {
  const error: Schema = {
    type: 'object',
    properties: { type: text, message: text, code: text },
    required: ['type', 'message'],
  };
  return {
    /** Exactly what the provider answered. */
    ModelAnswer: object,
    ModelEntry: closedObject({
      id: text,
      object: { const: 'model' },
      type: { const: 'model' },
      created: wholeNumber,
      created_at: text,
      owned_by: text,
      display_name: text,
      max_input_tokens: orNull(wholeNumber),
      max_tokens: orNull(wholeNumber),
    }),
    ModelList: closedObject({
      object: { const: 'list' },
      data: listOf(ref('ModelEntry')),
      first_id: textOrNull,
      last_id: textOrNull,
      has_more: { type: 'boolean' },
    }),
    /** In the words of the provider, with the members of the reply in `error` if there was a call. */
    ProviderError: { type: 'object', properties: { error }, required: ['error'] },
  };
}
