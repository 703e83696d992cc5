import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noticeLimits } from './notice-limits.ts';
import { retryDelay } from './retries.ts';

const hour = 3_600_000;

test('waits double up to a quarter of an hour', () => {
  const waits = Array.from({ length: 12 }, (_, at) => retryDelay(at + 1, null, 0.5, noticeLimits) / 1_000);
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
});

test('chance makes a wait a fifth longer or shorter', () => {
  assert.equal(retryDelay(1, null, 0, noticeLimits), 800);
  assert.equal(retryDelay(1, null, 0.999_999, noticeLimits), 1_200);
});

test('a hundred tries are about a day, so neither limit is idle', () => {
  let all = 0;
  for (let tries = 1; tries < noticeLimits.maxTries; tries++) all += retryDelay(tries, null, 0.5, noticeLimits);
  assert.ok(all > 22 * hour && all < noticeLimits.maxAgeMs, `${all / hour} hours`);
});

test('the receiver may ask for more, up to an hour, and not for less', () => {
  assert.equal(retryDelay(1, 60_000, 0.5, noticeLimits), 60_000);
  assert.equal(retryDelay(1, 48 * hour, 0.5, noticeLimits), hour);
  assert.equal(retryDelay(5, 0, 0.5, noticeLimits), 16_000);
});
