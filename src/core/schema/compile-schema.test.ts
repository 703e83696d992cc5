import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../values/json.ts';
import { compileSchema } from './compile-schema.ts';

/** Compiles a schema that must be right, and checks one value. */
function check(schema: unknown, value: unknown) {
  const compiled = compileSchema(schema);
  assert.ok(compiled.ok, compiled.ok ? '' : compiled.problem);
  return compiled.check(value as Json);
}

const order = {
  type: 'object',
  required: ['drink', 'count'],
  additionalProperties: false,
  properties: {
    drink: { enum: ['oat', 'soy', 'almond'] },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    note: { type: 'string', minLength: 2, maxLength: 5, pattern: '^[a-z]+$' },
  },
};

const complaints: readonly (readonly [string, unknown, unknown, readonly unknown[]])[] = [
  ['a right value has none', order, { drink: 'oat', count: 1 }, []],
  ['a wrong type is told by the right one', { type: 'string' }, 5, [{ path: '', expected: 'string', got: 5 }]],
  ['several types are joined', { type: ['string', 'null'] }, 5, [{ path: '', expected: 'string or null', got: 5 }]],
  [
    'a missing field is named by its own path and type',
    order,
    { drink: 'oat' },
    [{ path: '/count', expected: 'a value (integer)', got: null }],
  ],
  [
    'a missing field without a schema is a value',
    { required: ['a'] },
    {},
    [{ path: '/a', expected: 'a value', got: null }],
  ],
  [
    'a wrong choice lists the right ones',
    order,
    { drink: 'moon', count: 1 },
    [{ path: '/drink', expected: 'one of: oat, soy, almond', got: 'moon' }],
  ],
  [
    'a field too many is named',
    order,
    { drink: 'oat', count: 1, size: 'xl' },
    [{ path: '/size', expected: 'left out, there is no such field', got: 'xl' }],
  ],
  [
    'every wrong field is listed, each once',
    order,
    { drink: 'moon', count: 0.5, note: 'A' },
    [
      { path: '/drink', expected: 'one of: oat, soy, almond', got: 'moon' },
      { path: '/count', expected: 'integer and a number of at least 1', got: 0.5 },
      { path: '/note', expected: 'at least 2 characters and text that matches ^[a-z]+$', got: 'A' },
    ],
  ],
  [
    'a path is a JSON Pointer',
    { properties: { 'a/b': { items: { properties: { '~': { type: 'string' } } } } } },
    { 'a/b': [{}, { '~': 1 }] },
    [{ path: '/a~1b/1/~0', expected: 'string', got: 1 }],
  ],
  ['a limit is told in words', { exclusiveMaximum: 3 }, 3, [{ path: '', expected: 'a number below 3', got: 3 }]],
  ['a single item is singular', { minItems: 1 }, [], [{ path: '', expected: 'at least 1 item', got: [] }]],
  [
    'equal items are told',
    { uniqueItems: true },
    [{ a: 1 }, { a: 1 }],
    [{ path: '', expected: 'items that are all different', got: [{ a: 1 }, { a: 1 }] }],
  ],
  [
    'a large value is previewed',
    { type: 'number' },
    'x'.repeat(500),
    [{ path: '', expected: 'number', got: `"${'x'.repeat(78)}…` }],
  ],
  [
    'a field of a prototype is not there',
    { required: ['toString'] },
    {},
    [{ path: '/toString', expected: 'a value', got: null }],
  ],
  [
    'a schema that is false accepts nothing',
    { properties: { a: false } },
    { a: 1 },
    [{ path: '/a', expected: 'nothing here', got: 1 }],
  ],
];

for (const [name, schema, value, expected] of complaints) {
  test(`complaints: ${name}`, () => assert.deepEqual(check(schema, value), expected));
}

const tolerated: readonly (readonly [string, unknown])[] = [
  ['unknown keywords', { 'x-order': 1, widget: { type: 'slider' } }],
  ['unknown and known formats, which are only notes', { type: 'string', format: 'no-such-format' }],
  ['the name of draft 7', { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] }],
  ['the name of 2019-09', { $schema: 'https://json-schema.org/draft/2019-09/schema', $recursiveAnchor: true }],
  ['the name of a dialect that nobody knows', { $schema: 'https://example.com/own-dialect' }],
  ['an id in the old way', { id: 'tool', type: 'string' }],
  ['nullable without a type', { anyOf: [{ type: 'string' }], nullable: true }],
  ['a promise to be asynchronous', { $async: true, type: 'string' }],
  ['required fields that are not declared', { type: 'object', required: ['a'] }],
  ['keywords of another type', { type: 'string', minimum: 3 }],
  ['a default of the wrong type', { type: 'string', default: 5 }],
];

for (const [name, schema] of tolerated) {
  test(`tolerated: ${name}`, () => assert.deepEqual(check(schema, 'text').slice(1), []));
}

test('data inside a schema keeps words that are switches elsewhere', () => {
  assert.deepEqual(check({ const: { nullable: true, $async: true } }, { nullable: true, $async: true }), []);
  const fields = { properties: { nullable: true, $async: true }, additionalProperties: false };
  assert.deepEqual(check(fields, { nullable: 1, $async: 2 }), []);
});

