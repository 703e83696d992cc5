import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CelOptions, type CelResult, compileCel } from './compile-cel.ts';

const any: CelOptions = { variables: { context: 'dyn', inputs: 'dyn' } };

function evaluate(text: string, values: Record<string, unknown>): CelResult {
  const compiled = compileCel(text, any);
  if (!compiled.ok) assert.fail(`${text}: ${compiled.problem}`);
  return compiled.evaluate(values);
}

const costly: readonly (readonly [string, string, Record<string, unknown>])[] = [
  [
    'loops over long lists',
    'inputs.l.exists(x, inputs.l.exists(y, x + y < 0))',
    { l: Array.from({ length: 5_000 }, (_, i) => i) },
  ],
  [
    'searching a list for each of its items',
    'inputs.l.all(x, x in inputs.l)',
    { l: Array.from({ length: 20_000 }, (_, i) => `${i}`) },
  ],
  [
    'comparing all of the inputs again and again',
    'inputs.l.exists(x, inputs != context)',
    { l: Array.from({ length: 20_000 }, (_, i) => i) },
  ],
  [
    'joining long texts',
    'inputs.l.map(x, inputs.s).join()',
    { l: Array.from({ length: 10_000 }, (_, i) => i), s: 'a'.repeat(500_000) },
  ],
  [
    'joining by a long text',
    'inputs.l.map(x, "").join(inputs.s)',
    { l: Array.from({ length: 10_000 }, (_, i) => i), s: 'a'.repeat(40_000) },
  ],
  [
    'matching a long text again and again',
    'inputs.l.exists(x, inputs.s.matches("(a+)+$x"))',
    { l: Array.from({ length: 10_000 }, (_, i) => i), s: 'a'.repeat(100_000) },
  ],
  [
    'reading a large map with a field of an unfortunate name again and again',
    'inputs.l.exists(x, inputs.n == x)',
    Object.fromEntries([
      ...Array.from({ length: 20_000 }, (_, i) => [`f${i}`, i] as const),
      ['constructor', 1],
      ['n', -1],
      ['l', Array.from({ length: 20_000 }, (_, i) => i)],
    ]),
  ],
  [
    'listing the keys of a large map again and again',
    'inputs.l.exists(x, inputs.m.exists(k, true) && x < 0)',
    {
      l: Array.from({ length: 40_000 }, (_, i) => i),
      m: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, i])),
    },
  ],
  [
    'work behind an or',
    'inputs.l.exists(x, inputs.l.exists(y, x + y < 0)) || true',
    { l: Array.from({ length: 5_000 }, (_, i) => i) },
  ],
];

for (const [what, text, inputs] of costly) {
  test(`it ends in good time: ${what}`, () => {
    const result = evaluate(text, { context: structuredClone(inputs), inputs });
    assert.deepEqual(result, { ok: false, problem: 'the expression needs too much work' });
  });
}

test('an exponential pattern is matched in linear time', () => {
  assert.deepEqual(evaluate('inputs.s.matches("^(a+)+$")', { inputs: { s: `${'a'.repeat(50_000)}!` } }), {
    ok: true,
    value: false,
  });
});
