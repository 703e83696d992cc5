import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readCondition } from '../cel/read-condition.ts';
import { plainCondition } from './canonical-policy.ts';

const written: readonly (readonly [what: string, text: string, plain: string])[] = [
  ['a condition on several lines', 'args.a > 1 &&\n    args.b\n', 'args.a > 1 && args.b'],
  ['what may be a comment, which stays as it is', "args.a  == 'x // y'", "args.a  == 'x // y'"],
  ['spaces in a string', 'args.a  ==  "x  y"', 'args.a == "x  y"'],
  ['a division', 'args.a / 2 > 1', 'args.a / 2 > 1'],
  ['an escape, which stays as it is', "args.a == 'x\\'  //' ", "args.a == 'x\\'  //'"],
  ['three quotes, which stay as they are', "args.a == '''x  //'''\n", "args.a == '''x  //'''"],
  ['a return, which stays as it is', 'args.a\r  && args.b', 'args.a\r  && args.b'],
];

for (const [what, text, plain] of written) test(`${what} is read`, () => assert.equal(plainCondition(text), plain));

const pieces = [
  'args.a',
  '&&',
  '==',
  "'",
  '"',
  "'''",
  '//',
  ' ',
  '\n',
  '\t',
  '\r',
  '\\',
  "r'",
  'b"',
  'x',
  '/',
  '(',
  ')',
];
const piece = fc.constantFrom(...pieces);
/** Mostly what can be read, with whatever somebody may put between. */
const sound = fc.constantFrom('args.a', 'args.b', "'x'", '"y // z"', "''", 'true', "'it  is'");
const gap = fc.oneof(fc.constantFrom(' ', '\n', '  ', ' // c\n', "//'\n", '\t', '\r\n'), piece);
const someText = fc.oneof(
  fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
  fc.tuple(sound, gap, gap, sound, gap).map(([one, a, b, other, c]) => `${one}${a}==${b}${other}${c}`),
);

const meaningOf = (text: string) => JSON.stringify(readCondition(text)?.root ?? null);

test('texts that come out equal mean the same', () => {
  const known = new Map<string, string>();
  const count = { equal: 0, readable: 0 };
  const property = fc.property(someText, (text) => {
    const plain = plainCondition(text);
    const first = known.get(plain);
    if (first === undefined) return void known.set(plain, text);
    if (first === text) return;
    count.equal += 1;
    const meaning = meaningOf(text);
    if (meaning !== 'null') count.readable += 1;
    assert.equal(meaning, meaningOf(first), JSON.stringify([first, text]));
    assert.equal(meaningOf(plain), meaning, 'and as what they come out as');
  });
  fc.assert(property, { seed: 20_260_728, numRuns: 20_000, endOnFailure: true });
  assert.ok(count.readable > 200 && count.equal > count.readable, JSON.stringify(count));
});
