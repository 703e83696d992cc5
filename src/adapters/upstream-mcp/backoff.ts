/** How long to wait before a server is tried again? Doubles up to a limit; a connection that held begins anew. */
export interface BackoffLimits {
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  readonly healthyAfterMs: number;
}

export interface Backoff {
  /** `heldMs`: how long the last connection held, 0 if there was none. */
  next(heldMs: number): number;
}

export function createBackoff(limits: BackoffLimits): Backoff {
  let waitMs = limits.backoffInitialMs;
  return {
    next(heldMs) {
      if (heldMs >= limits.healthyAfterMs) waitMs = limits.backoffInitialMs;
      const now = waitMs;
      waitMs = Math.min(limits.backoffMaxMs, waitMs * 2);
      return now;
    },
  };
}