const refused: readonly (readonly [string, unknown, RegExp])[] = [
  ['what is not an object', 5, /must be a JSON object/],
  [
    'a cycle',
    (() => {
      const loop: Record<string, unknown> = {};
      loop['not'] = loop;
      return loop;
    })(),
    /without cycles/,
  ],
  ['a type that does not exist', { properties: { a: { type: 'strng' } } }, /^\/properties\/a\/type /],
  [
    'a remote reference',
    { $ref: 'https://example.com/s.json' },
    /refers to https:\/\/example.com\/s.json, which is not inside/,
  ],
  ['a reference to nothing', { $ref: '#/$defs/none' }, /refers to #\/\$defs\/none, which is not inside/],
  ['data references', { properties: { a: { minimum: { $data: '1/b' } } } }, /minimum must be number/],
  ['look-ahead', { pattern: '^(?=a)b' }, /cannot be matched in linear time/],
  ['a very long pattern', { pattern: 'a'.repeat(1_001) }, /longer than 1000 characters/],
  ['patterns that are too large together', { pattern: `(${'[a-z]'.repeat(100)}){1000}` }, /too large/],
  ['a reference to itself only', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, /without end/],
  ['too much text', { description: 'x'.repeat(300_000) }, /larger than 262144 characters/],
  ['too many levels', nested(101), /deeper than 100 levels/],
  ['far too many levels', nested(100_000), /plain JSON/],
];

function nested(levels: number): unknown {
  let schema: unknown = {};
  for (let level = 0; level < levels; level++) schema = { not: schema };
  return schema;
}

for (const [name, schema, problem] of refused) {
  test(`refused: ${name}`, () => {
    const compiled = compileSchema(schema);
    assert.ok(!compiled.ok);
    assert.match(compiled.problem, problem);
  });
}

/** Forty definitions, each of which asks the next one twice. */
function doubling(keyword: string): unknown {
  const twice = (next: number) => ({ [keyword]: [{ $ref: `#/$defs/d${next}` }, { $ref: `#/$defs/d${next}` }] });
  const names = Array.from({ length: 40 }, (_, index) => [
    `d${index}`,
    index === 39 ? { type: 'string' } : twice(index + 1),
  ]);
  return { $ref: '#/$defs/d0', $defs: Object.fromEntries(names) };
}

const deepValue = Array.from({ length: 60 }).reduce<unknown>((inner) => ({ x: inner }), 1);

const hostile: readonly (readonly [string, unknown, unknown, RegExp])[] = [
  ['a pattern that would backtrack', { pattern: '^(a+)+$' }, `${'a'.repeat(50_000)}b`, /^text that matches/],
  [
    'a pattern of many steps on a long text',
    { pattern: '(a|b|c|.){1,1000}$' },
    'a'.repeat(100_000),
    /too large for its schema/,
  ],
  ['anyOf doubling at each of forty references', doubling('anyOf'), 1, /too large for its schema/],
  ['allOf doubling at each of forty references', doubling('allOf'), 'x', /too large for its schema/],
  [
    'doubling at each level of the value',
    { type: 'object', properties: { x: { anyOf: [{ $ref: '#' }, { $ref: '#' }] } } },
    deepValue,
    /too large/,
  ],
  ['a schema that never ends', { allOf: [{ $ref: '#' }] }, 1, /refers to itself without end/],
  ['half a million wrong items', { items: { type: 'string' } }, Array.from({ length: 500_000 }, () => 1), /^string$/],
  [
    'many different items',
    { uniqueItems: true, maxItems: 1 },
    Array.from({ length: 20_000 }, (_, id) => ({ id })),
    /^at most 1 item$/,
  ],
  [
    'thousands of wrong fields',
    { additionalProperties: false },
    Object.fromEntries(Array.from({ length: 50_000 }, (_, id) => [id, id])),
    /^left out, there is no such field$/,
  ],
];

for (const [name, schema, value, expected] of hostile) {
  test(`answers a schema or value made to take for ever: ${name}`, () => {
    const compiled = compileSchema(schema);
    assert.ok(compiled.ok);
    compiled.check(value as Json);
    const [first, ...others] = compiled.check(value as Json);
    assert.match(first?.expected ?? '', expected);
    assert.ok(others.length < 20);
  });
}

test('lists no more wrong fields than it may', () => {
  const fields = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, { type: 'string' }]));
  const value = Object.fromEntries(Object.keys(fields).map((field) => [field, 1]));
  const compiled = compileSchema({ properties: fields }, { maxFieldErrors: 7 });
  assert.ok(compiled.ok);
  assert.equal(compiled.check(value).length, 7);
});

test('identifiers of different schemas never meet', () => {
  const text = { $id: 'https://example.com/same', type: 'string' };
  const number = { $id: 'https://example.com/same', type: 'number' };
  assert.deepEqual(check(text, 'a'), []);
  assert.deepEqual(check(number, 1), []);
});

test('never throws, whatever the schema and the value are', () => {
  const keyword = fc.constantFrom(
    'type',
    'properties',
    'items',
    'anyOf',
    'oneOf',
    'not',
    'enum',
    '$ref',
    'pattern',
    'required',
    '$id',
    'if',
    'then',
    '$dynamicRef',
    'contains',
  );
  const word = fc.constantFrom('string', 'object', '#', '#/anyOf/0', 'a', '^a', 'https://x.org');
  const { schema } = fc.letrec((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.boolean(),
      word,
      fc.array(tie('schema')),
      fc.dictionary(fc.oneof(keyword, fc.string()), tie('schema')),
    ),
  }));
  fc.assert(
    fc.property(schema, fc.jsonValue(), fc.jsonValue(), (written, one, other) => {
      const compiled = compileSchema(written);
      if (!compiled.ok) return assert.ok(compiled.problem.length > 0);
      for (const value of [one, other]) {
        const errors = compiled.check(value as Json);
        assert.equal(new Set(errors.map(({ path }) => path)).size, errors.length);
      }
    }),
    { numRuns: 400 },
  );
});
