/**
 * The windows of budgets: hours, days, weeks and months of a named time zone. An instant belongs to exactly one window;
 * its bounds are found where the local time changes its name, so daylight saving needs no rule of its own. Pure.
 */
import { readTimestamp } from '../cel/cel-time.ts';
import { unreachable } from '../values/unreachable.ts';

export const windowKinds = ['hourly', 'daily', 'weekly', 'monthly', 'session', 'total'] as const;
export type WindowKind = (typeof windowKinds)[number];

/** Windows that end by themselves. */
export type TimedKind = Exclude<WindowKind, 'session' | 'total'>;

export interface Window {
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

const hour = 3_600_000;
const day = 24 * hour;

/** Longer than any window of its kind. */
const spans: Readonly<Record<TimedKind, number>> = {
  hourly: 3 * hour,
  daily: 3 * day,
  weekly: 9 * day,
  monthly: 33 * day,
};

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    timeZoneName: 'longOffset',
  });
  formats.set(timeZone, made);
  return made;
}

export function isTimeZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** What the window around this instant is called in local time; two instants of one window have the same name. */
function nameAt(kind: TimedKind, timeZone: string, atMs: number): string {
  const parts: Record<string, string> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(atMs)) parts[type] = value;
  const { year, month, day: dayOfMonth, hour: hourOfDay, timeZoneName } = parts;
  switch (kind) {
    case 'hourly':
      // The hour that daylight saving repeats is two hours.
      return `${year}-${month}-${dayOfMonth}T${hourOfDay}${timeZoneName}`;
    case 'daily':
      return `${year}-${month}-${dayOfMonth}`;
    case 'weekly': {
      const days = (readTimestamp(`${year}-${month}-${dayOfMonth}T00:00:00Z`) ?? 0) / day;
      // The first of January 1970 was a Thursday; weeks begin on Monday.
      return `week ${Math.floor((days + 3) / 7)}`;
    }
    case 'monthly':
      return `${year}-${month}`;
    default:
      return unreachable(kind);
  }
}

/** The first instant from `from` on at which `isBeyond`, which changes once between the two, is true. */
function firstWhere(from: number, to: number, isBeyond: (atMs: number) => boolean): number {
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isBeyond(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The window that was asked for last, by kind and time zone: most calls ask for the same. */
const last = new Map<string, Window>();

export function windowAt(kind: TimedKind, timeZone: string, atMs: number): Window {
  const key = `${kind} ${timeZone}`;
  const known = last.get(key);
  if (known !== undefined && atMs >= known.startsAtMs && atMs < known.endsAtMs) return known;
  const name = nameAt(kind, timeZone, atMs);
  const isOther = (at: number) => nameAt(kind, timeZone, at) !== name;
  const window = {
    startsAtMs: firstWhere(atMs - spans[kind], atMs, (at) => !isOther(at)),
    endsAtMs: firstWhere(atMs, atMs + spans[kind], isOther),
  };
  last.set(key, window);
  return window;
}
