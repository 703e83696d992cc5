/**
 * Interprets an answer by its items: which of them failed, what the answers of all sends are together, and what is kept
 * if the failed ones are sent again. Decides nothing about that.
 */
import type { Call } from '../../core/call/call.ts';
import type { PartialError } from '../../core/call/reply.ts';
import { allPlaces, formOf, inOrder, joinResults, type Kept, type PlacedError } from '../../core/partial/kept-parts.ts';
import {
  isEmptyResult,
  type ItemFailure,
  type Items,
  itemsOf,
  maxFailedItems,
  onlyItems,
  type PartialRule,
  placeOf,
} from '../../core/partial/partial-rule.ts';
import { readMultiStatus } from '../../core/partial/read-items.ts';
import { type FailedItem, failedItem, worstOf } from '../../core/partial/plan-items.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import { type Failure, makeFailure, type UpstreamResult } from '../../ports/upstream.ts';

type Returned = Extract<UpstreamResult, { kind: 'returned' }>;

/** What was sent, by its items. */
export interface SentItems {
  readonly rule: PartialRule | null;
  /** All arguments of the call. */
  readonly args: Json;
  /** What is done already; null before the first answer. */
  readonly kept: Kept | null;
}

export type ItemsFound =
  | {
      readonly kind: 'found';
      /** Of all sends. */
      readonly result: Json;
      /** In the order of the items. */
      readonly errors: readonly PartialError[];
      /** Of this send. */
      readonly failed: readonly FailedItem[];
      /** What is kept if the items at these places are sent again; null if the result cannot be told apart by items. */
      readonly keepFor: (again: readonly number[]) => Kept | null;
    }
  /** Nothing succeeded, or the answer cannot be used. */
  | { readonly kind: 'failed'; readonly failure: Failure };

export function interpretItems(call: Call, returned: Returned, result: Json, sent: SentItems): ItemsFound {
  const { rule, args, kept } = sent;
  const stated = failuresIn(returned, result, sent);
  if (stated.failures.length > maxFailedItems)
    return { kind: 'failed', failure: malformed(`it tells of more than ${maxFailedItems} failed items`) };
  const items = rule === null ? null : itemsOf(rule, args);
  const places = kept?.left ?? allPlaces(items?.values.length ?? 0);
  const failed = distinct(stated.failures, items, places, call);
  const of = stated.of ?? (items === null ? null : places.length);
  if (kept === null && failed.length > 0 && isAll(failed, of, call, result))
    return { kind: 'failed', failure: allFailed(failed) };
  const lost = new Set(failed.flatMap(({ at }) => (at === null ? [] : [at])));
  return together(result, failed, { rule, kept, items, places, lost });
}

/** What all sends have come to by now. */
function together(result: Json, failed: readonly FailedItem[], sent: Sent): ItemsFound {
  const { rule, kept, lost } = sent;
  const joined = kept === null || rule === null ? { result } : joinResults(kept, result, lost, rule);
  if (joined === null)
    return { kind: 'failed', failure: malformed('its answer has not one entry for each item that was sent again') };
  const now = failed.map(({ at, error }): PlacedError => ({ at: at ?? Number.MAX_SAFE_INTEGER, error }));
  return {
    kind: 'found',
    result: joined.result,
    errors: inOrder([...(kept?.errors ?? []), ...now]),
    failed,
    keepFor: (again) => keep(joined.result, again, now, sent),
  };
}

interface Sent {
  readonly rule: PartialRule | null;
  readonly kept: Kept | null;
  readonly items: Items | null;
  readonly places: readonly number[];
  readonly lost: ReadonlySet<number>;
}

function keep(result: Json, again: readonly number[], now: readonly PlacedError[], sent: Sent): Kept | null {
  const { rule, kept, items, places, lost } = sent;
  // INVARIANT: whoever cannot tell the items apart sends none of them again.
  if (rule === null || items === null || !items.areDistinct || now.length !== lost.size) return null;
  const form = kept?.form ?? formOf(rule, result, places, lost);
  if (form === null) return null;
  const settled = now.filter(({ at }) => !again.includes(at));
  return {
    result,
    form,
    of: items.values.length,
    errors: [...(kept?.errors ?? []), ...settled],
    left: again,
    sends: (kept?.sends ?? 0) + 1,
  };
}

interface Stated {
  readonly failures: readonly ItemFailure[];
  readonly of: number | null;
}

/** The tool's own word; else what is declared about its answers. */
function failuresIn(returned: Returned, result: Json, { rule, args, kept }: SentItems): Stated {
  const { errors, of = null, mixed } = returned;
  if (errors.length > 0) return { failures: errors, of };
  const sentArgs = rule === null || kept === null ? args : onlyItems(rule, args, kept.left);
  const read = rule?.read?.(sentArgs, result) ?? (mixed === true ? readMultiStatus(result) : null);
  if (read === null) return { failures: [], of };
  return read.ok ? read : { failures: [unreadable(read.problem)], of: null };
}

/** INVARIANT: an answer of which nobody can say what failed is never told as if nothing had. */
const unreadable = (problem: string): ItemFailure => ({
  item: '*',
  kind: 'schema_validation',
  subject: 'response',
  message: `which items failed cannot be told: ${problem}`,
});

function distinct(
  failures: readonly ItemFailure[],
  items: Items | null,
  places: readonly number[],
  { effectClass }: Call,
): readonly FailedItem[] {
  const found = new Map<string, FailedItem>();
  for (const failure of failures) {
    const at = items === null ? null : placeOf(failure.item, items, places);
    const name = at === null ? failure.item : (items?.names[at] ?? failure.item);
    const key = at === null ? `${typeof name}:${name}` : `at:${at}`;
    if (!found.has(key)) found.set(key, failedItem(failure, at, name, effectClass));
  }
  return [...found.values()];
}

/** A write without a number of items may have done some of them, whatever it returns. */
function isAll(failed: readonly FailedItem[], of: number | null, { effectClass }: Call, result: Json): boolean {
  return of === null ? effectClass === 'pure' && isEmptyResult(result) : failed.length >= of;
}

const maxItemsTold = 3;

function allFailed(failed: readonly FailedItem[]): Failure {
  const worst = worstOf(failed);
  const { kind = 'unknown', subject = null } = worst?.trouble.error ?? {};
  const told = failed.slice(0, maxItemsTold).map(({ error }) => `${error.item}: ${error.message ?? error.code}`);
  const more = failed.length > maxItemsTold ? `; and ${failed.length - maxItemsTold} more` : '';
  const whole = failed.length === 1 ? 'the only item failed' : `all ${failed.length} items failed`;
  return makeFailure(kind, `${whole}: ${told.join('; ')}${more}`, {
    errorType: 'AllItemsFailed',
    subject,
    effect: worst?.trouble.effect ?? null,
    cause: canonicalText(failed.map(({ error }) => error) as unknown as Json),
  });
}

const malformed = (message: string): Failure =>
  makeFailure('schema_validation', message, { subject: 'response', errorType: 'OutputMalformed' });
