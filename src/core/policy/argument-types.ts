/**
 * Argument types for a rule, from the schemas of the tools it matches. If all tools are closed, a field that some lack
 * must be guarded. If one is open, a field is known if at least one tool names it.
 */
import type { CelFieldType, CelObject, CelType } from '../cel/cel-types.ts';
import { isObject, type Json } from '../values/json.ts';

/** The arguments of one tool, as far as its schema tells. */
export interface ArgumentShape extends CelObject {
  readonly tool: string;
  /** It takes no other arguments. */
  readonly closed: boolean;
}

/** Objects inside objects, as far as their fields are looked at. */
const maxNesting = 4;

/** Keywords by which a schema may take fields that it does not name itself. */
const elsewhere = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas'] as const;

/** Null if the schema does not tell. */
export function argumentShape(tool: string, schema: Json): ArgumentShape | null {
  const fields = fieldsIn(schema, maxNesting);
  return fields === null ? null : { tool, ...fields };
}

function fieldsIn(schema: unknown, nesting: number): (CelObject & { readonly closed: boolean }) | null {
  if (!isObject(schema) || 'patternProperties' in schema) return null;
  const closed = schema['additionalProperties'] === false;
  if (!closed && elsewhere.some((keyword) => keyword in schema)) return null;
  const properties = schema['properties'] ?? {};
  if (!isObject(properties) || (!closed && Object.keys(properties).length === 0)) return null;
  const entries = Object.entries(properties).map(([name, each]) => [name, typeOf(each, nesting - 1)] as const);
  return { fields: Object.fromEntries(entries), closed };
}

const typeOfSort: Readonly<Record<string, CelFieldType>> = {
  array: 'list',
  boolean: 'bool',
  integer: 'double',
  number: 'double',
  object: 'map',
  string: 'string',
};

function typeOf(schema: unknown, nesting: number): CelType {
  const sort = isObject(schema) ? schema['type'] : undefined;
  const type = typeof sort === 'string' && Object.hasOwn(typeOfSort, sort) ? typeOfSort[sort] : undefined;
  if (type !== 'map' || nesting <= 0) return type ?? 'dyn';
  const inner = fieldsIn(schema, nesting);
  return inner?.closed === true ? { fields: inner.fields } : 'map';
}

/** What a condition over all of these tools can rely on. */
export function argumentTypes(shapes: readonly ArgumentShape[]): CelType {
  if (shapes.length === 0) return 'dyn';
  const allClosed = shapes.every(({ closed }) => closed);
  const fields = new Map<string, CelType>();
  const sometimes = new Map<string, string>();
  for (const name of new Set(shapes.flatMap((shape) => Object.keys(shape.fields)))) {
    const having = shapes.filter((shape) => Object.hasOwn(shape.fields, name));
    const types = having.map((shape) => shape.fields[name] ?? 'dyn');
    fields.set(name, types.every((type) => isSame(type, types[0])) ? (types[0] ?? 'dyn') : 'dyn');
    const lacking = shapes.find((shape) => !Object.hasOwn(shape.fields, name));
    if (allClosed && lacking !== undefined) sometimes.set(name, `${lacking.tool} has no argument ${name}`);
  }
  return { fields: Object.fromEntries(fields), sometimes: Object.fromEntries(sometimes) };
}

const isSame = (one: CelType, other: CelType | undefined): boolean =>
  one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
