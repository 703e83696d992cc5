import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../core/values/json.ts';
import { diffStates } from './diff-states.ts';

const table: readonly (readonly [string, Json, Json, readonly string[]])[] = [
  ['nothing', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
  ['a value', { a: 1 }, { a: 2 }, ['replace /a']],
  ['a member that came and one that went', { a: 1, b: 2 }, { a: 1, c: 3 }, ['remove /b', 'add /c']],
  ['null is a value', { a: null }, {}, ['remove /a']],
  ['an item at the end of a list', { a: [1] }, { a: [1, 2] }, ['add /a/1']],
  ['a list that becomes an object', { a: [] }, { a: {} }, ['replace /a']],
  ['names with signs of their own', { 'a/b': { '~': 1 } }, { 'a/b': { '~': 2 } }, ['replace /a~1b/~0']],
  ['the whole', 'idle', { on: 'idle' }, ['replace ']],
];

for (const [what, before, after, expected] of table)
  test(`${what}: ${expected.length} differences`, () => {
    const found = diffStates(before, after);
    assert.deepEqual(
      found.map(({ op, path }) => `${op} ${path}`),
      expected,
    );
  });

test('states are equal exactly if nothing differs, and both ways the same paths do', () => {
  // JSON has one zero.
  const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json);
  fc.assert(
    fc.property(json, json, (one, other) => {
      const paths = diffStates(one, other).map(({ path }) => path);
      const back = diffStates(other, one).map(({ path }) => path);
      assert.deepEqual(paths.toSorted(), back.toSorted());
      assert.equal(paths.length === 0, isSame(one, other));
      assert.deepEqual(diffStates(one, one), []);
    }),
  );
});

function isSame(one: Json, other: Json): boolean {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
}
