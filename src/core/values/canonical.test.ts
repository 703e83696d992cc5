import assert from 'node:assert/strict';
import { test } from 'node:test';
import reference from 'canonicalize';
import fc from 'fast-check';
import { canonicalise, canonicalText, preview } from './canonical.ts';
import { utf8Length } from './json.ts';

const limits = { maxDepth: 64 };

test('agrees byte for byte with the reference implementation of RFC 8785 on any JSON value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      assert.equal(canonicalText(value), (reference as unknown as (value: unknown) => string)(value));
    }),
    { numRuns: 2_000 },
  );
});

const vectors: readonly (readonly [string, unknown, string])[] = [
  [
    'sorts keys by UTF-16 code unit',
    { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5 },
    '{"\\r":2,"1":4,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}',
  ],
  ['writes numbers as ECMAScript does', [1e30, 4.5, 2e-3, 1e-27, -0], '[1e+30,4.5,0.002,1e-27,0]'],
  ['leaves out what JSON leaves out', { a: undefined, b: () => 1, c: [undefined, Symbol('x')] }, '{"c":[null,null]}'],
  ['asks toJSON, as JSON does', { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
  ['unwraps objects around a text, a number or a boolean', [Object('a'), Object(1), Object(false)], '["a",1,false]'],
  ['keeps a key named __proto__', JSON.parse('{"__proto__":{"x":1},"a":1}'), '{"__proto__":{"x":1},"a":1}'],
];

for (const [behaviour, value, expected] of vectors) {
  test(behaviour, () => assert.deepEqual(canonicalise(value, limits), { ok: true, text: expected }));
}

const cycle: { self?: unknown } = {};
cycle.self = cycle;
const refused: readonly (readonly [string, unknown, string, RegExp])[] = [
  ['a cycle', { a: cycle }, '/a/self', /cycle/],
  ['NaN', { a: [1, Number.NaN] }, '/a/1', /NaN/],
  ['a bigint', { a: 1n }, '/a', /bigint/],
  ['a lone surrogate', { a: '\ud800' }, '/a', /surrogate/],
  ['a lone surrogate in a key', { '\udfff': 1 }, '', /surrogate/],
  ['undefined by itself', undefined, '', /undefined/],
  ['a Map', { a: new Map([[1, 2]]) }, '/a', /a Map has nothing/],
  ['an Error', new Error('returned'), '', /an? Error has nothing/],
];

for (const [what, value, path, problem] of refused) {
  test(`refuses ${what}, and says where`, () => {
    const written = canonicalise(value, limits);
    assert.ok(!written.ok);
    assert.ok(written.path.startsWith(path), written.path);
    assert.match(written.problem, problem);
  });
}

test('never throws, whatever a getter, a proxy or a toJSON of the caller does', () => {
  const hostile = [
    {
      get a() {
        throw new Error('no');
      },
    },
    new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('no');
        },
      },
    ),
    {
      toJSON() {
        throw new Error('no');
      },
    },
    {
      toJSON() {
        return this;
      },
    },
  ];
  for (const value of hostile) assert.equal(canonicalise(value, limits).ok, false);
});

test('counts UTF-8 bytes as the encoder does', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => assert.equal(utf8Length(text), Buffer.byteLength(text))),
  );
});

test('a preview is short whatever it shows', () => {
  assert.ok(preview('x'.repeat(10_000)).length <= 80);
  assert.equal(preview({ a: 1 }), '{"a":1}');
});
