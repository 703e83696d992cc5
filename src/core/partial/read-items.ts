/**
 * Reads which items failed out of an answer: by what is declared about its entries, or, for an answer with HTTP status
 * 207 about which nothing is declared, by the statuses in it. Pure.
 */
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { type ItemFailure, type ItemsRead, kindOfItem, maxFailedItems } from './partial-rule.ts';

/** How the entries of an answer are read. Each may throw: then it decides nothing. */
export interface EntryReader {
  /** The list of entries. */
  readonly entries: (args: Json, result: Json) => Json;
  /** Whether an entry is a failed item; null: every entry is one. */
  readonly failed: ((entry: Json, index: number, args: Json) => Json) | null;
  /** Which item it is about; null: the one at the place of the entry. */
  readonly item: ((entry: Json, index: number, args: Json) => Json) | null;
  /** A kind of failure, or an HTTP status; null: not known. */
  readonly kind: ((entry: Json, index: number, args: Json) => Json) | null;
  readonly message: ((entry: Json, index: number, args: Json) => Json) | null;
}

export function readEntries(reader: EntryReader, args: Json, result: Json): ItemsRead {
  try {
    const entries = reader.entries(args, result);
    if (!Array.isArray(entries)) return wrong('entries gives no list for this answer');
    const list = entries as readonly Json[];
    const failures: ItemFailure[] = [];
    for (const [index, entry] of list.entries()) {
      const failed = reader.failed === null ? true : reader.failed(entry, index, args);
      if (typeof failed !== 'boolean') return wrong('failed gives neither true nor false for an entry');
      if (!failed) continue;
      if (failures.length >= maxFailedItems) return wrong(`more than ${maxFailedItems} items failed`);
      failures.push(failureOf(reader, entry, index, args));
    }
    // Where every entry is a failure, nothing is said of the items that succeeded.
    return { ok: true, failures, of: reader.failed === null ? null : list.length };
  } catch (error) {
    return wrong(error instanceof Error ? error.message : 'reading the answer threw');
  }
}

function failureOf(reader: EntryReader, entry: Json, index: number, args: Json): ItemFailure {
  const item = reader.item?.(entry, index, args);
  const message = reader.message?.(entry, index, args);
  return {
    item: typeof item === 'string' || typeof item === 'number' ? item : index,
    kind: kindOfItem(reader.kind?.(entry, index, args) ?? null),
    message: typeof message === 'string' && message !== '' ? message : 'failed without a message',
  };
}

const wrong = (problem: string): ItemsRead => ({ ok: false, problem });

/** The one list of entries with a status each: the answer itself, or one of its fields. */
export function readMultiStatus(result: Json): ItemsRead {
  const lists = [result, ...(isObject(result) ? Object.values(result as JsonObject) : [])].filter(isListOfStatuses);
  const [entries, another] = lists;
  if (entries === undefined || another !== undefined)
    return wrong('the answer has HTTP status 207, and not one list of entries with a status; declare partial');
  const failures = entries.flatMap((entry, index): readonly ItemFailure[] => {
    const status = statusOf(entry);
    if (status === null || status < 400) return [];
    return [{ item: namedIn(entry) ?? index, kind: kindOfItem(status), message: saidIn(entry) ?? `status ${status}` }];
  });
  return { ok: true, failures, of: entries.length };
}

const isListOfStatuses = (value: unknown): value is readonly Json[] =>
  Array.isArray(value) && value.length > 0 && value.every((entry) => statusOf(entry as Json) !== null);

function statusOf(entry: Json): number | null {
  const status = isObject(entry) ? ((entry as JsonObject)['status'] ?? (entry as JsonObject)['statusCode']) : null;
  return typeof status === 'number' && Number.isInteger(status) ? status : null;
}

function namedIn(entry: Json): string | number | null {
  const { id, item, href } = entry as JsonObject;
  return [item, id, href].find((each) => typeof each === 'string' || typeof each === 'number') ?? null;
}

function saidIn(entry: Json): string | null {
  const { message, error } = entry as JsonObject;
  const inError = isObject(error) ? (error as JsonObject)['message'] : error;
  return [message, inError].find((each) => typeof each === 'string') ?? null;
}
