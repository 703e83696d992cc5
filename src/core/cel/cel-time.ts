/**
 * Timestamps in CEL, made from milliseconds and never from a clock. Text must be RFC 3339 with an offset; the engine
 * itself accepts local time and more.
 */
import { evaluate } from '@marcbachmann/cel-js';

const epoch = evaluate('timestamp(0)') as object;
const Moment = epoch.constructor as new (ms: number) => object;

const firstMs = -62_135_596_800_000;
const lastMs = 253_402_300_799_999;

export function timestampOf(ms: number): object {
  return new Moment(ms);
}

/** Null for what is no moment between the years 1 and 9999. */
export function timestampFrom(ms: number): object | null {
  return ms >= firstMs && ms <= lastMs ? new Moment(ms) : null;
}

const written = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Milliseconds since 1970 of `2027-01-01T00:00:00Z` and its like; null if it is no such text. */
export function readTimestamp(text: string): number | null {
  const found = text.length > 40 ? null : written.exec(text);
  if (found === null) return null;
  const at = (group: number) => Number(found[group] ?? 0);
  const [year, month, day] = [at(1), at(2), at(3)] as const;
  const [hour, minute, second] = [at(4), at(5), at(6)] as const;
  const [offsetHour, offsetMinute] = [at(9), at(10)] as const;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return null;
  const offset = (offsetHour * 60 + offsetMinute) * (found[8] === '-' ? -1 : 1);
  const fraction = Number(`${found[7] ?? ''}000`.slice(0, 3));
  const minutes = daysBefore(year, month, day) * 1_440 + hour * 60 + minute - offset;
  return (minutes * 60 + second) * 1_000 + fraction;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

const daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] as const;
const daysFromYear1To1970 = 719_162;

/** Whole days from 1970-01-01. */
function daysBefore(year: number, month: number, day: number): number {
  const years = year - 1;
  const leaps = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  const inYear = (daysBeforeMonth[month - 1] ?? 0) + (month > 2 && isLeap(year) ? 1 : 0) + day - 1;
  return years * 365 + leaps + inYear - daysFromYear1To1970;
}
