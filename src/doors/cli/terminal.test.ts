import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writePairs, writeTable } from './print/table.ts';
import { harmless } from './terminal.ts';

const plain = (_: string, text: string) => text;

test('text of others cannot move the cursor, change colours or turn a line around', () => {
  const spelt: readonly (readonly [text: string, shown: string])[] = [
    ['plain text, ünïcödé, 日本, 🙂', 'plain text, ünïcödé, 日本, 🙂'],
    ['\u001b[2Jgone', '\\u001b[2Jgone'],
    ['a\rb\nc\td', 'a\\rb\\nc\\td'],
    ['\u009b31m', '\\u009b31m'],
    ['abc\u202edef\u2066', 'abc\\u202edef\\u2066'],
    ['\u2028\u2029\ufeff', '\\u2028\\u2029\\ufeff'],
    ['half \ud83d', 'half \\ud83d'],
  ];
  for (const [text, shown] of spelt) assert.equal(harmless(text), shown);
});

test('a table is as wide as its widest cells, and cuts what is too long', () => {
  const rows = [
    ['call_1', 'pay'],
    ['call_22', 'x'.repeat(100)],
  ];
  const columns = [
    { title: 'CALL', text: (row: readonly string[]) => row[0] ?? '' },
    { title: 'TOOL', text: (row: readonly string[]) => row[1] ?? '' },
  ];
  assert.equal(writeTable(columns, rows, plain), `CALL     TOOL\ncall_1   pay\ncall_22  ${'x'.repeat(59)}…\n`);
});

test('pairs keep the lines of a value below each other, and a text of others makes none', () => {
  const pairs = [
    ['a', '1'],
    ['long', ['{', '  "x": "\u0007"', '}']],
    ['text', 'one\n  a  2'],
  ] as const;
  assert.equal(
    writePairs(pairs, plain),
    '  a     1\n  long  {\n          "x": "\\u0007"\n        }\n  text  one\\n  a  2\n',
  );
});
