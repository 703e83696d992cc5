import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../values/json.ts';
import { defaultPolicyLimits } from './policy-limits.ts';
import { compileRedact } from './redact-paths.ts';

const maskOf = (...paths: string[]) => {
  const { mask, problems } = compileRedact(paths, defaultPolicyLimits);
  assert.deepEqual(problems, []);
  return mask;
};

const card = { card: { number: '4242', holder: 'Ada' }, items: [{ secret: 1 }, { secret: 2, name: 'b' }] };

const meant: readonly (readonly [paths: string[], value: Json, masked: Json])[] = [
  [['args.card.number'], card, { ...card, card: { number: '[redacted]', holder: 'Ada' } }],
  [['args.card'], card, { ...card, card: '[redacted]' }],
  [['args.items.*.secret'], card, { ...card, items: [{ secret: '[redacted]' }, { secret: '[redacted]', name: 'b' }] }],
  [['args.items.1.secret'], card, { ...card, items: [{ secret: 1 }, { secret: '[redacted]', name: 'b' }] }],
  [['args.**.secret'], card, { ...card, items: [{ secret: '[redacted]' }, { secret: '[redacted]', name: 'b' }] }],
  [['args.**.holder'], { holder: 'Ada' }, { holder: '[redacted]' }],
  [['args.*'], { a: 1, b: { c: 2 } }, { a: '[redacted]', b: '[redacted]' }],
  [
    ['args.a.**.b'],
    { b: 1, a: { b: 2, c: [{ b: null }] } },
    { b: 1, a: { b: '[redacted]', c: [{ b: '[redacted]' }] } },
  ],
  [['args.card', 'args.card.number'], card, { ...card, card: '[redacted]' }],
];

for (const [paths, value, masked] of meant)
  test(`${paths.join(' and ')} masks what it names and nothing else`, () => {
    const before = structuredClone(value);
    assert.deepEqual(maskOf(...paths)('args', value), masked);
    assert.deepEqual(value, before, 'the value itself is not touched');
  });

test('whatever stands where an argument should have fields and has none is masked, for it could hold them', () => {
  const mask = maskOf(
    'args.card.number',
    'args.items.*.secret',
    'args.list.0.pin',
    'args.**.deep.key',
    'result.card.number',
  );
  const number = '4242';
  for (const odd of [number, 4242, true, [{ number }], [[number]]]) {
    assert.deepEqual(mask('args', { card: odd, note: 'n' }), { card: '[redacted]', note: 'n' });
    assert.deepEqual(mask('args', { a: [{ deep: odd }] }), { a: [{ deep: '[redacted]' }] });
  }
  assert.deepEqual(mask('args', { items: [[{ secret: 1 }], 7] }), { items: ['[redacted]', '[redacted]'] });
  // Both of a list and of an object, these are items or fields.
  for (const fine of [{ card: null }, { card: {} }, { items: [{ a: 1 }] }, { items: { a: {} } }, { list: [{ a: 1 }] }])
    assert.equal(mask('args', fine), fine);
  assert.deepEqual(mask('result', { card: [{ number }] }), { card: [{ number }] });
});

test('what is not masked is the very same value', () => {
  const mask = maskOf('args.**.password', 'result.users.*.email');
  assert.equal(mask('args', card), card);
  assert.equal(mask('result', card), card);
  const value = { password: 'x', deep: card };
  const masked = mask('args', value) as { deep: unknown };
  assert.equal(masked.deep, card);
  assert.equal(maskOf()('args', card), card);
});

test('keys with the names of JavaScript are keys', () => {
  const value = JSON.parse('{"__proto__": {"password": "s"}, "constructor": {"password": "s"}}') as Json;
  const text = JSON.stringify(maskOf('args.**.password')('args', value));
  assert.equal(text, '{"__proto__":{"password":"[redacted]"},"constructor":{"password":"[redacted]"}}');
  assert.equal(JSON.stringify(maskOf('args.__proto__')('args', value)).includes('"__proto__":"[redacted]"'), true);
  assert.equal(({} as { password?: unknown }).password, undefined);
});

test('what is nested too deeply to be looked through is masked as a whole', () => {
  let value: Json = { password: 'secret' };
  for (let i = 0; i < 10_000; i++) value = [value];
  assert.ok(!JSON.stringify(maskOf('args.**.password')('args', value)).includes('secret'));
});

const wrong: readonly (readonly [string, RegExp])[] = [
  ['card.number', /does not begin with args. or result./],
  ['args', /does not begin with/],
  ['argsx.a', /does not begin with/],
  ['', /does not begin with/],
  ['args..a', /empty step/],
  ['args.pass*', /star beside letters/],
  ['args.***', /star beside letters/],
  ['args.a.**', /ends in \*\*/],
  [`args${'.a'.repeat(40)}`, /more than 32 steps/],
];

for (const [path, problem] of wrong)
  test(`'${path.slice(0, 20)}' is refused, with a fix`, () => {
    const { problems } = compileRedact(['args.fine', path], defaultPolicyLimits);
    assert.equal(problems.length, 1);
    assert.equal(problems[0]?.index, 1);
    assert.match(problems[0]?.message ?? '', problem);
    assert.notEqual(problems[0]?.fix, '');
  });

/** As plainly as it can be said. */
function isMasked(steps: readonly string[], keys: readonly string[]): boolean {
  const [step, ...rest] = steps;
  if (step === undefined) return keys.length === 0;
  if (step === '**') return isMasked(rest, keys) || (keys.length > 0 && isMasked(steps, keys.slice(1)));
  return keys.length > 0 && (step === '*' || step === keys[0]) && isMasked(rest, keys.slice(1));
}

test('no masked value is left anywhere, and everything else is', () => {
  const key = fc.constantFrom('a', 'b', '0', '1');
  const path = fc
    .tuple(
      fc.array(fc.oneof(key, fc.constant('*'), fc.constant('**')), { maxLength: 4 }),
      fc.oneof(key, fc.constant('*')),
    )
    .map(([steps, last]) => [...steps, last].join('.'));
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constant(null),
      fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
  }));
  let maskedLeaves = 0;
  let keptLeaves = 0;
  fc.assert(
    fc.property(fc.array(path, { minLength: 1, maxLength: 4 }), value, (paths, shape) => {
      const leaves: { readonly text: string; readonly keys: readonly string[] }[] = [];
      const fill = (at: unknown, keys: readonly string[]): Json => {
        if (Array.isArray(at)) return at.map((each, index) => fill(each, [...keys, String(index)]));
        if (typeof at === 'object' && at !== null)
          return Object.fromEntries(Object.entries(at).map(([name, each]) => [name, fill(each, [...keys, name])]));
        const text = `leaf-${leaves.length}-`;
        leaves.push({ text, keys });
        return text;
      };
      const filled = fill(shape, []);
      const shown = JSON.stringify(maskOf(...paths.map((each) => `result.${each}`))('result', filled));
      for (const { text, keys } of leaves) {
        const prefixes = keys.map((_, index) => keys.slice(0, index + 1));
        const hidden = prefixes.some((prefix) => paths.some((each) => isMasked(each.split('.'), prefix)));
        if (hidden) maskedLeaves++;
        else keptLeaves++;
        assert.equal(shown.includes(text), !hidden, `${keys.join('.')} by ${paths.join(', ')}`);
      }
    }),
    { numRuns: 4_000, seed: 7 },
  );
  assert.ok(maskedLeaves > 500 && keptLeaves > 500, `${maskedLeaves} masked, ${keptLeaves} kept`);
});
