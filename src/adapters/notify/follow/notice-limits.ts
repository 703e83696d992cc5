/**
 * Every limit of this adapter, by name, with its default. Receivers are not trusted: they may be slow, dead or
 * endless.
 */
export interface NoticeLimits {
  /** How long a subscriber waits when there is nothing to do. */
  readonly pollMs: number;
  /** Records that are read at once; their payloads may be large. */
  readonly pageSize: number;
  /** Occurrences that are kept for all subscribers, so that each record is read once. */
  readonly maxKept: number;
  /** A request that has no answer by then has failed. */
  readonly timeoutMs: number;
  /** Of an answer; the rest is not read. */
  readonly maxAnswerBytes: number;
  /** A message that is larger goes without arguments. */
  readonly maxBodyBytes: number;
  /** A delivery is given up after so many tries, or after so long, whichever comes first. */
  readonly maxTries: number;
  readonly maxAgeMs: number;
  readonly backoffInitialMs: number;
  readonly backoffMaxMs: number;
  /** A wait is up to this part longer or shorter, at random. */
  readonly jitter: number;
  readonly maxRetryAfterMs: number;
  /** After so many tries the next delivery is tried, to see whether the receiver fails or only this one. */
  readonly triesBeforeSkip: number;
  /** Messages of a subscriber that are set aside; beyond this the oldest is given up. */
  readonly maxAside: number;
  /** The cursor is written after so many pages without an occurrence. */
  readonly saveEveryPages: number;
  readonly maxCursorBytes: number;
  /** Events that a message lists; the rest is counted. */
  readonly maxListed: number;
  /** Pages of the journal that one message covers; what comes after them goes into the next. */
  readonly maxBatchPages: number;
  /** Of everything that one try of a notifier of an extension takes; a mail from the connection to the answer. */
  readonly notifierTimeoutMs: number;
  /** How long a request in flight may continue when the gateway closes. */
  readonly closeGraceMs: number;
}

export const noticeLimits: NoticeLimits = {
  pollMs: 250,
  pageSize: 50,
  maxKept: 1_000,
  timeoutMs: 10_000,
  maxAnswerBytes: 64 * 1_024,
  maxBodyBytes: 256 * 1_024,
  maxTries: 100,
  maxAgeMs: 24 * 3_600_000,
  backoffInitialMs: 1_000,
  backoffMaxMs: 15 * 60_000,
  jitter: 0.2,
  maxRetryAfterMs: 3_600_000,
  triesBeforeSkip: 5,
  maxAside: 100,
  saveEveryPages: 20,
  maxCursorBytes: 1 << 20,
  maxListed: 20,
  maxBatchPages: 200,
  notifierTimeoutMs: 60_000,
  closeGraceMs: 1_000,
};
