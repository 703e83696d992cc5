/** A number of seconds in whole milliseconds, as the store keeps times: the nearest, and at least one if there are any. */
export const wholeMs = (seconds: number): number => (seconds > 0 ? Math.max(1, Math.round(seconds * 1_000)) : 0);
