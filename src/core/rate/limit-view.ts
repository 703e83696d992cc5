/** The wire type of a rate limit as it stands: how many calls it would let through now, and when it is full again. Pure. */
import { instantText } from '../values/instant.ts';
import { type RateLimit, takeToken, tokensLeft, waitSeconds } from './rate-limit.ts';

export interface LimitView {
  /** Whose bucket it is; null if all agents share it. */
  readonly agent: string | null;
  readonly match: string;
  /** Such as `10/minute`. */
  readonly rate: string;
  readonly burst: number;
  /** How many calls it lets through at once, now. */
  readonly left: number;
  /** When one more can be taken; null if one can be taken now. */
  readonly next_in_seconds: number | null;
  /** When it is full again; null if it is full. */
  readonly full_at: string | null;
  /** `file:line` of it. */
  readonly ref: string;
}

/** `fullAtMicros` null: nothing was ever taken. */
export function viewOfLimit(limit: RateLimit, fullAtMicros: number | null, nowMs: number): LimitView {
  const { written, burst } = limit;
  const nowMicros = nowMs * 1_000;
  const { waitMicros } = takeToken(limit, fullAtMicros, nowMicros);
  return {
    agent: ownerOf(limit),
    match: written.match,
    rate: written.rate,
    burst,
    left: tokensLeft(limit, fullAtMicros, nowMicros),
    next_in_seconds: waitMicros === 0 ? null : waitSeconds(waitMicros),
    full_at: fullAtMicros === null || fullAtMicros <= nowMicros ? null : instantText(Math.ceil(fullAtMicros / 1_000)),
    ref: written.ref,
  };
}

const ofAgent = 'agent/';

/** Its bucket is named by its owner, its pattern and its period. */
function ownerOf({ bucket, written: { match, rate } }: RateLimit): string | null {
  if (!bucket.startsWith(ofAgent)) return null;
  const rest = `/${match}/${rate.slice(rate.indexOf('/') + 1)}`;
  return bucket.slice(ofAgent.length, bucket.length - rest.length);
}
