/** Every limit of HTTP upstreams, with its default. recourse.yaml sets those of a server under `http`. */
import { type ClientLimits, defaultClientLimits } from '../shared/http/client-limits.ts';

export interface HttpLimits extends ClientLimits {
  /** Redirects that one call follows, where they are followed at all. */
  readonly maxRedirects: number;
  /** An attempt that was not sent by then is not sent: another process may have taken it over. */
  readonly maxSendDelayMs: number;
  /** How long, and for how many writes, the answer is awaited after their timeout. */
  readonly lateAnswerMs: number;
  readonly maxLateAnswers: number;
  /** Retry-After beyond this counts as this. */
  readonly maxRetryAfterSeconds: number;
  /** Characters of an upstream's own words in a message. */
  readonly maxMessageChars: number;
}

export const defaultHttpLimits: HttpLimits = {
  ...defaultClientLimits,
  maxRedirects: 5,
  maxSendDelayMs: 2_000,
  lateAnswerMs: 15 * 60_000,
  maxLateAnswers: 64,
  maxRetryAfterSeconds: 366 * 86_400,
  maxMessageChars: 500,
};
