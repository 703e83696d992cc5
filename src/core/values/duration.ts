/** Durations: reads and formats them as configuration does, and converts seconds to whole milliseconds. */

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

export function durationText(ms: number): string {
  const [unit, size] = units.find(([, each]) => ms >= each && ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

export const secondsToMs = (seconds: number): number => (seconds > 0 ? Math.max(1, Math.round(seconds * 1_000)) : 0);

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** As JSON Schema writes it. */
export const durationPattern = '^[0-9]{1,9}(?:\\.[0-9]{1,3})?(?:ms|s|m|h|d)$';
export const durationForms = '250ms, 10s, 5m, 2h or 1d';

const written = new RegExp(durationPattern);

/** Null for anything but `250ms`, `10s`, `5m`, `2h` and `1d`. */
export function durationMs(text: string): number | null {
  if (!written.test(text)) return null;
  const unit = /[a-z]+$/.exec(text)?.[0] as keyof typeof unitMs;
  return Math.round(Number(text.slice(0, -unit.length)) * unitMs[unit]);
}
