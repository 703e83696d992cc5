/** Windows of budgets: each instant belongs to one, and it ends when the local clock says so. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantText } from '../values/instant.ts';
import { isTimeZone, type TimedKind, windowAt } from './window.ts';

const cases: readonly [what: string, kind: TimedKind, zone: string, at: string, from: string, to: string][] = [
  ['a day in UTC', 'daily', 'UTC', '2026-05-18T13:00:00Z', '2026-05-18T00:00:00Z', '2026-05-19T00:00:00Z'],
  ['its first instant', 'daily', 'UTC', '2026-05-18T00:00:00Z', '2026-05-18T00:00:00Z', '2026-05-19T00:00:00Z'],
  [
    'an hour of half an hour',
    'hourly',
    'Asia/Kolkata',
    '2026-05-18T00:10:00Z',
    '2026-05-17T23:30:00Z',
    '2026-05-18T00:30:00Z',
  ],
  ['a week begins on Monday', 'weekly', 'UTC', '2026-05-24T23:59:59Z', '2026-05-18T00:00:00Z', '2026-05-25T00:00:00Z'],
  ['a month of 28 days', 'monthly', 'UTC', '2026-02-10T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'],
  [
    'a day of 23 hours',
    'daily',
    'Europe/Berlin',
    '2026-03-29T12:00:00Z',
    '2026-03-28T23:00:00Z',
    '2026-03-29T22:00:00Z',
  ],
  [
    'a day of 25 hours',
    'daily',
    'Europe/Berlin',
    '2026-10-25T12:00:00Z',
    '2026-10-24T22:00:00Z',
    '2026-10-25T23:00:00Z',
  ],
  [
    'the first of two equal hours',
    'hourly',
    'Europe/Berlin',
    '2026-10-25T00:30:00Z',
    '2026-10-25T00:00:00Z',
    '2026-10-25T01:00:00Z',
  ],
  [
    'the second of two equal hours',
    'hourly',
    'Europe/Berlin',
    '2026-10-25T01:30:00Z',
    '2026-10-25T01:00:00Z',
    '2026-10-25T02:00:00Z',
  ],
  [
    'the hour that daylight saving cuts',
    'hourly',
    'Australia/Lord_Howe',
    '2026-10-03T15:10:00Z',
    '2026-10-03T14:30:00Z',
    '2026-10-03T15:30:00Z',
  ],
  [
    'a day without a midnight',
    'daily',
    'America/Santiago',
    '2026-09-06T12:00:00Z',
    '2026-09-06T04:00:00Z',
    '2026-09-07T03:00:00Z',
  ],
  [
    'a month over the change',
    'monthly',
    'America/New_York',
    '2026-03-20T00:00:00Z',
    '2026-03-01T05:00:00Z',
    '2026-04-01T04:00:00Z',
  ],
];

for (const [what, kind, zone, at, from, to] of cases)
  test(`${what}: ${kind} in ${zone}`, () => {
    const { startsAtMs, endsAtMs } = windowAt(kind, zone, Date.parse(at));
    assert.deepEqual([instantText(startsAtMs), instantText(endsAtMs)], [from, to]);
  });

test('the windows of a year follow each other without a gap, in every sort of zone', () => {
  for (const zone of [
    'UTC',
    'Europe/Berlin',
    'America/Santiago',
    'Australia/Lord_Howe',
    'Pacific/Apia',
    'Asia/Kathmandu',
  ])
    for (const kind of ['daily', 'weekly', 'monthly'] as const)
      for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2027, 0, 1);) {
        const { startsAtMs, endsAtMs } = windowAt(kind, zone, at);
        assert.ok(startsAtMs <= at && at < endsAtMs);
        assert.equal(windowAt(kind, zone, endsAtMs - 1).startsAtMs, startsAtMs);
        assert.equal(windowAt(kind, zone, endsAtMs).startsAtMs, endsAtMs);
        at = endsAtMs;
      }
});

test('a name that is no time zone is known as none', () => {
  assert.deepEqual(['UTC', 'Europe/Berlin', 'Mars/Base', ''].map(isTimeZone), [true, true, false, false]);
});
