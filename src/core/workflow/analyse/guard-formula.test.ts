/** What guards can say together. When in doubt the answer must be yes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { compileCel } from '../../cel/compile-cel.ts';
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
  [['x == "http://a" && b'], ['b'], false],
  [['"a || b"'], ['"b || a"'], true],
  [[], ['true'], false],
  [['false || a && false'], [], false],
  [['a'], ['a && true'], false],
  [['"true"'], [], true],
  [[], ['"true"'], true],
  // None of these is looked into.
  [[], ['!a == b', 'a == b'], true],
  [[], ['a ? b : c', '!a ? b : c'], true],
  [[], ['not(g', 'g'], true],
  [[], ['f("(")', '!f("(")'], true],
  [['n > 0 // && a'], ['a'], true],
  [['n > 0 // || a'], ['n > 0', 'a'], true],
  [["a != '''it's && b && it's'''"], ['b'], true],
  [["a != r'(' && b && a != r')'"], ['b'], true],
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

const truths = [0, 1, 2, 3].map((bits) => ({ a: (bits & 1) !== 0, b: (bits & 2) !== 0 }));

/** Guards in CEL over `a` and `b`, as odd as CEL permits; null if it does not. */
function answersOf(guard: string): readonly boolean[] | null {
  const compiled = compileCel(guard, { variables: { a: 'bool', b: 'bool' }, returns: 'bool' });
  if (!compiled.ok) return null;
  return truths.map((values) => {
    const result = compiled.evaluate(values);
    assert.ok(result.ok, guard);
    return result.value === true;
  });
}

test('what cannot be so is never so when CEL itself is asked', () => {
  const strings = [`'x'`, `'''it's'''`, `"\\""`, `r'(||'`, `"&& !a //"`, `'''//'''`, `""" " """`];
  const text = fc.constantFrom(...strings);
  const simple = fc.oneof(
    fc.constantFrom('a', 'b', 'a', 'b', 'true', 'false'),
    fc.tuple(text, fc.constantFrom('==', '!='), text).map((parts) => parts.join(' ')),
  );
  const { guard } = fc.letrec<{ guard: string }>((tie) => ({
    guard: fc.oneof(
      { maxDepth: 3 },
      simple,
      fc.tuple(tie('guard'), fc.constantFrom('&&', '||'), tie('guard')).map((parts) => parts.join(' ')),
      tie('guard').map((inner) => `(${inner})`),
      tie('guard').map((inner) => `!(${inner})`),
      fc.tuple(tie('guard'), tie('guard')).map(([one, two]) => `${one}\n && ${two}`),
      tie('guard').map((inner) => `${inner} ? a : b`),
    ),
  }));
  let [compared, proven] = [0, 0];
  fc.assert(
    fc.property(guard, guard, (one, two) => {
      const [first, second] = [answersOf(one), answersOf(two)];
      if (first === null || second === null) return;
      compared++;
      const isSo = (yes: readonly boolean[], no: readonly boolean[]) => yes.some((each, at) => each && !no[at]);
      if (!canBeSo([one], [two])) assert.ok(!isSo(first, second), `${one} without ${two}`);
      if (!canBeSo([one], [])) assert.ok(!first.includes(true), one);
      if (!canBeSo([], [one])) assert.ok(!first.includes(false), one);
      if (!canBeSo([one], [two])) proven++;
    }),
    { numRuns: 2_000 },
  );
  assert.ok(compared > 200 && proven > 10, `${compared} pairs, ${proven} proofs`);
});

test('many atoms or a long guard are not tried out', () => {
  const many = Array.from({ length: 40 }, (_, index) => `g${index}`).join(' && ');
  assert.equal(canBeSo([many], [many]), true);
  const long = `g && ${'x'.repeat(3_000)}`;
  assert.equal(canBeSo([long], ['g']), true);
  assert.equal(canBeSo([`${'('.repeat(500)}g${')'.repeat(500)}`], ['g']), true);
});
