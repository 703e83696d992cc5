/**
 * The possible values of one term. Ranges only become narrower, and an empty range is a proven contradiction. Claims
 * that are not understood change nothing.
 */
import type { Constant, Sign } from '../../cel/condition.ts';
import { unreachable } from '../../values/unreachable.ts';

export type Sort = 'null' | 'bool' | 'number' | 'text' | 'other';

interface Bound<Value> {
  readonly at: Value;
  /** The bound itself is outside. */
  readonly open: boolean;
}

interface Interval<Value> {
  readonly low: Bound<Value> | null;
  readonly high: Bound<Value> | null;
}

export interface ValueRange {
  readonly sorts: ReadonlySet<Sort>;
  /** Nothing but these; null for any number of values. */
  readonly only: readonly Constant[] | null;
  readonly not: readonly Constant[];
  readonly numbers: Interval<number>;
  readonly texts: Interval<string>;
  /** Numbers are whole. */
  readonly whole: boolean;
}

const everything = { low: null, high: null } as const;
const allSorts: readonly Sort[] = ['null', 'bool', 'number', 'text', 'other'];

export const anyValue: ValueRange = {
  sorts: new Set(allSorts),
  only: null,
  not: [],
  numbers: everything,
  texts: everything,
  whole: false,
};

export function sortOf(value: Constant): Sort {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'number' ? 'number' : 'text';
}

export const ofSorts = (range: ValueRange, sorts: readonly Sort[]): ValueRange => ({
  ...range,
  sorts: new Set(sorts.filter((sort) => range.sorts.has(sort))),
});

export const oneOf = (range: ValueRange, list: readonly Constant[]): ValueRange => ({
  ...range,
  only: range.only === null ? list : range.only.filter((each) => list.includes(each)),
});

export const noneOf = (range: ValueRange, list: readonly Constant[]): ValueRange => ({
  ...range,
  not: [...range.not, ...list],
});

export const wholeOnly = (range: ValueRange): ValueRange => ({ ...range, whole: true });

/** The value compares in this way: it is of the same sort, and on this side. */
export function compared(range: ValueRange, sign: Sign, to: Constant): ValueRange {
  if (sign === '==') return oneOf(range, [to]);
  if (sign === '!=') return noneOf(range, [to]);
  if (typeof to === 'number') {
    const within = ofSorts(range, ['number']);
    return { ...within, numbers: bounded(within.numbers, sign, to) };
  }
  if (typeof to !== 'string') return range;
  const within = ofSorts(range, ['text']);
  return { ...within, texts: bounded(within.texts, sign, to) };
}

function bounded<Value extends number | string>(
  { low, high }: Interval<Value>,
  sign: Sign,
  at: Value,
): Interval<Value> {
  const bound = { at, open: sign === '<' || sign === '>' };
  const isTighter = (now: Bound<Value> | null, further: boolean) =>
    now === null || further || (now.at === at && bound.open);
  if (sign === '<' || sign === '<=')
    return { low, high: isTighter(high, high !== null && at < high.at) ? bound : high };
  return { low: isTighter(low, low !== null && at > low.at) ? bound : low, high };
}

/** Proven: there is no such value. */
export function isEmpty(range: ValueRange): boolean {
  if (range.only !== null) return !range.only.some((each) => fits(range, each));
  return ![...range.sorts].some((sort) => hasSome(range, sort));
}

function fits({ sorts, not, numbers, texts, whole }: ValueRange, value: Constant): boolean {
  if (!sorts.has(sortOf(value)) || not.includes(value)) return false;
  if (typeof value === 'number') return isInside(numbers, value) && (!whole || Number.isInteger(value));
  return typeof value === 'string' ? isInside(texts, value) : true;
}

function isInside<Value extends number | string>({ low, high }: Interval<Value>, value: Value): boolean {
  const above = low === null || value > low.at || (value === low.at && !low.open);
  return above && (high === null || value < high.at || (value === high.at && !high.open));
}

function hasSome(range: ValueRange, sort: Sort): boolean {
  switch (sort) {
    case 'null':
      return fits(range, null);
    case 'bool':
      return fits(range, true) || fits(range, false);
    case 'number':
      return hasNumber(range);
    case 'text': {
      const { low, high } = range.texts;
      if (low === null || high === null || low.at < high.at) return true;
      return low.at === high.at && fits(range, low.at);
    }
    case 'other':
      return true;
    default:
      return unreachable(sort);
  }
}

/** So many whole numbers are looked at one by one. */
const maxTried = 64;

function hasNumber(range: ValueRange): boolean {
  const { low, high } = range.numbers;
  if (low === null || high === null) return true;
  if (!range.whole) return low.at < high.at || (low.at === high.at && fits(range, low.at));
  const [first, last] = [Math.ceil(low.at), Math.floor(high.at)];
  if (last - first >= maxTried) return true;
  for (let each = first; each <= last; each++) if (fits(range, each)) return true;
  return false;
}
