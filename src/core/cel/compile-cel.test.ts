import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CelOptions, type CelResult, compileCel } from './compile-cel.ts';

const any: CelOptions = { variables: { context: 'dyn', inputs: 'dyn' } };

function evaluate(text: string, values: Record<string, unknown> = {}, options: CelOptions = any): CelResult {
  const compiled = compileCel(text, options);
  if (!compiled.ok) assert.fail(`${text}: ${compiled.problem}`);
  return compiled.evaluate(values);
}

const values = {
  context: { n: 1, half: 0.5, list: [1, 2], s: 'oat', none: null, map: { a: 1 }, at: 0, ready: false },
  inputs: { constructor: 'x', nested: { constructor: { n: 2 } }, items: [{ price: 3 }, { price: 4.5 }] },
};

const meant: readonly (readonly [string, unknown])[] = [
  ['context.n + 1', 2],
  ['1 + context.n', 2],
  ['context.n - 3', -2],
  ['context.n * 2', 2],
  ['context.n / 2', 0.5],
  ['5 / 2', 2],
  ['context.n % 2 == 1', true],
  ['context.n == 1', true],
  ['1 == context.n', true],
  ['1 == 1.0', true],
  ['context.n != 1', false],
  ['context.n > 0', true],
  ['context.n < 9007199254740993', true],
  ['context.n in [1, 2]', true],
  ['2 in context.list', true],
  ['-context.n', -1],
  ['context.n == "1"', false],
  ['context.none == null', true],
  ['context.list == [1, 2]', true],
  ['context.list + [3]', [1, 2, 3]],
  ['context.list[context.at]', 1],
  ['context.list.map(x, x + 1)', [2, 3]],
  ['context.list.exists(x, x == 2)', true],
  ['inputs.items.filter(i, i.price > 4).map(i, i.price)', [4.5]],
  ['size(context.list) > context.n', true],
  ['context.s + "!"', 'oat!'],
  ['["a", context.s].join("-")', 'a-oat'],
  ['context.s.matches("^o.t$")', true],
  ['context.s in ["oat", "soy"]', true],
  ['{"total": context.n + 1, "mixed": [1, "a", null]}', { total: 2, mixed: [1, 'a', null] }],
  ['context.map == {"a": 1}', true],
  ['has(context.absent)', false],
  ['has(context.n) && context.n == 1', true],
  ['inputs.constructor', 'x'],
  ['inputs.nested.constructor.n + 1', 3],
  ['inputs.nested == {"a": 1}', false],
  ['"a,b".split(",")', ['a', 'b']],
  ['context.ready ? "yes" : "no"', 'no'],
  ['"\u212aİß aZ".lowerAscii()', '\u212aİß az'],
  ['"äöß aZ".upperAscii()', 'äöß AZ'],
  ['"🍵b".split("")', ['🍵', 'b']],
  ['"🍵b🍵c".split("🍵")', ['', 'b', 'c']],
  [
    '["a,b,c".split(",", 2), "a,b".split(",", -1), "a".split(",", 0), "🍵bc".split("", 1)]',
    [['a', 'b,c'], ['a', 'b'], [], ['🍵bc']],
  ],
  ['["🍵bc".substring(1), "🍵bc".substring(0, 1), "🍵b".substring(2)]', ['bc', '🍵', '']],
  ['["🍵b🍵".indexOf("b"), "🍵b🍵".indexOf("🍵", 1), "🍵b".indexOf("x"), "🍵".indexOf("", 3)]', [1, 2, -1, 3]],
  ['["🍵b🍵".lastIndexOf("🍵"), "🍵b🍵".lastIndexOf("🍵", 1), "b".lastIndexOf("x")]', [2, 0, -1]],
  ['"🍵bc".substring("🍵bc".indexOf("b"), size("🍵bc"))', 'bc'],
];

for (const [text, expected] of meant) {
  test(`${text} gives ${JSON.stringify(expected)}`, () =>
    assert.deepEqual(evaluate(text, values), { ok: true, value: expected }));
}

test('a place that a text does not have is an error', () => {
  for (const [text, problem] of [
    ['"🍵b".substring(3)', 'substring(start, end): start is out of range'],
    ['"🍵b".substring(-1)', 'substring(start, end): start is out of range'],
    ['"🍵b".substring(1, 3)', 'substring(start, end): end is out of range'],
    ['"🍵b".substring(1, 0)', 'substring(start, end): end is before start'],
    ['"🍵b".indexOf("b", 2)', 'indexOf(search, from): from is out of range'],
    ['"🍵b".lastIndexOf("b", -1)', 'lastIndexOf(search, from): from is out of range'],
  ] as const)
    assert.deepEqual(evaluate(text), { ok: false, problem }, text);
});

