/** How long an upstream asks to wait: Retry-After as seconds or as a date, in milliseconds, or RetryInfo. Pure. */

/**
 * `retry-after-ms` is the more exact one. A date counts from the Date header of the same answer, so that two clocks that
 * differ do no harm; else from our own clock.
 */
export function readRetryAfter(
  headers: Readonly<Record<string, string>>,
  nowMs: number,
  maxSeconds: number,
): number | null {
  const exact = headers['retry-after-ms']?.trim() ?? '';
  if (/^\d{1,15}$/.test(exact)) return Math.min(Number(exact) / 1_000, maxSeconds);
  const text = headers['retry-after']?.trim();
  if (text === undefined) return null;
  if (/^\d{1,15}$/.test(text)) return Math.min(Number(text), maxSeconds);
  const at = dateMs(text);
  if (at === null) return null;
  const from = dateMs(headers['date']) ?? nowMs;
  return Math.min(Math.max(0, Math.ceil((at - from) / 1_000)), maxSeconds);
}

/** The three forms of a date in HTTP begin with the name of a day; other texts are no dates. */
function dateMs(text: string | undefined): number | null {
  if (text === undefined || !/^[A-Z][a-z]{2,8},? /.test(text)) return null;
  const ms = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
  return Number.isNaN(ms) ? null : ms;
}

/** `3s`, `1.500s`: a Duration in JSON. */
export function readDuration(text: unknown, maxSeconds: number): number | null {
  if (typeof text !== 'string' || !/^\d{1,12}(?:\.\d{1,9})?s$/.test(text)) return null;
  return Math.min(Math.ceil(Number(text.slice(0, -1))), maxSeconds);
}
