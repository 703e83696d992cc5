/** What a process knows about an upstream and its breaker. Types only. */
import type { Breaker } from '../core/recovery/breaker.ts';
import type { ErrorKind } from '../core/taxonomy.ts';

export interface UpstreamHealth {
  readonly breaker: Breaker;
  /** Tokens of the retry budget. */
  readonly tokens: number;
  /** Retries that were sent since the process began. */
  readonly retries: number;
  /** How often the breaker opened since the process began, and the last failure that counted; null if none did. */
  readonly openings: number;
  readonly lastFailure: ErrorKind | null;
}

export interface BreakerOnRecord {
  readonly state: 'open' | 'closed';
  /** Openings that are covered by it. */
  readonly seen: number;
  /** When each was recorded last, by the monotonic clock. */
  readonly openedMs: number | null;
  readonly closedMs: number | null;
}
