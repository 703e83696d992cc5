/** Ids that cannot be guessed and never repeat. */
export interface Ids {
  /** Ordered by time, so that rows are appended: for calls. */
  ordered(prefix: string, nowMs: number): string;
  /** Without order or meaning, 128 bits: for handles that grant something. */
  random(prefix: string): string;
}
