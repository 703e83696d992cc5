/** The clock as a port. Wall time is data; only monotonic time measures durations. */
export interface Clock {
  nowMs(): number;
  monotonicMs(): number;
  /** Calls back once, after at least this long; the returned function cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** The same, for work that must not keep the process alive. */
  background(delayMs: number, callback: () => void): () => void;
}
