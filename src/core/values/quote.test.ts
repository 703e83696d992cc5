import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { quoteName, quoteValue, quoteWord, spellOut } from './quote.ts';

/** Written apart from the code: by ranges, as the standard lists them. */
const invisible: readonly (readonly [what: string, from: number, to: number])[] = [
  ['controls', 0x00, 0x1f],
  ['delete and the second set of controls', 0x7f, 0x9f],
  ['the blank that does not break', 0xa0, 0xa0],
  ['the soft hyphen', 0xad, 0xad],
  ['the joiner of graphemes', 0x34f, 0x34f],
  ['the Arabic letter mark', 0x61c, 0x61c],
  ['Hangul fillers', 0x115f, 0x1160],
  ['the blank of Ogham', 0x1680, 0x1680],
  ['Mongolian selectors', 0x180b, 0x180f],
  ['blanks of many widths, and marks of direction', 0x2000, 0x200f],
  ['ends of lines and of paragraphs, embeddings and overrides', 0x2028, 0x202f],
  ['the blank of formulas, joiners and isolates', 0x205f, 0x206f],
  ['the empty braille cell', 0x2800, 0x2800],
  ['the ideographic blank', 0x3000, 0x3000],
  ['the Hangul filler', 0x3164, 0x3164],
  ['variation selectors', 0xfe00, 0xfe0f],
  ['the mark of byte order', 0xfeff, 0xfeff],
  ['the narrow Hangul filler', 0xffa0, 0xffa0],
  ['what is no character', 0xfff0, 0xfffb],
  ['private characters', 0xe000, 0xe0ff],
  ['tags', 0xe0000, 0xe007f],
  ['further variation selectors', 0xe0100, 0xe01ef],
];

const written = [spellOut, quoteName, quoteWord, (text: string) => quoteValue({ [text]: [text] })] as const;

for (const [what, from, to] of invisible)
  test(`${what}: spelled out wherever they stand`, () => {
    for (let point = from; point <= to; point++) {
      const char = String.fromCodePoint(point);
      for (const write of written)
        for (const text of [char, `a${char}b`, `${char}a`, `a${char}`])
          assert.ok(!write(text).includes(char), `U+${point.toString(16)} in ${JSON.stringify(write(text))}`);
    }
  });

test('half a character and a mark without a letter are spelled out', () => {
  assert.equal(spellOut('half \ud83d'), 'half \\ud83d');
  assert.equal(quoteName('\udc00'), '"\\udc00"');
  assert.equal(quoteName('\u0338amount'), '"\\u0338amount"');
  assert.equal(spellOut('a\u20e0'), 'a\\u20e0');
  assert.equal(spellOut(`a${'\u0301'.repeat(6)}`), `a${'\u0301'.repeat(4)}\\u0301\\u0301`);
});

test('letters of all scripts, digits, signs and pictures stay', () => {
  for (const text of [
    'plain text',
    'ünïcödé',
    '日本',
    'हिन्दी',
    'ไทย',
    'العربية',
    'עברית',
    '한국어',
    'Ελληνικά',
    '🙂',
    '¥ 5 → 6 %',
  ])
    assert.equal(spellOut(text), text);
});

test('a name is bare if it is one, and in quotes if it could be taken for something else', () => {
  for (const name of [
    'amount',
    'card.number',
    'first-name',
    'größe',
    'हिन्दी',
    'stripe/refund',
    'ann@example.com',
    '_id',
    '$ref',
  ])
    assert.equal(quoteName(name), name);
  const quoted: readonly (readonly [name: string, shown: string])[] = [
    ['', '""'],
    ['a\namount: 5', '"a\\namount: 5"'],
    ['amount: 5', '"amount: 5"'],
    ['amount:5', '"amount:5"'],
    ['"amount"', '"\\"amount\\""'],
    ['a b', '"a b"'],
    [' a', '" a"'],
    ['\u202eamount', '"\\u202eamount"'],
    ['\u{e0041}', '"\\udb40\\udc41"'],
    ['\\u202e', '"\\\\u202e"'],
    ['a · b', '"a · b"'],
    ['-', '"-"'],
  ];
  for (const [name, shown] of quoted) assert.equal(quoteName(name), shown);
  assert.equal(quoteWord('recourse.yaml:10'), 'recourse.yaml:10');
  assert.equal(quoteWord('2026-01-01T00:00:00Z'), '2026-01-01T00:00:00Z');
  assert.equal(quoteWord('a · code none'), '"a · code none"');
  assert.equal(quoteWord('a state granted'), '"a state granted"');
  assert.equal(quoteWord(5), '5');
});

const nasty = fc.constantFrom(
  '\n',
  '\r',
  '\u2028',
  '\u202e',
  '\u200b',
  '\u{e0041}',
  '\ufe0f',
  '"',
  '\\',
  ' ',
  ':',
  '\ud800',
  '\u0301',
);
const anyText = fc.string({ unit: fc.oneof(nasty, anyCharacter), maxLength: 20 });
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    anyText,
    fc.constantFrom(null, true, false, 0, -1.5),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(anyText, tie('value'), { maxKeys: 3 }),
  ),
})).value;

/** What the standard calls invisible, or a control, or the end of a line. */
const seen = (text: string) => !/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(text);

test('whatever is written, nothing is invisible, nothing breaks the line, and a value parses back', () => {
  const options = { seed: 20_261_117, numRuns: 2_000 };
  fc.assert(
    fc.property(anyText, (text) => {
      for (const write of [spellOut, quoteName, quoteWord]) assert.ok(seen(write(text)), JSON.stringify(write(text)));
      const [name, word] = [quoteName(text), quoteWord(text)];
      assert.equal(name.startsWith('"') ? JSON.parse(name) : name, text);
      assert.equal(word.startsWith('"') ? JSON.parse(word) : word, text);
      // A bare name holds nothing that separates a name from its value, or one field from the next.
      if (!name.startsWith('"')) assert.doesNotMatch(name, /[:\s,;'"=·]/u);
      if (!word.startsWith('"')) assert.doesNotMatch(word, /[\s,;'"=·]/u);
    }),
    options,
  );
  fc.assert(
    fc.property(anyValue, (value) => {
      assert.ok(seen(quoteValue(value)));
      assert.deepEqual(JSON.parse(quoteValue(value)), JSON.parse(JSON.stringify(value)));
      const lines = quoteValue(value, 2).split('\n');
      assert.ok(lines.every(seen));
      assert.equal(lines.length, JSON.stringify(value, null, 2).split('\n').length);
      assert.deepEqual(JSON.parse(lines.join('\n')), JSON.parse(JSON.stringify(value)));
    }),
    options,
  );
});
