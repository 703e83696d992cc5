import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { timesDrawn } from '../../../test/support/times-drawn.ts';
import { orderExtensions } from './order-extensions.ts';

const each = (name: string, ...needs: string[]) => ({ name, needs });
const namesOf = (declared: readonly ReturnType<typeof each>[]) => {
  const ordered = orderExtensions(declared);
  return ordered.ok
    ? ordered.order.map(({ name }) => name)
    : ordered.problems.map(({ code, message }) => `${code}: ${message}`);
};

describe('extensions start', () => {
  const cases: readonly (readonly [string, readonly ReturnType<typeof each>[], readonly string[]])[] = [
    ['in the order in which they are declared', [each('b'), each('a'), each('c')], ['b', 'a', 'c']],
    ['after those that they need', [each('a', 'c'), each('b'), each('c')], ['c', 'a', 'b']],
    ['after those that these need', [each('a', 'b'), each('b', 'c'), each('c')], ['c', 'b', 'a']],
    ['once, if several need them', [each('a', 'c'), each('b', 'c'), each('c')], ['c', 'a', 'b']],
    ['once, if one names them twice', [each('a', 'b', 'b'), each('b')], ['b', 'a']],
    [
      'not at all without one that is missing',
      [each('a', 'b')],
      ["DependencyMissing: the extension 'a' needs 'b', and there is no such extension"],
    ],
    [
      'not at all if one needs itself',
      [each('a', 'a')],
      ['DependencyCycle: extensions need each other in a circle: a -> a'],
    ],
    [
      'not at all in a circle, which is told from where it begins',
      [each('x', 'a'), each('a', 'b'), each('b', 'c'), each('c', 'a')],
      ['DependencyCycle: extensions need each other in a circle: a -> b -> c -> a'],
    ],
    ['not at all under a name that is taken', [each('a'), each('a')], ["ShapeInvalid: two extensions are called 'a'"]],
  ];
  for (const [what, declared, expected] of cases) test(what, () => assert.deepEqual(namesOf(declared), expected));

  test('and every circle is told', () => {
    const two = namesOf([each('a', 'b'), each('b', 'a'), each('c', 'd'), each('d', 'c')]);
    assert.deepEqual(
      two.map((text) => text.split(': ').at(-1)),
      ['a -> b -> a', 'c -> d -> c'],
    );
  });
});

const names = fc.constantFrom<string[]>('a', 'b', 'c', 'd', 'e', 'f');
const declaredAtWill = fc.uniqueArray(fc.record({ name: names, needs: fc.array(names, { maxLength: 4 }) }), {
  selector: ({ name }) => name,
});

test('whatever they need: either each comes once, after all that it needs, or a problem says why not', () => {
  fc.assert(
    fc.property(declaredAtWill, (declared) => {
      const ordered = orderExtensions(declared);
      if (!ordered.ok) return assert.ok(ordered.problems.length > 0);
      const place = ordered.order.map(({ name }) => name);
      assert.deepEqual(place.toSorted(), declared.map(({ name }) => name).toSorted());
      for (const { name, needs } of declared)
        for (const needed of needs) assert.ok(place.indexOf(needed) < place.indexOf(name), `${needed} before ${name}`);
    }),
    { seed: 17, numRuns: timesDrawn(2_000, 300) },
  );
});

test('a circle is told as a path that really leads back', () => {
  fc.assert(
    fc.property(declaredAtWill, (declared) => {
      const ordered = orderExtensions(declared);
      for (const { code, message } of ordered.ok ? [] : ordered.problems) {
        if (code !== 'DependencyCycle') continue;
        const path = message.slice(message.indexOf(': ') + 2).split(' -> ');
        assert.equal(path[0], path.at(-1));
        for (const [at, name] of path.slice(0, -1).entries())
          assert.ok(declared.find((one) => one.name === name)?.needs.includes(path[at + 1] ?? ''), message);
      }
    }),
    { seed: 18, numRuns: timesDrawn(2_000, 300) },
  );
});

test('without needs nothing changes places', () => {
  fc.assert(
    fc.property(fc.uniqueArray(names), (all) => {
      assert.deepEqual(namesOf(all.map((name) => each(name))), all);
    }),
    { seed: 19, numRuns: timesDrawn(200, 50) },
  );
});
