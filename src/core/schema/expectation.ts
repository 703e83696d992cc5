/**
 * Describes in words what each keyword of JSON Schema expects. The schema's texts are shown shortened; the value is
 * not shown.
 */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { cut, preview } from '../values/canonical.ts';
import { isObject } from '../values/json.ts';

const maxListedChoices = 20;
const maxTextChars = 200;

export function clip(text: string, max = maxTextChars): string {
  return text.length <= max ? text : `${cut(text, max - 1)}…`;
}

function plain(value: unknown): string {
  return typeof value === 'string' ? clip(value, 80) : preview(value);
}

export function oneOf(choices: readonly unknown[]): string {
  const listed = choices.slice(0, maxListedChoices).map(plain).join(', ');
  const more = choices.length - maxListedChoices;
  if (choices.length === 1) return `exactly: ${listed}`;
  return more > 0 ? `one of: ${listed} and ${more} more` : `one of: ${listed}`;
}

function count(limit: unknown, noun: string): string {
  return `${limit} ${noun}${limit === 1 ? '' : 's'}`;
}

/** What a schema asks for, as short as possible: its choices, its types, or its title. */
export function describeSchema(schema: unknown): string | null {
  if (!isObject(schema)) return null;
  if (Array.isArray(schema['enum'])) return oneOf(schema['enum']);
  if ('const' in schema) return oneOf([schema['const']]);
  if (schema['type'] !== undefined) return typeNames(schema['type']);
  return typeof schema['title'] === 'string' ? clip(schema['title'], 80) : null;
}

function typeNames(type: unknown): string {
  return (Array.isArray(type) ? type : [type]).map(String).join(' or ');
}

function anyOf(alternatives: unknown): string {
  return Array.isArray(alternatives) && alternatives.length > 0
    ? alternatives.join(' or ')
    : 'a value that fits one of the alternatives';
}

function inBrackets(alternatives: unknown): string {
  return Array.isArray(alternatives) && alternatives.length > 0 ? ` (${alternatives.join(', or ')})` : '';
}

type Words = (params: Readonly<Record<string, unknown>>, error: ErrorObject) => string;

const words: Readonly<Record<string, Words>> = {
  type: ({ type }) => typeNames(type),
  enum: ({ allowedValues }) => oneOf(Array.isArray(allowedValues) ? allowedValues : []),
  const: ({ allowedValue }) => oneOf([allowedValue]),
  minimum: ({ limit }) => `a number of at least ${limit}`,
  maximum: ({ limit }) => `a number of at most ${limit}`,
  exclusiveMinimum: ({ limit }) => `a number above ${limit}`,
  exclusiveMaximum: ({ limit }) => `a number below ${limit}`,
  multipleOf: ({ multipleOf }) => `a multiple of ${multipleOf}`,
  minLength: ({ limit }) => `at least ${count(limit, 'character')}`,
  maxLength: ({ limit }) => `at most ${count(limit, 'character')}`,
  pattern: ({ pattern }) => `text that matches ${clip(String(pattern))}`,
  minItems: ({ limit }) => `at least ${count(limit, 'item')}`,
  maxItems: ({ limit }) => `at most ${count(limit, 'item')}`,
  items: ({ limit }) => `at most ${count(limit, 'item')}`,
  additionalItems: ({ limit }) => `at most ${count(limit, 'item')}`,
  unevaluatedItems: ({ len }) => `at most ${count(len, 'item')}`,
  uniqueItems: () => 'items that are all different',
  contains: ({ minContains, maxContains, alternatives }) => {
    const range = maxContains === undefined ? `at least ${minContains}` : `${minContains} to ${maxContains}`;
    return `${range} matching item${range === 'at least 1' ? '' : 's'}${inBrackets(alternatives)}`;
  },
  minProperties: ({ limit }) => `at least ${count(limit, 'field')}`,
  maxProperties: ({ limit }) => `at most ${count(limit, 'field')}`,
  additionalProperties: () => 'left out, there is no such field',
  unevaluatedProperties: () => 'left out, there is no such field',
  propertyNames: ({ alternatives }) => `another field name${inBrackets(alternatives)}`,
  not: (_, { schema }) => `anything but ${describeSchema(schema) ?? 'this'}`,
  oneOf: ({ passingSchemas, alternatives }) =>
    Array.isArray(passingSchemas) ? 'a value that fits only one of the alternatives' : anyOf(alternatives),
  anyOf: ({ alternatives }) => anyOf(alternatives),
  'false schema': () => 'nothing here',
};

export function expectationOf(error: ErrorObject): string {
  const say = Object.hasOwn(words, error.keyword) ? words[error.keyword] : undefined;
  return say === undefined ? `a value that keeps '${clip(error.keyword, 40)}'` : say(error.params, error);
}

/** A missing field is described by its own schema, if the object declares one. */
export function expectationOfMissing(error: ErrorObject, field: string): string {
  const declared = isObject(error.parentSchema) ? error.parentSchema['properties'] : undefined;
  const wanted = isObject(declared) && Object.hasOwn(declared, field) ? describeSchema(declared[field]) : null;
  return wanted === null ? 'a value' : `a value (${wanted})`;
}
