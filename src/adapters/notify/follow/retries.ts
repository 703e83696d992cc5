/** When a failed message is tried again, and when it is given up. Times are lost with the process: then it is due. */
import type { Clock } from '../../../ports/clock.ts';
import type { NoticeLimits } from './notice-limits.ts';
import { isAt, positionText } from './positions.ts';
import type { Failed } from './subscriber.ts';

export interface Retries {
  isDue(failed: Failed): boolean;
  schedule(failed: Failed, retryAfterMs: number | null): void;
  isExpired(failed: Failed): boolean;
  /** Reports it, and puts it on record. */
  giveUp(failed: Failed, problem: string): void;
  forget(failed: Pick<Failed, 'at'>): void;
}

export interface RetryParts {
  readonly clock: Clock;
  readonly random: () => number;
  readonly limits: NoticeLimits;
  readonly report: (text: string) => void;
  readonly onGivenUp: (what: string, reason: string) => void;
}

export function trackRetries({ clock, random, limits, report, onGivenUp }: RetryParts): Retries {
  const dueMs = new Map<string, number>();
  return {
    isDue: ({ at }) => clock.monotonicMs() >= (dueMs.get(positionText(at)) ?? 0),
    schedule({ at, tries }, retryAfterMs) {
      const delayMs = retryDelay(tries, retryAfterMs, random(), limits);
      dueMs.set(positionText(at), clock.monotonicMs() + delayMs);
    },
    isExpired: ({ tries, sinceMs }) => tries >= limits.maxTries || clock.nowMs() - sinceMs >= limits.maxAgeMs,
    giveUp({ at, through, tries }, problem) {
      dueMs.delete(positionText(at));
      const what = isAt(at, through) ? positionText(at) : `${positionText(at)} to ${positionText(through)}`;
      const after = `given up after ${tries} ${tries === 1 ? 'try' : 'tries'} (${problem})`;
      report(`was not told of ${what}, ${after}: recourse audit shows it`);
      onGivenUp(`the message about ${what}`, after);
    },
    forget: ({ at }) => void dueMs.delete(positionText(at)),
  };
}

type DelayLimits = Pick<NoticeLimits, 'backoffInitialMs' | 'backoffMaxMs' | 'jitter' | 'maxRetryAfterMs'>;

/**
 * How long to wait before the next try. `tries`: how often it was tried so far, at least 1. `random`: at least 0 and
 * less than 1.
 */
export function retryDelay(tries: number, retryAfterMs: number | null, random: number, limits: DelayLimits): number {
  const doubled = limits.backoffInitialMs * 2 ** Math.min(tries - 1, 30);
  const backoff = Math.min(doubled, limits.backoffMaxMs) * (1 + limits.jitter * (2 * random - 1));
  // Never earlier than the receiver asks: the jitter applies to our own delay only.
  return Math.round(Math.max(backoff, Math.min(retryAfterMs ?? 0, limits.maxRetryAfterMs)));
}
