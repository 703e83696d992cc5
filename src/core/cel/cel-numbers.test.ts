import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileCel } from './compile-cel.ts';

const args = { n: 10, zero: 0, big: 1e300, text: 'abc', list: [1, 2, 3], none: null };

function evaluate(text: string) {
  const compiled = compileCel(text, { variables: { args: 'dyn' }, strict: true });
  if (!compiled.ok) assert.fail(`${text}: ${compiled.problem}`);
  return compiled.evaluate({ args });
}

const errors: readonly (readonly [what: string, texts: readonly string[], problem: RegExp])[] = [
  [
    'a division or a remainder by zero',
    ['10 % 0 == 0', '10 / 0 > 1', 'args.n % 0 == 1.0', 'args.n / 0 > 1.0', '10 % args.zero == 1.0', '5.0 % 0.0 == 0.0'],
    /by zero/,
  ],
  [
    'a calculation that gives no number',
    [
      'args.n / args.zero > 1.0',
      '0.0 / 0.0 != 0.0',
      'args.big * args.big > 1.0',
      'double("1e999") > 1.0',
      'args.list.exists(x, x / args.zero > 1.0)',
      '(true ? 1.0 / 0.0 : 1.0) > 5.0',
      '[1.0 / 0.0] == [1.0]',
    ],
    /out of range/,
  ],
  [
    'a whole number of more than 64 bits',
    ['int("9223372036854775808") > 1', 'int(args.big) > 1', '-(-9223372036854775807 - 1) > 1'],
    /out of range/,
  ],
  [
    'a text that is no whole number in decimal digits',
    ['', '0b1', '0o7', '0x1', ' 1', '1 ', '1e3', '1.0', '-', '+', '1_000', '１', '٣', 'abc', '9'.repeat(41)].map(
      (text) => `int("${text}") >= 0`,
    ),
    /^int\(\): the text is not a whole number in decimal digits$/,
  ],
  [
    'a text that is no number in decimal digits',
    ['', '0b1', '0x10', ' 1', '.', '-', 'e5', '1e', '1_0', 'inf', 'Infinity', 'NaN', '１'].map(
      (text) => `double("${text}") >= 0.0`,
    ),
    /^double\(\): the text is not a number in decimal digits$/,
  ],
  [
    'what is neither true nor false beside and, or and not',
    ['args.text || true', 'true && args.none', 'args.n || true', 'false && true || args.list'],
    /need true or false/,
  ],
];

for (const [what, texts, problem] of errors)
  test(`${what} is an error`, () => {
    for (const text of texts) {
      const result = evaluate(text);
      assert.match(result.ok ? `it gave ${JSON.stringify(result.value)}` : result.problem, problem, text);
    }
  });

test('numbers that people write are read', () => {
  for (const [text, value] of [
    ['int("+12")', 12],
    ['int("-007")', -7],
    ['int(1.9)', 1],
    ['int(args.n)', 10],
    ['double("-1.5e3")', -1_500],
    ['double(".5")', 0.5],
    ['double(3)', 3],
    ['int("9223372036854775807") > 0', true],
    ['args.n / 4', 2.5],
    ['-7 % 3', -1],
  ] as const)
    assert.deepEqual(evaluate(text), { ok: true, value }, text);
});

test('a whole number that takes more than 64 bits is refused when it is read', () => {
  const compiled = compileCel('args.n < 9223372036854775808', { variables: { args: 'dyn' } });
  assert.match(compiled.ok ? '' : compiled.problem, /more than 64 bits/);
});

test('a comment is refused when it is read, and what looks like one in a text is not', () => {
  const comments: readonly (readonly [text: string, line: number, column: number])[] = [
    ['args.n > 1 // at most && args.n < 5', 1, 12],
    ['args.n > 1 &&\n  args.n < 5 // both', 2, 14],
    ["args.text == 'a // b' // c", 1, 23],
    ['args.text == "\\" // b" // c', 1, 24],
    [`args.text == '''it's''' // c`, 1, 25],
    ['// all of it\ntrue', 1, 1],
  ];
  for (const [text, line, column] of comments) {
    const compiled = compileCel(text, { variables: { args: 'dyn' } });
    assert.ok(!compiled.ok, text);
    assert.match(compiled.problem, /begins a comment.*write it as a # comment above/);
    assert.deepEqual(compiled.at, { line, column }, text);
  }
  for (const text of [
    "args.text == 'https://example.com'",
    'args.text == "a // b"',
    `args.text == """a "// b"""`,
    "args.text == r'a // b'",
    "args.text == 'it\\'s // b'",
    'args.n / 2.0 / 5.0 > 1.0',
  ])
    assert.ok(compileCel(text, { variables: { args: 'dyn' } }).ok, text);
});
