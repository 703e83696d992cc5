/**
 * Amounts of money, calls and tokens. Money is counted in millionths of its currency, so sums are exact; calls and
 * tokens are counted as they are. Pure.
 */

/** A currency of three letters, or what is counted. */
export type Unit = string;

export const countedUnits = ['calls', 'tokens'] as const;

export interface Amount {
  readonly micros: number;
  readonly unit: Unit;
}

/** The largest single amount. */
export const maxMicros = 2 ** 52;
/** The most that an account can hold: beyond it sums would not be exact. */
export const maxSumMicros = Number.MAX_SAFE_INTEGER;

const text = /^([0-9]{1,12})(?:\.([0-9]{1,6}))? ([A-Z]{3}|calls|tokens)$/;

export const amountForm = 'an amount and a unit, such as 500 USD, 1000 calls or 200000 tokens';

export const scaleOf = (unit: Unit): number => ((countedUnits as readonly string[]).includes(unit) ? 1 : 1_000_000);

/** Null for a text that is no amount, or one that is too large. */
export function readAmount(written: string): Amount | null {
  const [, whole, fraction = '', unit] = text.exec(written) ?? [];
  if (whole === undefined || unit === undefined) return null;
  const scale = scaleOf(unit);
  if (scale === 1 && fraction !== '') return null;
  const micros = Number(whole) * scale + (scale === 1 ? 0 : Number(fraction.padEnd(6, '0')));
  return micros <= maxMicros ? { micros, unit } : null;
}

/** A number in units of the budget, as a whole number of its smallest parts. Null for what is no cost. */
export function toMicros(value: number, unit: Unit): number | null {
  if (!Number.isFinite(value) || value < 0) return null;
  const scale = scaleOf(unit);
  // At least 0, which -0 is not.
  const micros = Math.max(0, wholeFrom(value * scale));
  return micros <= maxMicros ? micros : null;
}

/** Rounded up: a part of the smallest unit counts as a whole one. An error of floating point is no part. */
export function wholeFrom(exact: number): number {
  const nearest = Math.round(exact);
  const isWhole = nearest > 0 && Math.abs(exact - nearest) <= nearest * 16 * Number.EPSILON;
  return isWhole ? nearest : Math.ceil(exact);
}

/** In whole percent, rounded down. */
export const percentOf = (part: number, whole: number): number =>
  whole === 0 ? 100 : Math.floor((part * 100) / whole);

/** `$400.00`, `0.0005 EUR`, `12 calls`. */
export function amountText(micros: number, unit: Unit): string {
  const scale = scaleOf(unit);
  if (scale === 1) return `${micros} ${unit}`;
  const sign = micros < 0 ? '-' : '';
  const whole = Math.floor(Math.abs(micros) / scale);
  const fraction = String(Math.abs(micros) % scale)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return unit === 'USD' ? `${sign}$${whole}.${fraction}` : `${sign}${whole}.${fraction} ${unit}`;
}
