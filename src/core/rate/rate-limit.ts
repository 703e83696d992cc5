/**
 * Rate limits as token buckets that refill continuously. A bucket is one number: the instant at which it would be full
 * again if nothing more were taken. Taking a token moves that instant on by one interval. Pure.
 */
import type { ToolPattern } from '../policy/tool-pattern.ts';

/** One limit, as it is written. */
export interface WrittenLimit {
  readonly match: string;
  /** Such as `10/minute`. */
  readonly rate: string;
  /** How many tokens the bucket holds; as many as the rate names if it does not say. */
  readonly burst: number | null;
  /** `file:line` of the limit. */
  readonly ref: string;
}

export interface RateLimit {
  readonly written: WrittenLimit;
  readonly pattern: ToolPattern;
  /** Which bucket it draws from, within the tenant. */
  readonly bucket: string;
  /** How long one token takes to come back. */
  readonly intervalMicros: number;
  readonly burst: number;
}

export const ratePeriods = {
  second: 1_000_000,
  minute: 60_000_000,
  hour: 3_600_000_000,
  day: 86_400_000_000,
} as const;

const written = /^([1-9][0-9]{0,8})\/(second|minute|hour|day)$/;

/** Null for a text that is no rate. Rounded up, so that no more than the rate passes. */
export function readRate(rate: string): Rate | null {
  const [, count, period] = written.exec(rate) ?? [];
  if (count === undefined || period === undefined) return null;
  const intervalMicros = Math.ceil(ratePeriods[period as keyof typeof ratePeriods] / Number(count));
  return { count: Number(count), period, intervalMicros };
}

/** Beyond it the instant at which a bucket is full could not be told exactly: a hundred years. */
export const maxFillMicros = 100 * 366 * ratePeriods.day;

interface Rate {
  readonly count: number;
  readonly period: string;
  readonly intervalMicros: number;
}

/** What a token is taken by: the same for the gate that asks and the store that takes. */
export type Bucket = Pick<RateLimit, 'intervalMicros' | 'burst'>;

export interface TakenToken {
  readonly fullAtMicros: number;
  /** How long until one can be taken; 0 if one can be taken now. */
  readonly waitMicros: number;
}

/** `fullAtMicros` null: nothing was ever taken. The result counts only if nobody has to wait. */
export function takeToken(
  { intervalMicros, burst }: Bucket,
  fullAtMicros: number | null,
  nowMicros: number,
): TakenToken {
  const emptyMicros = burst * intervalMicros;
  // A bucket that was larger before is empty at most.
  const before = Math.min(Math.max(fullAtMicros ?? 0, nowMicros), nowMicros + emptyMicros);
  const after = before + intervalMicros;
  return { fullAtMicros: after, waitMicros: Math.max(0, after - nowMicros - emptyMicros) };
}

/** How many tokens are in the bucket now. */
export function tokensLeft({ intervalMicros, burst }: Bucket, fullAtMicros: number | null, nowMicros: number): number {
  const missing = Math.max(0, (fullAtMicros ?? 0) - nowMicros) / intervalMicros;
  return Math.max(0, Math.floor(burst - missing));
}

/** The wait that is told: whole seconds, never shorter than the true one. */
export const waitSeconds = (waitMicros: number): number => Math.max(1, Math.ceil(waitMicros / 1_000_000));
