/** Counts the messages of a period, and says whether another one may be sent. Pure. */
import type { MessageLimit, SentCount } from './subscriber.ts';

/** The period in which `nowMs` is; null if none has begun. A clock that was set back begins a new one. */
const periodAt = (sent: SentCount | null, { perMs }: MessageLimit, nowMs: number): SentCount | null =>
  sent === null || nowMs < sent.fromMs || nowMs - sent.fromMs >= perMs ? null : sent;

export function isLimited(sent: SentCount | null, limit: MessageLimit | null, nowMs: number): boolean {
  return limit !== null && (periodAt(sent, limit, nowMs)?.count ?? 0) >= limit.messages;
}

/** With one more message. */
export function countSent(sent: SentCount | null, limit: MessageLimit | null, nowMs: number): SentCount | null {
  if (limit === null) return null;
  const period = periodAt(sent, limit, nowMs);
  return { fromMs: period?.fromMs ?? nowMs, count: (period?.count ?? 0) + 1 };
}
