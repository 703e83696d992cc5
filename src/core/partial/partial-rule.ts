/**
 * Partial results: how a tool says which items of its work failed, where the arguments list the items, and how the
 * results of several sends become one. Pure; what is done about a failed item is decided elsewhere.
 */
import { type ErrorKind, kinds, type Effect } from '../taxonomy.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';

/** One item that failed, as a tool or its answer says it. */
export interface ItemFailure {
  readonly item: string | number;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly subject?: string;
  /** Only if the tool can prove it. */
  readonly effect?: Effect;
}

/** Names of fields, from the outside in; empty is the value itself. */
export type FieldPath = readonly string[];

/** What an answer says of its items. */
export type ItemsRead =
  /** `of`: how many items it speaks of; null if it lists only those that failed. */
  | { readonly ok: true; readonly failures: readonly ItemFailure[]; readonly of: number | null }
  | { readonly ok: false; readonly problem: string };

export interface PartialRule {
  /** Where the arguments list the items; null if nothing is declared. */
  readonly items: FieldPath | null;
  /** How an item is named; null if by itself, or by its place. */
  readonly nameOf: ((item: Json) => Json) | null;
  /** What an answer says of its items; null if the tool says so itself. */
  readonly read: ((args: Json, result: Json) => ItemsRead) | null;
  /** Where a result lists what was done: an entry for each item, or for each that succeeded, or a map by name. */
  readonly results: FieldPath | null;
  /** Failed items are sent again by themselves. */
  readonly retry: boolean;
  /** The upstream deduplicates each item by itself, so all sends have one key. */
  readonly keyedByItem: boolean;
  /** Canonical text of what was declared. */
  readonly declared: string;
}

/** More failed items than this are no readable answer. */
export const maxFailedItems = 10_000;

/** Reads `args.urls`, or `result`; null if it is no such path. */
export function readFieldPath(text: string, root: 'args' | 'result'): FieldPath | null {
  const [first, ...names] = text.split('.');
  const isPath = first === root && names.length <= 8 && names.every((name) => /^[A-Za-z_]\w{0,127}$/.test(name));
  return isPath ? names : null;
}

export function valueAtPath(value: Json, path: FieldPath): Json | undefined {
  let found: Json | undefined = value;
  for (const name of path) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = (found as JsonObject)[name];
  }
  return found;
}

/** The same value with another one at the path; it must be there. */
export function withValueAt(value: Json, path: FieldPath, put: Json): Json {
  const [name, ...rest] = path;
  if (name === undefined) return put;
  const fields = isObject(value) ? (value as JsonObject) : {};
  return { ...fields, [name]: withValueAt(fields[name] ?? null, rest, put) };
}

/** The items of a call and their names; null if the arguments list none. */
export interface Items {
  readonly values: readonly Json[];
  readonly names: readonly (string | number)[];
  /** No two have the same name, so an error is about exactly one. */
  readonly areDistinct: boolean;
}

export function itemsOf({ items, nameOf }: Pick<PartialRule, 'items' | 'nameOf'>, args: Json): Items | null {
  const values = items === null ? undefined : valueAtPath(args, items);
  if (!Array.isArray(values)) return null;
  const names = (values as readonly Json[]).map((value, at) => {
    const name = nameOf === null ? value : nameOf(value);
    return typeof name === 'string' || typeof name === 'number' ? name : at;
  });
  return { values: values as readonly Json[], names, areDistinct: new Set(names.map(textOf)).size === names.length };
}

const textOf = (name: string | number): string => `${typeof name}:${name}`;

/** At which of the places that were sent an item stands; null if it was not sent. */
export function placeOf(item: string | number, items: Items, sent: readonly number[]): number | null {
  const named = sent.find((at) => items.names[at] === item || String(items.names[at]) === item);
  if (named !== undefined) return named;
  return typeof item === 'number' ? (sent[item] ?? null) : null;
}

/** The arguments with these items alone. */
export function onlyItems(rule: PartialRule, args: Json, places: readonly number[]): Json {
  const items = itemsOf(rule, args);
  if (rule.items === null || items === null) return args;
  return withValueAt(
    args,
    rule.items,
    places.map((at) => items.values[at] ?? null),
  );
}

/** Whether an answer holds nothing that was done: null, an empty list, or fields that are all such. */
export function isEmptyResult(result: Json): boolean {
  if (result === null) return true;
  if (Array.isArray(result)) return result.length === 0;
  return isObject(result) && Object.values(result).every((field) => isEmptyResult(field as Json));
}

/** The kind of a failed item, as an answer states it: a kind, or an HTTP status. */
export function kindOfItem(said: Json): ErrorKind {
  if (typeof said === 'string' && Object.hasOwn(kinds, said)) return said as ErrorKind;
  const status = typeof said === 'string' && /^\d{3}$/.test(said) ? Number(said) : said;
  return typeof status === 'number' ? kindOfItemStatus(status) : 'unknown';
}

const kindOfStatus: Readonly<Record<number, ErrorKind>> = {
  401: '401_unauthenticated',
  403: '403_forbidden',
  404: '404_not_found',
  408: 'timeout',
  409: '409_conflict',
  412: '412_precondition',
  425: '429',
  429: '429',
  451: '403_forbidden',
};

function kindOfItemStatus(status: number): ErrorKind {
  const known = Object.hasOwn(kindOfStatus, status) ? kindOfStatus[status] : undefined;
  if (known !== undefined) return known;
  if (status >= 400 && status < 500) return '400_invalid';
  return status >= 500 && status < 600 ? '5xx' : 'unknown';
}
