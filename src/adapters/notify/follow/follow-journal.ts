/**
 * Reads the occurrences after a position in the journal, once for all subscribers that keep up; one that is far
 * behind reads for itself. Reads one page at a time, so that calls are served in between.
 */
import type { Position } from '../../../core/journal/record.ts';
import { type Occurrence, occurrenceOf } from './occurrence.ts';
import { isBefore } from './positions.ts';
import type { NoticeLimits } from './notice-limits.ts';
import type { NoticeStore } from './subscriber.ts';

export interface Page {
  /** In order. */
  readonly found: readonly Occurrence[];
  /** The last record that was looked at. */
  readonly last: Position;
}

export interface JournalFollower {
  /** At most a page of records; `last` is `after` when there was nothing more. */
  after(position: Position): Promise<Page>;
}

export interface FollowerParts {
  readonly store: () => Pick<NoticeStore, 'entries'>;
  /** Where everybody who keeps up begins. */
  readonly from: Position;
  readonly limits: Pick<NoticeLimits, 'pageSize' | 'maxKept'>;
}

export function followJournal({ store, from, limits }: FollowerParts): JournalFollower {
  const kept: Occurrence[] = [];
  /** Everything of interest after `begin`, up to `end`, is kept. */
  let begin = from;
  let end = from;
  let reading: Promise<void> | null = null;

  const read = async (position: Position): Promise<Page> => {
    const entries = await store().entries(position, limits.pageSize);
    const found = entries.map(occurrenceOf).filter((each) => each !== null);
    const { epoch, seq } = entries.at(-1) ?? position;
    return { found, last: { epoch, seq } };
  };
  const readOn = async () => {
    try {
      const { found, last } = await read(end);
      kept.push(...found);
      end = last;
      for (const gone of kept.splice(0, kept.length - limits.maxKept)) begin = gone.at;
    } finally {
      reading = null;
    }
  };

  return {
    async after(position) {
      if (isBefore(position, begin)) return read(position);
      // Several that ask at once wait for one page.
      if (!isBefore(position, end)) await (reading ??= readOn());
      if (isBefore(position, begin)) return read(position);
      const found = kept.filter(({ at }) => isBefore(position, at));
      return { found, last: isBefore(position, end) ? end : position };
    },
  };
}
