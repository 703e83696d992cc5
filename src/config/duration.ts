/** Parses durations such as `250ms`, `10s`, `5m`, `2h` and `1d`. Null for anything else. */
const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** As JSON Schema writes it. */
export const durationPattern = '^[0-9]{1,9}(?:\\.[0-9]{1,3})?(?:ms|s|m|h|d)$';
export const durationForms = '250ms, 10s, 5m, 2h or 1d';

const written = new RegExp(durationPattern);

export function durationMs(text: string): number | null {
  if (!written.test(text)) return null;
  const unit = /[a-z]+$/.exec(text)?.[0] as keyof typeof units;
  return Math.round(Number(text.slice(0, -unit.length)) * units[unit]);
}
