/**
 * Copies a schema as small, shallow, plain JSON, ready to compile. Removes two keywords that would change how ajv
 * works. Does not check the schema's meaning.
 */
import { isObject } from '../values/json.ts';

export interface PlainSchemaLimits {
  readonly maxSchemaChars: number;
  readonly maxSchemaDepth: number;
}

export type PlainSchema =
  | { readonly ok: true; readonly schema: object; readonly nodes: number }
  | { readonly ok: false; readonly problem: string };

export function plainSchema(schema: unknown, limits: PlainSchemaLimits): PlainSchema {
  const copy = jsonCopy(schema);
  if (!copy.ok) return { ok: false, problem: 'a schema must be plain JSON, without cycles' };
  if (copy.text.length > limits.maxSchemaChars) {
    return { ok: false, problem: `the schema is larger than ${limits.maxSchemaChars} characters` };
  }
  // `true` and `false` are schemas too; as objects they need no special case.
  const value = copy.value === true ? {} : copy.value === false ? { not: {} } : copy.value;
  if (!isObject(value)) return { ok: false, problem: 'a schema must be a JSON object' };
  const nodes = tidy(value, 'schema', limits.maxSchemaDepth);
  if (nodes === null) return { ok: false, problem: `the schema is nested deeper than ${limits.maxSchemaDepth} levels` };
  return { ok: true, schema: value, nodes };
}

type JsonCopy = { readonly ok: true; readonly text: string; readonly value: unknown } | { readonly ok: false };

/** What the value is once it has travelled as JSON. */
function jsonCopy(value: unknown): JsonCopy {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? { ok: false } : { ok: true, text, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}

/** What stands at a place of a schema: a schema, schemas by name, or data that must stay as it is. */
type Place = 'schema' | 'map' | 'data';

const places: Readonly<Record<string, Place>> = {
  properties: 'map',
  patternProperties: 'map',
  $defs: 'map',
  definitions: 'map',
  dependentSchemas: 'map',
  dependencies: 'map',
  enum: 'data',
  const: 'data',
  default: 'data',
  examples: 'data',
};

function placeBelow(place: Place, key: string): Place {
  if (place !== 'schema') return place === 'map' ? 'schema' : 'data';
  return (Object.hasOwn(places, key) ? places[key] : undefined) ?? 'schema';
}

/** Counts the nodes; null when they go too deep. */
function tidy(value: unknown, place: Place, depth: number): number | null {
  if (typeof value !== 'object' || value === null) return 1;
  if (depth <= 0) return null;
  if (place === 'schema' && isObject(value)) dropSwitches(value);
  let nodes = 1;
  for (const [key, child] of Object.entries(value)) {
    const inside = tidy(child, Array.isArray(value) ? place : placeBelow(place, key), depth - 1);
    if (inside === null) return null;
    nodes += inside;
  }
  return nodes;
}

function dropSwitches(schema: Record<string, unknown>): void {
  delete schema['$async'];
  // Of OpenAPI; ajv knows it beside `type` and refuses the schema otherwise.
  if (schema['type'] === undefined) delete schema['nullable'];
}
