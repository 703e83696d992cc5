/** How long to wait until a delivery is tried again? Doubles up to a limit, with some chance in it; the receiver may ask for more. Pure. */
import type { WebhookLimits } from './webhook-limits.ts';

type DelayLimits = Pick<WebhookLimits, 'backoffInitialMs' | 'backoffMaxMs' | 'jitter' | 'maxRetryAfterMs'>;

/** `tries`: how often it was tried so far, at least 1. `chance`: at least 0 and less than 1. */
export function retryDelay(tries: number, retryAfterMs: number | null, chance: number, limits: DelayLimits): number {
  const doubled = limits.backoffInitialMs * 2 ** Math.min(tries - 1, 30);
  const backoff = Math.min(doubled, limits.backoffMaxMs) * (1 + limits.jitter * (2 * chance - 1));
  // Not earlier than asked: what chance adds, it adds to ours.
  return Math.round(Math.max(backoff, Math.min(retryAfterMs ?? 0, limits.maxRetryAfterMs)));
}

/** Seconds or a date; null for everything else. */
export function readRetryAfter(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1_000;
  const atMs = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
