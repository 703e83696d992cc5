/**
 * What may a passed tool answer with? What its server promised, or our envelope. Many clients check structured content against
 * the listed schema, errors too, so the schema that we list allows both. Must not change what the server's own results may be.
 */
import { isObject, type JsonObject } from '../../core/values/json.ts';

/** Where references of the server's schema lead must stay where it is. */
const anchored = ['$schema', '$id', '$defs', 'definitions', '$anchor', '$dynamicAnchor', '$vocabulary'];

/** Every reply of the gateway names its call. */
const envelope: JsonObject = { type: 'object', required: ['call_id'], properties: { call_id: { type: 'string' } } };

/** Null if the schema cannot be widened without the risk that it means something else. */
export function admitEnvelope(outputSchema: unknown): JsonObject | null {
  if (!isObject(outputSchema) || outputSchema['type'] !== 'object' || refersIntoItself(outputSchema)) return null;
  const entries = Object.entries(outputSchema as JsonObject);
  const kept = Object.fromEntries(entries.filter(([name]) => anchored.includes(name)));
  const own = Object.fromEntries(entries.filter(([name]) => !anchored.includes(name)));
  return { ...kept, type: 'object', anyOf: [own, envelope] };
}

/** A reference to anything but a definition would lead elsewhere, once what it points at has moved. */
function refersIntoItself(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(refersIntoItself);
  if (!isObject(schema)) return false;
  return Object.entries(schema).some(([name, value]) => {
    const refers = name === '$ref' || name === '$dynamicRef' || name === '$recursiveRef';
    if (refers && typeof value === 'string') return !/^#\/(?:\$defs|definitions)\//.test(value);
    return refersIntoItself(value);
  });
}
