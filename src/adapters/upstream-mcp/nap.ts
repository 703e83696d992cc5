/** A wait that somebody may end early. One at a time. */
export interface Nap {
  sleep(maxMs: number): Promise<void>;
  wake(): void;
}

export function createNap(): Nap {
  let wake: () => void = () => undefined;
  return {
    sleep: (maxMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, maxMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    wake: () => wake(),
  };
}

/** Until the promise resolves, the time is over or the signal is aborted; listeners and timers do not stay behind. */
export function firstOf(promise: Promise<void>, maxMs: number, signal: AbortSignal): Promise<void> {
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
