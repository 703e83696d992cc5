/** Narrows a value that was read to the wanted type. A value of another type was reported before. */
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';

export const mapOf = (value: Json | undefined): JsonObject => (isObject(value) ? (value as JsonObject) : {});
export const textOf = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);
export const numberOf = (value: Json | undefined): number | null => (typeof value === 'number' ? value : null);

/** The texts of a list. */
export const itemsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];

export function textsOf(value: Json | undefined): Readonly<Record<string, string>> {
  const entries = Object.entries(mapOf(value));
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** Without the keys that are null: where an absent key and an empty one differ. */
export function withoutGaps<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as never;
}
