/** Reads what an author declares about the partial results of a tool. */
import { readEntries } from '../../core/partial/read-items.ts';
import { type FieldPath, type PartialRule, readFieldPath, valueAtPath } from '../../core/partial/partial-rule.ts';
import type { ErrorKind } from '../../core/taxonomy.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { isObject, type Json } from '../../core/values/json.ts';

export type Loose = Readonly<Record<string, unknown>>;
export type Refuse = (problem: string, fix: string) => never;

export interface WrittenPartial {
  /** Where the arguments list the items, such as `args.urls`. */
  readonly items?: string;
  /** How an item is named; by itself if it is a text or a number, else by its place, if not given. */
  readonly name?: (item: never) => string | number;
  /** Where an answer has its entries, such as `result.results`, or a function that finds them. */
  readonly entries?: string | ((result: never, args: never) => readonly unknown[]);
  /** Whether an entry is a failed item; every entry is one if not given. */
  readonly failed?: (entry: never, index: number) => boolean;
  /** Which item an entry is about; the one at its place if not given. */
  readonly item?: (entry: never, index: number) => string | number;
  /** A kind of failure, or an HTTP status. */
  readonly kind?: (entry: never, index: number) => ErrorKind | number;
  readonly message?: (entry: never, index: number) => string;
  /** Where a result lists what was done, such as `result.pages`: an entry for each item, for each success, or by name. */
  readonly results?: string;
  /** Failed items are sent again by themselves. */
  readonly retry?: boolean;
  /** 'item': the upstream deduplicates each item by itself, so every send has the same key. */
  readonly keys?: 'request' | 'item';
}

const known = ['items', 'name', 'entries', 'failed', 'item', 'kind', 'message', 'results', 'retry', 'keys'];
const functions = ['name', 'failed', 'item', 'kind', 'message'] as const;

export function declaredPartial(written: unknown, refuse: Refuse): PartialRule {
  const wrong = (problem: string, fix: string) => refuse(`its partial is not usable: ${problem}`, fix);
  if (!isObject(written)) return wrong('it is not a set of fields', "write partial: { items: 'args.urls', … }");
  const given = written as Loose;
  const strange = Object.keys(given).find((key) => !known.includes(key));
  if (strange !== undefined) return wrong(`it has no '${strange}'`, `known are ${known.join(', ')}`);
  const items = pathOf(given['items'], 'args', () => wrong('items is no path', "write a path such as 'args.urls'"));
  const results = pathOf(given['results'], 'result', () =>
    wrong('results is no path', "write a path such as 'result.pages'"),
  );
  for (const key of functions)
    if (given[key] !== undefined && typeof given[key] !== 'function')
      wrong(`${key} is no function`, 'write a function');
  const { retry = false, keys = 'request' } = given;
  if (typeof retry !== 'boolean') wrong('retry is neither true nor false', 'write retry: true');
  if (keys !== 'request' && keys !== 'item') wrong('keys is unknown', "use 'request' or 'item'");
  if (retry === true && (items === null || results === null))
    wrong('failed items cannot be sent again without items and results', 'say where both are');
  const name = given['name'] as ((item: Json) => Json) | undefined;
  return {
    items,
    nameOf: name === undefined ? null : (item) => attempted(() => name(item)),
    read: readerOf(given, wrong),
    results,
    retry: retry === true,
    keyedByItem: keys === 'item',
    declared: canonicalText(
      Object.fromEntries(known.map((key) => [key, given[key] === undefined ? null : String(given[key])])),
    ),
  };
}

function pathOf(written: unknown, root: 'args' | 'result', refuse: () => never): FieldPath | null {
  if (written === undefined) return null;
  return (typeof written === 'string' ? readFieldPath(written, root) : null) ?? refuse();
}

type Entry = (entry: Json, index: number) => Json;

function readerOf(given: Loose, wrong: Refuse): PartialRule['read'] {
  const { entries, failed, item, kind, message } = given as Readonly<Record<string, unknown>>;
  if (entries === undefined) {
    const lone = ['failed', 'item', 'kind', 'message'].find((key) => given[key] !== undefined);
    return lone === undefined ? null : wrong(`${lone} has no meaning without entries`, 'say where the entries are');
  }
  const list = listOf(entries, wrong);
  const own = (of: unknown): Entry | null => (of === undefined ? null : (of as Entry));
  const reader = { entries: list, failed: own(failed), item: own(item), kind: own(kind), message: own(message) };
  return (args, result) => readEntries(reader, args, result);
}

function listOf(entries: unknown, wrong: Refuse): (args: Json, result: Json) => Json {
  if (typeof entries === 'function') return (args, result) => entries(result, args) as Json;
  const path = typeof entries === 'string' ? readFieldPath(entries, 'result') : null;
  if (path === null) return wrong('entries is no path', "write a path such as 'result.results', or a function");
  return (_args, result) => valueAtPath(result, path) ?? null;
}

/** Null if the author's function throws: then the item is named by its place. */
function attempted(make: () => Json): Json {
  try {
    return make();
  } catch {
    return null;
  }
}
