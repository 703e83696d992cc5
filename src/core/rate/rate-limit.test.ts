/** Token buckets: as many at once as they hold, no more than their rate ever after, and the wait they tell is true. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readRate, takeToken, tokensLeft, waitSeconds } from './rate-limit.ts';

test('a rate is read, and what is none is not', () => {
  assert.deepEqual(readRate('10/minute'), { count: 10, period: 'minute', intervalMicros: 6_000_000 });
  assert.deepEqual(readRate('7/minute'), { count: 7, period: 'minute', intervalMicros: 8_571_429 });
  for (const text of ['0/minute', '10/week', '10', '-1/day', '1.5/hour']) assert.equal(readRate(text), null);
});

const buckets = fc.record({
  intervalMicros: fc.integer({ min: 1, max: 3_600_000_000 }),
  burst: fc.integer({ min: 1, max: 50 }),
});

test('in any time at most as many pass as the bucket holds and the rate gives', () => {
  fc.assert(
    fc.property(buckets, fc.array(fc.nat({ max: 10_000_000 }), { maxLength: 200 }), (bucket, pauses) => {
      const start = 1_700_000_000_000_000;
      let [now, fullAt, taken] = [start, null as number | null, 0];
      for (const pause of pauses) {
        now += pause;
        const { fullAtMicros, waitMicros } = takeToken(bucket, fullAt, now);
        if (waitMicros > 0) continue;
        fullAt = fullAtMicros;
        taken += 1;
      }
      assert.ok(taken <= bucket.burst + Math.floor((now - start) / bucket.intervalMicros));
    }),
  );
});

test('whoever waits as long as they are told gets a token, and a moment before they do not', () => {
  fc.assert(
    fc.property(buckets, (bucket) => {
      const now = 1_700_000_000_000_000;
      let fullAt: number | null = null;
      for (let taken = 0; taken < bucket.burst; taken++) fullAt = takeToken(bucket, fullAt, now).fullAtMicros;
      assert.equal(tokensLeft(bucket, fullAt, now), 0);
      const { waitMicros } = takeToken(bucket, fullAt, now);
      assert.ok(waitMicros > 0);
      assert.equal(takeToken(bucket, fullAt, now + waitMicros).waitMicros, 0);
      assert.ok(takeToken(bucket, fullAt, now + waitMicros - 1).waitMicros > 0);
      assert.ok(waitSeconds(waitMicros) * 1_000_000 >= waitMicros);
    }),
  );
});

test('a bucket that was larger before is empty at most', () => {
  const now = 1_700_000_000_000_000;
  const { waitMicros } = takeToken({ intervalMicros: 1_000_000, burst: 2 }, now + 3_600_000_000, now);
  assert.equal(waitMicros, 1_000_000);
});
