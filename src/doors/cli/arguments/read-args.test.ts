import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readArgs } from './read-args.ts';

describe('the arguments of a call', () => {
  const understood: readonly (readonly [words: readonly string[], args: object])[] = [
    [[], {}],
    [['{"a":[1,{"b":null}]}'], { a: [1, { b: null }] }],
    [[' { } '], {}],
    [
      ['path=/etc/passwd', 'deep=true', 'count=5', 'none=null'],
      { path: '/etc/passwd', deep: true, count: 5, none: null },
    ],
    [['id="5"'], { id: '5' }],
    [['zip=01234', 'text=a=b c', 'empty='], { zip: '01234', text: 'a=b c', empty: '' }],
    [['list=[1,2]', 'broken=[1,'], { list: [1, 2], broken: '[1,' }],
    [['amount=-5', 'two words=x'], { amount: -5, 'two words': 'x' }],
  ];
  for (const [words, args] of understood)
    test(`${JSON.stringify(words)} are ${JSON.stringify(args)}`, () => {
      assert.deepEqual(readArgs(words), { ok: true, args });
    });

  const wrong: readonly (readonly [words: readonly string[], problem: RegExp])[] = [
    [['{"a":1'], /start like a JSON object/],
    [['{"a":1}', 'b=2'], /nothing may follow it/],
    [['a=1', 'a=2'], /'a' is given twice/],
    [['[1]'], /neither a JSON object nor name=value/],
    [['=5'], /neither a JSON object nor name=value/],
    [['hello'], /'hello' is neither/],
  ];
  for (const [words, problem] of wrong)
    test(`${JSON.stringify(words)} are refused`, () => {
      const read = readArgs(words);
      assert.ok(!read.ok);
      assert.match(read.problem, problem);
    });

  test('a name that an object has anyway is a name like any other', () => {
    const read = readArgs(['__proto__={"x":1}']);
    assert.ok(read.ok);
    assert.equal(JSON.stringify(read.args), '{"__proto__":{"x":1}}');
  });
});
