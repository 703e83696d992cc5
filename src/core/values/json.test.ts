import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalise } from './canonical.ts';
import { parseExactly } from './json.ts';

test('an integer that a number cannot hold is kept, and is no JSON any more', () => {
  for (const text of ['9007199254740993', '-9007199254740992', '1152921504606846977', `1${'0'.repeat(400)}`]) {
    const value = parseExactly(`{"deep":[{"order":${text}}]}`);
    assert.deepEqual(value, { deep: [{ order: BigInt(text) }] });
    assert.deepEqual(canonicalise(value, { maxDepth: 9 }), {
      ok: false,
      path: '/deep/0/order',
      problem: 'a bigint is not JSON: send an integer above 9007199254740991 as a string',
    });
  }
});

test('everything else is what JSON.parse makes of it', () => {
  const texts = [
    '9007199254740991',
    '-9007199254740991',
    '"9007199254740993"',
    '0.12345678901234567890',
    '1e20',
    '12345678901234567890.5',
    '{"9007199254740993":1,"__proto__":{"a":1234567890123456}}',
  ];
  for (const text of texts) assert.deepEqual(parseExactly(text), JSON.parse(text));
  const rounded = (_name: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value);
  const same = (text: string) => JSON.stringify(parseExactly(text), rounded) === JSON.stringify(JSON.parse(text));
  fc.assert(fc.property(fc.json(), same), { numRuns: 1_000 });
  for (const text of ['', '{', '12345678901234567890x']) assert.throws(() => parseExactly(text), SyntaxError);
});
