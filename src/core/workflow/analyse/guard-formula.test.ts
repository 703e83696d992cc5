/** What guards can say together. When in doubt the answer must be yes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { canBeSo } from './guard-formula.ts';

const cases: readonly [yes: readonly string[], no: readonly string[], can: boolean][] = [
  [[], ['g'], true],
  [['g'], ['g'], false],
  [[], ['g', 'not(g)'], false],
  [[], ['g', 'not(h)'], true],
  [[], ['n > 3', '!(n > 3)'], false],
  [[], ['ok', '!ok'], false],
  [[], ['a && b', '!a', '!b'], false],
  [['h'], ['or(g, h)'], false],
  [['a || b'], ['a', 'b'], false],
  [[], ['x == "a||b"', '!(x == "a||b")'], false],
  // None of these is looked into.
  [[], ['!a == b', 'a == b'], true],
  [[], ['a ? b : c', '!a ? b : c'], true],
  [[], ['not(g', 'g'], true],
  [[], ['f("(")', '!f("(")'], true],
];

for (const [yes, no, can] of cases) {
  test(`yes to ${yes.join('; ') || 'nothing'} and no to ${no.join('; ')} can${can ? '' : 'not'} be`, () => {
    assert.equal(canBeSo(yes, no), can);
  });
}

test('any text whatever is a guard, and says yes or no', () => {
  const text = fc.string({ unit: fc.constantFrom('(', ')', '!', '&&', '||', 'a', 'not(', ',', '"', '?', ' ') });
  fc.assert(fc.property(text, (guard) => canBeSo([guard], []) || canBeSo([], [guard])));
});

test('many atoms or a long guard are not tried out', () => {
  const many = Array.from({ length: 40 }, (_, index) => `g${index}`).join(' && ');
  assert.equal(canBeSo([many], [many]), true);
  const long = `g && ${'x'.repeat(3_000)}`;
  assert.equal(canBeSo([long], ['g']), true);
  assert.equal(canBeSo([`${'('.repeat(500)}g${')'.repeat(500)}`], ['g']), true);
});
