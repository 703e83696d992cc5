import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallError } from '../call-error.ts';
import { plainArgs } from './plain-args.ts';

test('arguments are copied as JSON carries them', () => {
  const args = { order: 'ord_1', at: new Date(0), items: [1, { a: null }], left: undefined };
  const copy: unknown = plainArgs(args, 'refund');
  assert.deepEqual(copy, { order: 'ord_1', at: '1970-01-01T00:00:00.000Z', items: [1, { a: null }] });
  args.items.push(2);
  assert.deepEqual((copy as { items: unknown }).items, [1, { a: null }]);
});

test('no arguments are none', () => assert.deepEqual(plainArgs(undefined, 'refund'), {}));

const circle: Record<string, unknown> = {};
circle['self'] = circle;

const bent: readonly (readonly [string, unknown])[] = [
  ['NaN, which JSON makes null', { amount: Number.NaN }],
  ['an endless amount', { amount: Number.POSITIVE_INFINITY }],
  ['a bigint', { amount: 1n }],
  ['a function', { amount: () => 1 }],
  ['a symbol', { amount: Symbol('a') }],
  ['an item that is missing', { amounts: [1, undefined] }],
  ['a circle', circle],
  ['a getter that throws', { get amount() { throw new Error('no'); } }], // prettier-ignore
  ['a function alone', () => 1],
];

for (const [what, args] of bent)
  test(`${what} is refused before anything is sent`, () =>
    assert.throws(
      () => plainArgs(args, 'refund'),
      (error) =>
        error instanceof CallError &&
        error.error === 'validation_failed' &&
        error.effect === 'none' &&
        error.message.includes("'refund'") &&
        error.reply === null,
    ));
