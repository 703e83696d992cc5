/**
 * Which failed items of a partial result are sent again, and when: each by the entry of the playbook for its own
 * failure, all of them together. Pure.
 */
import type { PartialError } from '../call/reply.ts';
import { classify } from '../recovery/classify.ts';
import { plan, type Plan, type PlanFacts, type Trouble } from '../recovery/plan.ts';
import type { EffectClass, ErrorSubject, ToolError } from '../taxonomy.ts';
import { safeText } from '../values/redact.ts';
import type { ItemFailure, PartialRule } from './partial-rule.ts';

/** An item that failed in one send. */
export interface FailedItem {
  /** Its place in the arguments; null if it cannot be told. */
  readonly at: number | null;
  readonly trouble: Trouble;
  readonly error: PartialError;
}

export const maxItemMessageChars = 500;

export function failedItem(
  failure: ItemFailure,
  at: number | null,
  name: string | number,
  effectClass: EffectClass,
): FailedItem {
  const subject = failure.subject as ErrorSubject | undefined;
  const classification = classify(failure.kind, subject, effectClass);
  const stated = failure.effect === 'none' || effectClass === 'pure' ? 'none' : failure.effect;
  const effect = stated === undefined ? classification.effect : stated === 'none' ? 'none' : 'unknown';
  const message = safeText(failure.message, maxItemMessageChars);
  const error: ToolError = { kind: failure.kind, ...(subject === undefined ? {} : { subject }), message };
  return {
    at,
    trouble: { error, classification, effect },
    error: {
      class: classification.class,
      code: classification.code,
      item: name,
      message,
      ...(effect === 'unknown' ? { effect } : {}),
    } as PartialError,
  };
}

/** Of items that all failed, the one that tells what became of the call: one that may have been done, if there is one. */
export const worstOf = (failed: readonly FailedItem[]): FailedItem | undefined =>
  failed.find(({ trouble }) => trouble.effect !== 'none') ?? failed[0];

export interface ItemsPlan {
  readonly planned: Extract<Plan, { kind: 'retry' }>;
  /** The failure whose pause is kept. */
  readonly trouble: Trouble;
  /** The places of the items that are sent again, in order. */
  readonly again: readonly number[];
}

type Declared = Pick<PartialRule, 'retry' | 'keyedByItem'>;

/** Null if no failed item is sent again. */
export function planItems(
  facts: Omit<PlanFacts, 'trouble'>,
  failed: readonly FailedItem[],
  declared: Declared,
): ItemsPlan | null {
  if (!declared.retry) return null;
  const found = failed.flatMap(({ at, trouble }) => {
    if (at === null || !mayBeSentAgain(trouble, facts.call.effectClass, declared)) return [];
    const planned = plan({ ...facts, trouble });
    return planned.kind === 'retry' ? [{ at, trouble, planned }] : [];
  });
  const [first, ...others] = found;
  if (first === undefined) return null;
  // All of them go together, so the longest pause counts.
  const last = others.reduce((one, other) => (other.planned.atMs > one.planned.atMs ? other : one), first);
  const again = found.map(({ at }) => at).toSorted((one, other) => one - other);
  return { planned: last.planned, trouble: last.trouble, again };
}

/**
 * INVARIANT: an item whose effect is unknown is sent again only if it is a read, or if the upstream knows each item by
 * its key: a send of some of the items is another request than the first, so the key of the request protects nothing.
 */
function mayBeSentAgain({ effect }: Trouble, effectClass: EffectClass, { keyedByItem }: Declared): boolean {
  if (effect === 'none' || effectClass === 'pure') return true;
  return effectClass === 'keyed' && keyedByItem;
}
