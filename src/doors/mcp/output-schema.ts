/**
 * Output schemas of listed tools: a short one that is true of every reply of ours, and the widening of a server's own
 * schema. The full schema (core/http/reply-schema.ts) is about thirty times as long, and no host shows it to a model.
 */
import { errorNames } from '../../core/http/reply-schema.ts';
import { effects } from '../../core/taxonomy.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';

const text = { type: 'string' };
const texts = { type: 'array', items: text };

export const replyOutputSchema: JsonObject = {
  type: 'object',
  properties: {
    action: text,
    result: {},
    state: {},
    seq: { type: 'integer' },
    error: { enum: errorNames },
    requested: { type: ['string', 'null'] },
    code: text,
    message: text,
    effect: { enum: Object.keys(effects) },
    resolution: { type: 'object', properties: { type: text }, required: ['type'] },
    pending: { const: true },
    valid_next_actions: texts,
    call_id: text,
    session: { type: ['string', 'null'] },
  },
  required: ['call_id', 'session'],
};

/** Keywords that references of the schema point at: they stay at the root. */
const anchored = ['$schema', '$id', '$defs', 'definitions', '$anchor', '$dynamicAnchor', '$vocabulary'];

/** Every reply of the gateway names its call. */
const envelope: JsonObject = { type: 'object', required: ['call_id'], properties: { call_id: { type: 'string' } } };

/**
 * Widens the output schema of a server's tool so that it also admits our envelope: many clients check structured
 * content against the listed schema, errors included. Null if the schema could mean something else afterwards.
 */
export function admitEnvelope(outputSchema: unknown): JsonObject | null {
  if (!isObject(outputSchema) || outputSchema['type'] !== 'object' || refersIntoItself(outputSchema)) return null;
  const entries = Object.entries(outputSchema as JsonObject);
  const kept = Object.fromEntries(entries.filter(([name]) => anchored.includes(name)));
  const own = Object.fromEntries(entries.filter(([name]) => !anchored.includes(name)));
  return { ...kept, type: 'object', anyOf: [own, envelope] };
}

/** Whether it has a reference to anything but a definition: that would point elsewhere after the move. */
function refersIntoItself(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(refersIntoItself);
  if (!isObject(schema)) return false;
  return Object.entries(schema).some(([name, value]) => {
    const refers = name === '$ref' || name === '$dynamicRef' || name === '$recursiveRef';
    if (refers && typeof value === 'string') return !/^#\/(?:\$defs|definitions)\//.test(value);
    return refersIntoItself(value);
  });
}
