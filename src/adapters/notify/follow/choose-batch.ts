/**
 * Chooses what the next message tells: one event, or all that came within `batch` or while the limit was reached.
 * Reads one page of the journal at a time, so that calls are served in between. Sends nothing.
 */
import type { Position } from '../../../core/journal/record.ts';
import type { Clock } from '../../../ports/clock.ts';
import { type Batch, buildBatch } from './batch.ts';
import type { Page } from './follow-journal.ts';
import { isLimited } from './message-limit.ts';
import type { NoticeLimits } from './notice-limits.ts';
import { eventFor, type Occurrence } from './occurrence.ts';
import { isAt, isBefore } from './positions.ts';
import type { Cursor, Failed, Subscriber } from './subscriber.ts';

export type Choice =
  | { readonly kind: 'batch'; readonly batch: Batch }
  /** Nothing for this subscriber up to `last`. */
  | { readonly kind: 'nothing'; readonly last: Position }
  /** Something happened, and more is collected first. */
  | { readonly kind: 'later' };

export interface Chooser {
  next(cursor: Cursor): Promise<Choice>;
  /** The same message again; null if it has nothing left to tell. */
  again(failed: Failed): Promise<Batch | null>;
  /** The first event after a position by itself; null if there is none within a limit of pages. */
  behind(position: Position): Promise<Batch | null>;
}

export interface ChooserParts {
  readonly subscriber: Subscriber;
  readonly after: (position: Position) => Promise<Page>;
  readonly clock: Clock;
  readonly limits: Pick<NoticeLimits, 'maxListed' | 'maxBatchPages'>;
  /** Between two pages; rejects when the subscriber stops. */
  readonly pause: () => Promise<void>;
}

export function chooseBatches({ subscriber, after, clock, limits, pause }: ChooserParts): Chooser {
  const { events, batchMs, limit } = subscriber;
  let firstSeen: { readonly at: Position; readonly sinceMs: number } | null = null;
  /** The limit was reached: the next message tells everything that came meanwhile. */
  let isHeldBack = false;

  const single = (occurrence: Occurrence): Batch | null => {
    const builder = buildBatch(events, 1);
    builder.add(occurrence);
    return builder.build();
  };
  const gather = async (from: Position, through: Position | null): Promise<Batch | null> => {
    const builder = buildBatch(events, limits.maxListed);
    let position = from;
    for (let pages = 0; through !== null || pages < limits.maxBatchPages; pages++) {
      const { found, last } = await after(position);
      for (const each of found) if (through === null || !isBefore(through, each.at)) builder.add(each);
      if (!isBefore(position, last) || (through !== null && !isBefore(last, through))) break;
      position = last;
      await pause();
    }
    return builder.build();
  };
  /** By the record's time, which outlives the process; by the time since it was seen if the clock was set back. */
  const isCollecting = ({ at, atMs }: Occurrence): boolean => {
    if (firstSeen === null || !isAt(firstSeen.at, at)) firstSeen = { at, sinceMs: clock.monotonicMs() };
    return clock.nowMs() - atMs < batchMs && clock.monotonicMs() - firstSeen.sinceMs < batchMs;
  };

  return {
    async next({ after: from, sent }) {
      const { found, last } = await after(from);
      const first = found.find((each) => eventFor(each, events) !== null);
      if (first === undefined) return { kind: 'nothing', last };
      if (isLimited(sent, limit, clock.nowMs())) {
        isHeldBack = true;
        return { kind: 'later' };
      }
      if (batchMs > 0 && isCollecting(first)) return { kind: 'later' };
      const batch = batchMs > 0 || isHeldBack ? await gather(from, null) : single(first);
      isHeldBack = false;
      return batch === null ? { kind: 'nothing', last } : { kind: 'batch', batch };
    },
    again: ({ at, through }) => gather({ ...at, seq: at.seq - 1 }, through),
    async behind(position) {
      let from = position;
      for (let pages = 0; pages < limits.maxBatchPages; pages++) {
        const { found, last } = await after(from);
        const mine = found.find((each) => eventFor(each, events) !== null);
        if (mine !== undefined) return single(mine);
        if (!isBefore(from, last)) return null;
        from = last;
        await pause();
      }
      return null;
    },
  };
}
