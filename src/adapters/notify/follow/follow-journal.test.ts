/**
 * Whoever asks from wherever gets every occurrence once and in order, and records are read once for all who keep up.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openNoticeHome } from '../../../../test/support/notice-home.ts';
import type { Position } from '../../../core/journal/record.ts';
import { followJournal, type JournalFollower } from './follow-journal.ts';
import { positionText, readPosition } from './positions.ts';

const start: Position = { epoch: 0, seq: 0 };

/** From a place to the end, as a hook walks it. */
async function walk(follower: JournalFollower, from: Position): Promise<readonly string[]> {
  const seen: string[] = [];
  for (let after = from; ;) {
    const { found, last } = await follower.after(after);
    const [first] = found;
    if (first !== undefined) seen.push(positionText(first.at));
    const next = first?.at ?? last;
    if (positionText(next) === positionText(after)) return seen;
    after = next;
  }
}

test('a follower that keeps few, read in small pages, misses nothing from any place', async (t) => {
  const home = await openNoticeHome(t);
  const places: string[] = [];
  for (let count = 0; count < 12; count++) {
    places.push(await home.record());
    await home.record({ kind: 'policy_applied', body: {} });
  }
  for (const limits of [
    { pageSize: 1, maxKept: 1 },
    { pageSize: 3, maxKept: 2 },
    { pageSize: 5, maxKept: 4 },
    { pageSize: 100, maxKept: 1_000 },
  ]) {
    const follower = followJournal({ store: () => home.store, from: start, limits });
    assert.deepEqual(await walk(follower, start), places, 'the first to come');
    // Most of it is forgotten by now, so this one reads for itself.
    assert.deepEqual(await walk(follower, start), places, 'one that is behind');
    const middle = readPosition(places[5]) ?? start;
    const both = await Promise.all([walk(follower, middle), walk(follower, start)]);
    assert.deepEqual(both, [places.slice(6), places], 'two at once');
  }
});

test('hooks that keep up share what is read', async (t) => {
  const home = await openNoticeHome(t);
  let reads = 0;
  const store = {
    entries: (after: Position | null, limit: number) => {
      reads++;
      return home.store.entries(after, limit);
    },
  };
  const follower = followJournal({ store: () => store, from: start, limits: { pageSize: 100, maxKept: 100 } });
  await home.record();
  const pages = await Promise.all([follower.after(start), follower.after(start), follower.after(start)]);
  assert.deepEqual(pages[0], pages[2]);
  assert.equal(pages[0]?.found.length, 1);
  assert.equal(reads, 1);
});
