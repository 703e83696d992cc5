import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { matchesGlob } from './matches-glob.ts';

test('a star stands for any characters, a question mark for one, everything else for itself', () => {
  const letter = fc.constantFrom('a', 'b', '*', '?', '.', '[');
  fc.assert(
    fc.property(fc.string({ unit: letter, maxLength: 8 }), fc.string({ unit: letter, maxLength: 10 }), (glob, name) => {
      const source = glob.replace(/[.[]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.');
      assert.equal(matchesGlob(glob, name), new RegExp(`^${source}$`).test(name), `${glob} on ${name}`);
    }),
    { numRuns: 2_000 },
  );
});

test('a glob made to be slow is not', () => {
  assert.equal(matchesGlob(`${'*a'.repeat(64)}b`, 'a'.repeat(10_000)), false);
});
