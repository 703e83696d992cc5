import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { covers } from './pattern-covers.ts';
import { compileToolPattern, matchesTool, type ToolPattern } from './tool-pattern.ts';

function pattern(text: string): ToolPattern {
  const compiled = compileToolPattern(text);
  if (!compiled.ok) assert.fail(`${text}: ${compiled.problem}`);
  return compiled.pattern;
}

const meant: readonly (readonly [pattern: string, matched: readonly string[], others: readonly string[]])[] = [
  ['stripe/refund', ['stripe/refund'], ['stripe/refunds', 'stripe', 'refund', 'stripe/refund/x']],
  ['stripe/*', ['stripe/refund', 'stripe/'], ['stripe', 'stripe/a/b', 'stripes/a']],
  ['stripe/**', ['stripe', 'stripe/refund', 'stripe/a/b'], ['stripes', 'a/stripe']],
  ['**/delete', ['delete', 'a/delete', 'a/b/delete'], ['a/delete/b', 'a/undelete']],
  ['*/get_*', ['db/get_user', 'db/get_'], ['get_user', 'db/forget_user', 'db/get_user/all']],
  ['a/**/b/**/c', ['a/b/c', 'a/x/b/y/z/c', 'a/b/b/c'], ['a/c', 'a/b', 'x/a/b/c']],
  ['*a*b*', ['ab', 'xaxbx'], ['ba', 'a/b']],
  ['get_*_by_*', ['get_user_by_id', 'get__by_'], ['get_by_id', 'get_user_by']],
  ['a*a', ['aa', 'aba'], ['a']],
  ['**', ['a', 'a/b', '', '/'], []],
  ['*', ['a', ''], ['a/b']],
  ['(a+)+$', ['(a+)+$'], ['aa']],
];

for (const [text, matched, others] of meant)
  test(`${text} means what it says`, () => {
    for (const name of matched) assert.ok(matchesTool(pattern(text), name), name);
    for (const name of others) assert.ok(!matchesTool(pattern(text), name), name);
  });

const refused: readonly (readonly [what: string, text: string, problem: RegExp])[] = [
  ['nothing', '', /empty/],
  ['three stars', 'a/***', /beside something else/],
  ['two stars beside letters', 'a/b**', /beside something else/],
  ['an empty segment', 'a//b', /empty segment/],
  ['a slash in front', '/a', /empty segment/],
  ['a slash behind', 'a/', /empty segment/],
  ['a space', 'a/b c', /white space/],
  ['a line break', 'a\n', /white space/],
  ['half a character', 'a\ud800', /not text/],
  ['a long pattern', 'a'.repeat(257), /longer than 256/],
  ['many segments', Array(17).fill('a').join('/'), /more than 16 segments/],
  ['many stars', 'a*'.repeat(17), /more than 16 stars/],
];

for (const [what, text, problem] of refused)
  test(`${what} is refused, with a fix`, () => {
    const compiled = compileToolPattern(text);
    assert.ok(!compiled.ok);
    assert.match(compiled.problem, problem);
    assert.notEqual(compiled.fix, '');
  });

test('a hostile pattern and name end in good time', () => {
  const deep = pattern(`${'**/a/'.repeat(7)}b`);
  assert.ok(!matchesTool(deep, `${'a/'.repeat(20_000)}c`));
  assert.ok(!matchesTool(pattern(`${'a*'.repeat(15)}b`), 'a'.repeat(100_000)));
});

/** As plainly as it can be said. */
function naive(segments: readonly string[], name: readonly string[]): boolean {
  const [segment, ...rest] = segments;
  if (segment === undefined) return name.length === 0;
  if (segment === '**') return naive(rest, name) || (name.length > 0 && naive(segments, name.slice(1)));
  return name.length > 0 && naiveSegment(segment, name[0] ?? '') && naive(rest, name.slice(1));
}

function naiveSegment(segment: string, text: string): boolean {
  if (segment === '') return text === '';
  if (segment[0] !== '*') return segment[0] === text[0] && naiveSegment(segment.slice(1), text.slice(1));
  return naiveSegment(segment.slice(1), text) || (text !== '' && naiveSegment(segment, text.slice(1)));
}

const letters = fc.constantFrom('a', 'b', '*');
const segments = fc.oneof(
  { weight: 2, arbitrary: fc.constant('**') },
  {
    weight: 5,
    arbitrary: fc.array(letters, { minLength: 1, maxLength: 4 }).map((each) => each.join('').replaceAll(/\*+/g, '*')),
  },
);
const patterns = fc.array(segments, { minLength: 1, maxLength: 4 }).map((each) => each.join('/'));
const names = fc
  .array(
    fc.array(fc.constantFrom('a', 'b', 'x'), { maxLength: 4 }).map((each) => each.join('')),
    { minLength: 1, maxLength: 4 },
  )
  .map((each) => each.join('/'));

test('matching agrees with the plain reading of a pattern', () => {
  let hits = 0;
  fc.assert(
    fc.property(patterns, names, (text, name) => {
      const expected = naive(text.split('/'), name.split('/'));
      if (expected) hits++;
      assert.equal(matchesTool(pattern(text), name), expected);
    }),
    { numRuns: 20_000, seed: 4 },
  );
  assert.ok(hits > 2_000, `only ${hits} names matched`);
});

test('covering is exact: a yes holds for every name, a no is proved by its name', () => {
  const seen = { yes: 0, no: 0, unknown: 0 };
  const some = fc.sample(names, { numRuns: 300, seed: 5 });
  fc.assert(
    fc.property(patterns, patterns, (one, other) => {
      const [a, b] = [pattern(one), pattern(other)];
      const answer = covers(a, b);
      seen[answer.covers]++;
      if (answer.covers === 'yes')
        for (const name of some) assert.ok(!matchesTool(b, name) || matchesTool(a, name), `${one} ${other} ${name}`);
      if (answer.covers === 'no')
        assert.ok(matchesTool(b, answer.name) && !matchesTool(a, answer.name), `${one} ${other} ${answer.name}`);
    }),
    { numRuns: 4_000, seed: 6 },
  );
  assert.ok(seen.yes > 200 && seen.no > 1_000, JSON.stringify(seen));
  assert.equal(seen.unknown, 0);
});

const coverings: readonly (readonly [string, string, string])[] = [
  ['**', 'a/*/b', 'yes'],
  ['a/**', 'a', 'yes'],
  ['a/*', 'a/get_*', 'yes'],
  ['a/get_*', 'a/*', 'a/x'],
  ['*', '**', 'x/x'],
  ['*/**', '**', 'yes'],
  ['a*', 'ab*', 'yes'],
  ['**/x', 'a/**/x', 'yes'],
  ['a/b', 'a/c', 'a/c'],
  ['*a*', '*b*', 'b'],
];

for (const [a, b, expected] of coverings)
  test(`${a} ${expected === 'yes' ? 'covers' : 'does not cover'} ${b}`, () => {
    const answer = covers(pattern(a), pattern(b));
    assert.equal(answer.covers === 'no' ? answer.name : answer.covers, expected);
  });

test('a pair that would take too long is unknown, in good time', () => {
  const anything = '/*'.repeat(13);
  assert.deepEqual(covers(pattern(`**/a*${anything}`), pattern(`**/ab${anything}`)), { covers: 'unknown' });
});
