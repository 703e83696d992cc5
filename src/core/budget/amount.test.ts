/** Amounts: exact in millionths, read and written the same way, and never rounded to nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { amountText, maxMicros, percentOf, readAmount, toMicros } from './amount.ts';

for (const [text, micros, unit] of [
  ['500 USD', 500_000_000, 'USD'],
  ['0.000001 EUR', 1, 'EUR'],
  ['12.5 JPY', 12_500_000, 'JPY'],
  ['1000 calls', 1_000, 'calls'],
  ['200000 tokens', 200_000, 'tokens'],
] as const)
  test(`${text} is read`, () => assert.deepEqual(readAmount(text), { micros, unit }));

for (const text of [
  '500',
  'USD 500',
  '500 usd',
  '-1 USD',
  '1.5 calls',
  '1.0000001 USD',
  '999999999999 USD',
  '1e3 USD',
  ' 1 USD',
])
  test(`'${text}' is no amount`, () => assert.equal(readAmount(text), null));

for (const [micros, unit, text] of [
  [400_000_000, 'USD', '$400.00'],
  [500, 'USD', '$0.0005'],
  [0, 'USD', '$0.00'],
  [12_340_000, 'EUR', '12.34 EUR'],
  [-1_500_000, 'USD', '-$1.50'],
  [12, 'calls', '12 calls'],
] as const)
  test(`${micros} of ${unit} is written ${text}`, () => assert.equal(amountText(micros, unit), text));

test('what is no cost is none, and what costs anything costs something', () => {
  assert.deepEqual(
    [-1, Number.NaN, Infinity, 1e300].map((value) => toMicros(value, 'USD')),
    [null, null, null, null],
  );
  assert.deepEqual(
    [0, -0, 1e-9, 1.1, 0.1, 0.1 + 0.2, 0.000_001_4].map((value) => toMicros(value, 'USD')),
    [0, 0, 1, 1_100_000, 100_000, 300_000, 2],
  );
  assert.deepEqual(
    [0, 0.2, 3, 100 * 1.1].map((value) => toMicros(value, 'calls')),
    [0, 1, 3, 110],
  );
});

test('a share is told in whole percent, rounded down, whatever floating point makes of it', () => {
  for (let part = 0; part <= 200; part++) assert.equal(percentOf(part, 100), part);
  assert.deepEqual([percentOf(999, 1_000), percentOf(1, 0)], [99, 100]);
});

test('what is written in a currency other than USD is read as it was', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: maxMicros }), (micros) => {
      assert.deepEqual(readAmount(amountText(micros, 'EUR')), { micros, unit: 'EUR' });
    }),
  );
});
