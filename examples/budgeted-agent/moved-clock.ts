/** A clock that runs like the machine's and can be moved forward, so that nobody has to wait for the end of a day. */
export function createMovedClock(start: string) {
  let offsetMs = Date.parse(start) - Date.now();
  const after = (delayMs: number, callback: () => void) =>
    setTimeout(callback, Math.min(Math.max(0, delayMs), 2 ** 31 - 1));
  return {
    nowMs: () => Date.now() + offsetMs,
    monotonicMs: () => performance.now(),
    schedule(delayMs: number, callback: () => void): () => void {
      const timer = after(delayMs, callback);
      return () => clearTimeout(timer);
    },
    background(delayMs: number, callback: () => void): () => void {
      const timer = after(delayMs, callback).unref();
      return () => clearTimeout(timer);
    },
    moveTo(atMs: number): void {
      offsetMs = atMs - Date.now();
    },
  };
}
