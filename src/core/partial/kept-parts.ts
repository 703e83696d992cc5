/**
 * What is kept of a call whose failed items are sent again: what was done, the items that have failed for good, and
 * those that are still to be sent. Also how the answers of several sends become one result, in the order of the items.
 * Pure data; recorded before anything is sent again.
 */
import type { PartialError } from '../call/reply.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { type PartialRule, valueAtPath, withValueAt } from './partial-rule.ts';

/** How a result lists what was done. */
export type ListForm = 'each' | 'succeeded' | 'map';

export interface PlacedError {
  /** The place of the item in the arguments. */
  readonly at: number;
  readonly error: PartialError;
}

export interface Kept {
  /** In the declared shape, as if it were all that was asked for. */
  readonly result: Json;
  readonly form: ListForm;
  /** How many items the call has. */
  readonly of: number;
  /** Items that have failed and are not sent again. */
  readonly errors: readonly PlacedError[];
  /** Items that are to be sent again, in order. */
  readonly left: readonly number[];
  /** How many sends it was made of. */
  readonly sends: number;
}

export const allPlaces = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

/** Null if the result cannot be told apart by items. `failed`: places, of those that were sent. */
export function formOf(rule: PartialRule, result: Json, sent: readonly number[], failed: ReadonlySet<number>) {
  const found = rule.results === null ? undefined : valueAtPath(result, rule.results);
  if (Array.isArray(found)) {
    if (found.length === sent.length) return 'each' as const;
    return found.length === sent.length - failed.size ? ('succeeded' as const) : null;
  }
  return isObject(found) ? ('map' as const) : null;
}

/** The result of all sends by now; null if the new answer cannot be put in. */
export function joinResults(
  { result, form, errors, left, of }: Kept,
  now: Json,
  failed: ReadonlySet<number>,
  rule: PartialRule,
): { readonly result: Json } | null {
  const path = rule.results ?? [];
  const before = valueAtPath(result, path);
  const came = valueAtPath(now, path);
  // Nothing of what was sent again succeeded: what there was stays.
  if (left.every((at) => failed.has(at))) return { result };
  if (form === 'map')
    return isObject(before) && isObject(came) ? told(now, path, { ...(before as JsonObject), ...came }) : null;
  if (!Array.isArray(before) || !Array.isArray(came)) return null;
  const old = before as readonly Json[];
  const fresh = came as readonly Json[];
  if (form === 'each') {
    if (fresh.length !== left.length) return null;
    return told(
      now,
      path,
      old.map((entry, at) => (left.includes(at) ? (fresh[left.indexOf(at)] ?? null) : entry)),
    );
  }
  const lost = new Set([...errors.map(({ at }) => at), ...left]);
  const done = allPlaces(of).filter((at) => !lost.has(at));
  const doneNow = left.filter((at) => !failed.has(at));
  if (fresh.length !== doneNow.length || old.length !== done.length) return null;
  const entries = [
    ...done.map((at, nth) => [at, old[nth] ?? null] as const),
    ...doneNow.map((at, nth) => [at, fresh[nth] ?? null] as const),
  ];
  return told(
    now,
    path,
    entries.toSorted(([one], [other]) => one - other).map(([, entry]) => entry),
  );
}

/** The last answer with all entries in it. INVARIANT: the text of an MCP result says what its structure says. */
function told(now: Json, path: readonly string[], entries: Json): { readonly result: Json } {
  const whole = withValueAt(now, path, entries);
  if (path[0] !== 'structuredContent' || !isObject(whole)) return { result: whole };
  const { structuredContent } = whole as JsonObject;
  const content = [{ type: 'text', text: JSON.stringify(structuredContent) }];
  return { result: { ...(whole as JsonObject), content } };
}

/** In the order of the items. */
export const inOrder = (errors: readonly PlacedError[]): readonly PartialError[] =>
  errors.toSorted((one, other) => one.at - other.at).map(({ error }) => error);

/** As it stands in a record; null if it is none, or was erased. */
export function readKept(text: string | null | undefined): Kept | null {
  if (text === null || text === undefined) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && Array.isArray(value['left']) ? (value as unknown as Kept) : null;
  } catch {
    return null;
  }
}
