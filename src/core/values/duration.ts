/** Durations: formats milliseconds as configuration reads them, and converts seconds to whole milliseconds. */

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
