/**
 * Removes masked values from texts that quote them, such as failure messages. Finds what a mask removed and replaces
 * whole occurrences, also in JSON and URL encoding. Values too short to be recognised stay.
 */
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { redacted } from './redact-paths.ts';

const minChars = 3;
/** More is no list of secrets: then nothing of a text is shown. */
const maxValues = 200;

export type Hide = <Value>(value: Value) => Value;

/** Null if the mask took nothing away. `hide` goes through every text of a plain value. */
export function hiderOf(pairs: readonly (readonly [before: Json, after: Json])[]): Hide | null {
  const values = new Set<string>();
  for (const [before, after] of pairs) collect(before, after, values);
  if (values.size === 0) return null;
  const pattern = values.size > maxValues ? null : patternOf(values);
  const hideText = (text: string) => (pattern === null ? redacted : text.replace(pattern, redacted));
  const hide = (value: unknown): unknown => {
    if (typeof value === 'string') return hideText(value);
    if (Array.isArray(value)) return value.map(hide);
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, hide(item)])) : value;
  };
  return hide as Hide;
}

function collect(before: Json, after: Json, values: Set<string>): void {
  if (before === after) return;
  if (after === redacted) return addLeaves(before, values);
  if (typeof before !== 'object' || before === null) return;
  for (const key of Object.keys(before))
    collect((before as JsonObject)[key] as Json, (after as JsonObject)[key] as Json, values);
}

function addLeaves(value: Json, values: Set<string>): void {
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value).trim();
    if (text.length >= minChars && text !== redacted) values.add(text);
  } else if (typeof value === 'object' && value !== null)
    for (const each of Object.values(value)) addLeaves(each, values);
}

/** The longest first: one may begin with another. */
function patternOf(values: ReadonlySet<string>): RegExp {
  const spelt = [...values].flatMap((text) => [text, JSON.stringify(text).slice(1, -1), addressed(text)]);
  const parts = [...new Set(spelt)].toSorted((a, b) => b.length - a.length).map(standing);
  return new RegExp(parts.join('|'), 'gu');
}

/** By itself: not a number within a longer one, nor a word within a longer one. */
function standing(text: string): string {
  const literal = text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const before = /^[\p{L}\p{N}]/u.test(text) ? '(?<![\\p{L}\\p{N}])' : '';
  const after = /[\p{L}\p{N}]$/u.test(text) ? '(?![\\p{L}\\p{N}])' : '';
  return `${before}${literal}${after}`;
}

function addressed(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}
