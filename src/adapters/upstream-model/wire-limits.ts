/** Every limit of requests to providers of models, with its default. recourse.yaml sets those of `ModelLimits`. */
import { type ClientLimits, defaultClientLimits } from '../shared/http/client-limits.ts';

export interface WireLimits extends ClientLimits {
  /** An attempt that was not sent by then is not sent: another process may have taken it over. */
  readonly maxSendDelayMs: number;
  /** Characters of one event of a stream; the last one of a response repeats all of it. */
  readonly maxEventChars: number;
  /** Events of one stream. */
  readonly maxEvents: number;
  /** After the last event of a stream: how long its connection is given to end, so that it can be kept. */
  readonly lingerMs: number;
  /** Retry-After beyond this counts as this. */
  readonly maxRetryAfterSeconds: number;
  /** Characters of a provider's own words in a message. */
  readonly maxMessageChars: number;
}

export const defaultWireLimits: WireLimits = {
  ...defaultClientLimits,
  maxSendDelayMs: 2_000,
  maxEventChars: 16 << 20,
  maxEvents: 1_000_000,
  lingerMs: 1_000,
  maxRetryAfterSeconds: 366 * 86_400,
  maxMessageChars: 500,
};