const refused: readonly (readonly [what: string, text: string, problem: RegExp, column?: number])[] = [
  ['nothing', '  ', /empty/],
  ['half an expression', 'context.n +', /unexpected token/, 12],
  ['an unknown variable', 'contxt.n', /no variable contxt here; did you mean context/, 1],
  ['a variable of another place', 'context.n > result.n', /no variable result here; there are context, inputs/, 13],
  ['an unknown function', 'lenght(context.s)', /no function lenght\(\) here/, 1],
  ['durations, whose reader can hang', 'duration(inputs.d) == null', /no function duration\(\)/, 1],
  ['binding, which can double without end', 'cel.bind(a, context.s, a + a)', /no variable cel/, 1],
  ['types as values', 'type(context.n) == int', /no function type\(\)|no variable int/],
  ['a pattern that is not written out', 'context.s.matches(inputs.p)', /must be a text in quotes/],
  ['a pattern that only backtracking can match', 'context.s.matches("(a)\\\\1")', /linear time/, 19],
  ['too many loops inside each other', '[1].map(a, [1].map(b, [1].map(c, a)))', /more than 2 loops/],
  ['bytes', 'b"abc"', /not JSON/, 1],
  ['a key that would be dropped', '{"__proto__": 1}', /not usable as a key/, 2],
  ['types that do not fit', '"a" - 1', /no such overload: string - int/, 1],
  ['a text that is too long', `"${'a'.repeat(5_000)}"`, /longer than 4096 characters/],
  ['deep brackets', `${'('.repeat(200)}1${')'.repeat(200)}`, /exceeded|limit/i],
];

for (const [what, text, problem, column] of refused) {
  test(`${what} is refused when it is read`, () => {
    const compiled = compileCel(text, any);
    assert.ok(!compiled.ok, 'it was accepted');
    assert.match(compiled.problem, problem);
    if (column !== undefined) assert.deepEqual(compiled.at, { line: 1, column });
  });
}

test('a problem on a later line names that line', () => {
  const compiled = compileCel('context.n > 0 &&\n  inptus.n > 1', any);
  assert.deepEqual(compiled.ok ? null : compiled.at, { line: 2, column: 3 });
});

const typed: CelOptions = {
  variables: { context: { fields: { total: 'dyn', ready: 'bool' } }, inputs: { fields: { n: 'double', s: 'string' } } },
};

test('known fields: a misspelt one is refused, whatever else is done with them is not', () => {
  const problemOf = (text: string) => {
    const compiled = compileCel(text, typed);
    return compiled.ok ? null : compiled.problem;
  };
  assert.equal(problemOf('context.totl > 1'), 'there is no field totl; did you mean total?');
  assert.match(problemOf('inputs.n.startsWith("a")') ?? '', /no matching overload/);
  assert.match(problemOf('inputs["s"] > 1') ?? '', /no such overload: string > int/);
  assert.match(problemOf('context.ready + 1 > 1') ?? '', /no such overload: bool \+ int/);
  assert.match(problemOf('[1].exists(x, x == 1 && inputs.n.matches("a"))') ?? '', /'double.matches\(string\)'/);
  for (const text of [
    'context.total > 1',
    'inputs.n in [1, 2]',
    'has(context.other)',
    'size(inputs) > 1',
    'inputs == {"n": 1}',
    'inputs.n == 1',
    'inputs.n + 1 > context.total',
    'inputs.s.matches("a")',
    '["a"].exists(_1, _1 == "a" && inputs.n > 1)',
    'inputs["n"] > 1 && inputs . n > 1 && (inputs).n > 1',
  ])
    assert.equal(problemOf(text), null, text);
});

test('a condition must give true or false, when it is read and when it is evaluated', () => {
  const bool = { ...any, returns: 'bool' } as const;
  assert.match(
    (compileCel('1 + 1', bool) as { problem: string }).problem,
    /must give a true or false, and gives a value of type int/,
  );
  assert.deepEqual(evaluate('context.s', values, bool), {
    ok: false,
    problem: 'it must give a true or false, and gave a text',
  });
  assert.deepEqual(evaluate('context.ready', values, bool), { ok: true, value: false });
});

test('the variables it reads, without those it binds itself', () => {
  const compiled = compileCel('context.list.all(inputs, inputs > 1) && context.n > 0', any);
  assert.deepEqual(compiled.ok && compiled.reads, ['context']);
});

test('a result that JSON cannot hold is a problem', () => {
  const problemOf = (text: string) => {
    const result = evaluate(text, values);
    return result.ok ? null : result.problem;
  };
  assert.match(problemOf('1.0 / 0.0') ?? '', /Infinity/);
  assert.match(problemOf('9007199254740993') ?? '', /beyond the whole numbers/);
  assert.match(problemOf('context.absent') ?? '', /no such key: absent/);
  assert.match(problemOf('context.list[7]') ?? '', /out of bounds/);
});

test('any text is compiled or refused, and any JSON evaluated, without a throw', () => {
  const words = fc.constantFrom(
    'context',
    'inputs',
    '.n',
    '.x',
    '[0]',
    ' + ',
    ' == ',
    ' && ',
    ' || ',
    '1',
    '"a"',
    '(',
    ')',
    ' in ',
    '!',
    '.map(x, x)',
    'size(',
    ' ? ',
    ' : ',
    '{"a": ',
    '}',
    '.matches("a")',
    ',',
    '-',
  );
  const texts = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.array(words, { maxLength: 12 }).map((each) => each.join('')),
  );
  fc.assert(
    fc.property(texts, fc.jsonValue(), fc.jsonValue(), (text, context, inputs) => {
      const compiled = compileCel(text, any);
      if (!compiled.ok) return;
      const result = compiled.evaluate({ context, inputs });
      // A value that JSON would change on its way is not JSON.
      if (result.ok)
        assert.deepEqual(withoutMinusZero(JSON.parse(JSON.stringify(result.value))), withoutMinusZero(result.value));
    }),
    { numRuns: 3_000 },
  );
});

const withoutMinusZero = (value: unknown): unknown => {
  if (value === 0) return 0;
  if (Array.isArray(value)) return value.map(withoutMinusZero);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutMinusZero(each)]));
};
