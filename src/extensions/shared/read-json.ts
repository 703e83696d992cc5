/** Reads JSON of which nothing is certain. Pure. */
import type { Json, JsonObject } from '../../extension/index.ts';

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

export const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : [];

export const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

/** Null unless it is a whole number from 0 that can be counted with. */
export const countOf = (value: Json | undefined): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** Null if the text is no JSON. */
export function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** Images, sound and files: what they count as, only the provider knows. */
const mediaFields: ReadonlySet<string> = new Set([
  'image_url',
  'input_audio',
  'file_data',
  'file',
  'source',
  'encrypted_content',
]);

/** Characters of all that a model reads in it: texts, and the names of fields. */
export function charsIn(value: Json | undefined): number {
  if (typeof value === 'string') return value.length;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value).length;
  if (Array.isArray(value)) return (value as readonly Json[]).reduce<number>((sum, each) => sum + charsIn(each), 0);
  return Object.entries(objectOf(value)).reduce(
    (sum, [name, each]) => sum + name.length + (mediaFields.has(name) ? charsOfPlain(each) : charsIn(each)),
    0,
  );
}

/** A source may be a text: then it is read like any other. */
function charsOfPlain(value: Json): number {
  const { type, data } = objectOf(value);
  return type === 'text' ? charsIn(data) : 0;
}

/** The fields of `more` that say something, over those of `base`. */
export const withoutNulls = (more: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(more).filter(([, value]) => value !== null));
