import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalText } from '../../values/canonical.ts';
import { copyJson } from './copy-json.ts';

const limits = { maxDepth: 64, maxChars: 1_000_000 };

function assertOurs(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  assert.ok(Object.isFrozen(value));
  const names = Object.keys(value);
  // Names that are whole numbers come first in any object; the others are in order.
  const others = names.filter((name) => !/^\d+$/.test(name));
  if (!Array.isArray(value)) assert.deepEqual(others, others.toSorted());
  for (const field of Object.values(value)) assertOurs(field);
}

test('a copy says the same as the value, frozen and in order', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const owned = copyJson(value, limits);
      assert.ok(owned.ok);
      assert.equal(canonicalText(owned.value), canonicalText(value));
      assertOurs(owned.value);
    }),
  );
});

test('whatever the value, there is an answer, and what is accepted survives as JSON', () => {
  const hostile = new Proxy({}, { ownKeys: () => assert.fail('no'), getPrototypeOf: () => assert.fail('no') });
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.constant({ deep: hostile }), fc.constant(hostile)), (value) => {
      const owned = copyJson(value, limits);
      if (owned.ok) assert.deepEqual(JSON.parse(JSON.stringify(owned.value)), JSON.parse(canonicalText(value)));
      else assert.ok(owned.what.length > 0);
    }),
    { numRuns: 500 },
  );
});

test('a field named __proto__ is a field and nothing else', () => {
  const owned = copyJson(JSON.parse('{"a":{"__proto__":{"b":1}}}'), limits);
  assert.ok(owned.ok);
  assert.equal(JSON.stringify(owned.value), '{"a":{"__proto__":{"b":1}}}');
});

test('a value that shares its parts is counted as it is written', () => {
  let value: unknown = ['x'];
  for (let count = 0; count < 40; count++) value = [value, value];
  const owned = copyJson(value, { maxDepth: 64, maxChars: 10_000 });
  assert.equal(owned.ok ? '' : owned.what, 'more than fits into the state');
});
