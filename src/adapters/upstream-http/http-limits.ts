/** Every limit of HTTP upstreams, with its default. recourse.yaml sets those of a server under `http`. */
export interface HttpLimits {
  /** Opening a connection, TLS included. */
  readonly connectTimeoutMs: number;
  /** From the request to the head of the answer; the shell usually gives up earlier. */
  readonly headersTimeoutMs: number;
  /** Between two pieces of an answer. */
  readonly bodyTimeoutMs: number;
  /** An answer beyond this is refused, and its connection closed. */
  readonly maxResponseBytes: number;
  readonly maxHeaderBytes: number;
  /** Heads of status 1xx before the answer. */
  readonly maxEarlyHeads: number;
  /** Connections to one origin; further requests wait for one of them. */
  readonly maxConnections: number;
  /** How long an idle connection is kept, unless the server announces less. */
  readonly keepAliveMs: number;
  /** Redirects that one call follows, where they are followed at all. */
  readonly maxRedirects: number;
  /** An attempt that was not sent by then is not sent: another process may have taken it over. */
  readonly maxSendDelayMs: number;
  /** How long, and for how many writes, the answer is awaited after their timeout. */
  readonly lateAnswerMs: number;
  readonly maxLateAnswers: number;
  /** Retry-After beyond this counts as this. */
  readonly maxRetryAfterSeconds: number;
  /** Characters of an upstream's own words in a message, and of its answer in a cause. */
  readonly maxMessageChars: number;
  readonly maxCauseChars: number;
}

export const defaultHttpLimits: HttpLimits = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 15 * 60_000,
  bodyTimeoutMs: 60_000,
  maxResponseBytes: 4 << 20,
  maxHeaderBytes: 16 << 10,
  maxEarlyHeads: 16,
  maxConnections: 128,
  keepAliveMs: 30_000,
  maxRedirects: 5,
  maxSendDelayMs: 2_000,
  lateAnswerMs: 15 * 60_000,
  maxLateAnswers: 64,
  maxRetryAfterSeconds: 366 * 86_400,
  maxMessageChars: 500,
  maxCauseChars: 4_000,
};
