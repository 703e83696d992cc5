/**
 * Recognises schemas that are certainly valid in every dialect: common keywords with values of the right form. Others
 * need a meta-schema, which takes longer to compile than the gateway takes to start. Must never accept an invalid
 * schema.
 */
import { isObject } from '../values/json.ts';

type IsRight = (value: unknown) => boolean;

const types: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const isText: IsRight = (value) => typeof value === 'string';
const isFlag: IsRight = (value) => typeof value === 'boolean';
const isNumber: IsRight = (value) => typeof value === 'number';
const isCount: IsRight = (value) => Number.isInteger(value) && (value as number) >= 0;
const isScalar: IsRight = (value) => value === null || typeof value !== 'object';
const isType: IsRight = (value) => types.includes(value);
const isAnything: IsRight = () => true;

const some =
  (isRight: IsRight): IsRight =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every((item) => isRight(item));
/** No two alike. */
const distinct =
  (isRight: IsRight): IsRight =>
  (value) =>
    Array.isArray(value) && new Set(value).size === value.length && value.every((item) => isRight(item));
const isEnum: IsRight = (value) => some(isScalar)(value) && distinct(isScalar)(value);
const isTypes: IsRight = (value) => isType(value) || (some(isType)(value) && distinct(isType)(value));
const isFields: IsRight = (value) => isObject(value) && Object.values(value).every(isSimpleSchema);

const all = (names: string, isRight: IsRight) => names.split(' ').map((name) => [name, isRight] as const);

const keywords: ReadonlyMap<string, IsRight> = new Map([
  ...all('title description format pattern $schema $comment', isText),
  ...all('uniqueItems readOnly writeOnly', isFlag),
  ...all('minimum maximum exclusiveMinimum exclusiveMaximum', isNumber),
  ...all('minLength maxLength minItems maxItems minProperties maxProperties', isCount),
  ...all('items additionalProperties not', isSimpleSchema),
  ...all('allOf anyOf oneOf', some(isSimpleSchema)),
  ...all('const default', isAnything),
  ['examples', Array.isArray],
  ['enum', isEnum],
  ['type', isTypes],
  ['required', distinct(isText)],
  ['properties', isFields],
]);

export function isSimpleSchema(schema: unknown): boolean {
  if (typeof schema === 'boolean') return true;
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => keywords.get(keyword)?.(value) === true);
}
