import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readTimestamp, timestampOf } from './cel-time.ts';
import { type CelOptions, type CelResult, compileCel } from './compile-cel.ts';

const withNow: CelOptions = { variables: { now: 'timestamp', inputs: 'dyn' } };

function evaluate(text: string, values: Record<string, unknown>): CelResult {
  const compiled = compileCel(text, withNow);
  if (!compiled.ok) assert.fail(`${text}: ${compiled.problem}`);
  return compiled.evaluate(values);
}

test('a time is read as RFC 3339 says, to the millisecond', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true }),
      fc.integer({ min: -14 * 60, max: 14 * 60 }),
      (date, offset) => {
        assert.equal(readTimestamp(date.toISOString()), date.getTime());
        const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, -1);
        const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
        const two = (value: number) => String(value).padStart(2, '0');
        assert.equal(readTimestamp(`${local}${offset < 0 ? '-' : '+'}${two(hours)}:${two(minutes)}`), date.getTime());
      },
    ),
    { numRuns: 5_000, seed: 8 },
  );
});

for (const text of [
  '2027-01-01',
  '2027-01-01T00:00:00',
  '2027-01-01 00:00:00Z',
  '2027-02-29T00:00:00Z',
  '2027-13-01T00:00:00Z',
  '2027-01-01T24:00:00Z',
  '2027-01-01T00:00:60Z',
  '2027-01-01T00:00:00+24:00',
  'Fri Jan 01 2027 00:00:00 GMT',
  '',
  `2027-01-01T00:00:00.${'0'.repeat(50)}Z`,
])
  test(`'${text.slice(0, 30)}' is no time`, () => assert.equal(readTimestamp(text), null));

const now = timestampOf(Date.UTC(2028, 1, 29, 13, 5, 7, 9));

const meant: readonly (readonly [string, unknown])[] = [
  ['now == timestamp("2028-02-29T13:05:07.009Z")', true],
  ['now < timestamp("2028-02-29T14:05:07Z")', true],
  ['now > timestamp(inputs.at)', true],
  ['timestamp(1) < now', true],
  ['now in [timestamp("2028-02-29T13:05:07.009Z")]', true],
  ['now.getFullYear()', 2028],
  ['now.getMonth()', 1],
  ['now.getDate()', 29],
  ['now.getDayOfMonth()', 28],
  ['now.getDayOfWeek()', 2],
  ['now.getHours()', 13],
  ['now.getMinutes()', 5],
  ['now.getSeconds()', 7],
  ['now.getMilliseconds()', 9],
  ['(now - timestamp(inputs.at)).getHours() < 24', true],
];

for (const [text, expected] of meant)
  test(`${text} gives ${String(expected)}`, () =>
    assert.deepEqual(evaluate(text, { now, inputs: { at: '2028-02-28T14:00:00Z' } }), { ok: true, value: expected }));

test('a text that is no time is a problem of the expression, and a time is no JSON', () => {
  assert.deepEqual(evaluate('timestamp(inputs.at) < now', { now, inputs: { at: 'soon' } }), {
    ok: false,
    problem: 'timestamp: write a time with its offset, such as 2027-01-01T00:00:00Z',
  });
  const { ok } = evaluate('now', { now, inputs: {} });
  assert.equal(ok, false);
});
