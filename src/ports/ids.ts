/** Ids that cannot be guessed and never repeat, and chance. */
export interface Ids {
  /** For calls: ordered by time, so that rows are appended. */
  ordered(prefix: string, nowMs: number): string;
  /** For handles that grant access: 128 random bits. */
  random(prefix: string): string;
  /** From 0 to 1, for the jitter of pauses. */
  chance(): number;
}
