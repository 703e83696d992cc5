/** Waits between attempts: how long to wait before a server is tried again, and waits that can end early. */
export interface BackoffLimits {
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  readonly healthyAfterMs: number;
}

export interface Backoff {
  /** `heldMs`: how long the last connection held, 0 if there was none. */
  next(heldMs: number): number;
}

/** Doubles up to a limit. After a connection that held long enough it starts again with the first wait. */
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

/** One wait at a time, which another party may end early. */
export interface Delay {
  wait(maxMs: number): Promise<void>;
  endEarly(): void;
}

export function createDelay(): Delay {
  let endEarly: () => void = () => undefined;
  return {
    wait: (maxMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, maxMs);
        endEarly = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    endEarly: () => endEarly(),
  };
}

/**
 * Resolves when the promise settles, the time is over or the signal is aborted. Leaves no timer and no listener behind.
 */
export function waitFor(promise: Promise<void>, maxMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.max(0, maxMs));
    signal.addEventListener('abort', done, { once: true });
    promise.then(done, done);
  });
}
