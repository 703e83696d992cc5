import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRetryAfter, retryDelay } from './post-webhook.ts';
import { webhookLimits } from './webhook-limits.ts';

const hour = 3_600_000;

test('waits double up to a quarter of an hour', () => {
  const waits = Array.from({ length: 12 }, (_, at) => retryDelay(at + 1, null, 0.5, webhookLimits) / 1_000);
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
});

test('chance makes a wait a fifth longer or shorter', () => {
  assert.equal(retryDelay(1, null, 0, webhookLimits), 800);
  assert.equal(retryDelay(1, null, 0.999_999, webhookLimits), 1_200);
});

test('a hundred tries are about a day, so neither limit is idle', () => {
  let all = 0;
  for (let tries = 1; tries < webhookLimits.maxTries; tries++) all += retryDelay(tries, null, 0.5, webhookLimits);
  assert.ok(all > 22 * hour && all < webhookLimits.maxAgeMs, `${all / hour} hours`);
});

test('the receiver may ask for more, up to an hour, and not for less', () => {
  assert.equal(retryDelay(1, 60_000, 0.5, webhookLimits), 60_000);
  assert.equal(retryDelay(1, 48 * hour, 0.5, webhookLimits), hour);
  assert.equal(retryDelay(5, 0, 0.5, webhookLimits), 16_000);
});

test('Retry-After is seconds or a date', () => {
  const nowMs = Date.parse('Mon, 18 May 2026 00:00:00 GMT');
  for (const [header, expected] of [
    ['120', 120_000],
    [' 5 ', 5_000],
    ['Mon, 18 May 2026 00:01:00 GMT', 60_000],
    ['Sun, 17 May 2026 00:00:00 GMT', 0],
    ['-5', null],
    ['soon', null],
    ['2026-05-18', null],
    ['1e9', null],
    [undefined, null],
  ] as const)
    assert.equal(readRetryAfter(header, nowMs), expected, header);
});
