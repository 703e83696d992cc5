import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../values/json.ts';
import { compileSchema } from './compile-schema.ts';

const text = { type: 'string' };
const pets = {
  properties: { pet: { anyOf: [{ $ref: '#/$defs/cat' }, { $ref: '#/$defs/dog' }, { type: 'null' }] } },
  $defs: {
    cat: {
      type: 'object',
      required: ['lives'],
      properties: { kind: { const: 'cat' }, lives: { $ref: '#/$defs/count' } },
    },
    dog: { type: 'object', properties: { kind: { const: 'dog' } } },
    count: { type: 'integer' },
  },
};

const cases: readonly (readonly [string, unknown, unknown, Readonly<Record<string, string>>])[] = [
  ['alternatives of kind are joined', { anyOf: [text, { type: 'null' }] }, 5, { '': 'string or null' }],
  [
    'so they are for every item',
    { items: { oneOf: [text, { type: 'number' }] } },
    [true, 1, null],
    { '/0': 'string or number', '/2': 'string or number' },
  ],
  [
    'the alternative of the right kind speaks alone',
    { anyOf: [{ ...text, minLength: 4 }, { type: 'null' }] },
    'abc',
    { '': 'at least 4 characters' },
  ],
  [
    'the alternative that its telling field names speaks alone',
    pets,
    { pet: { kind: 'cat', lives: 'nine' } },
    { '/pet/lives': 'integer' },
  ],
  [
    'a telling field that names none gets all choices',
    pets,
    { pet: { kind: 'cow' } },
    { '/pet/kind': 'one of: cat, dog' },
  ],
  [
    'alternatives behind references are described by what they refer to',
    pets,
    { pet: 5 },
    { '/pet': 'object or null' },
  ],
  [
    'fields of which one is needed are told together',
    { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    {},
    { '': 'a field /a or a field /b' },
  ],
  [
    'limits of which one must hold are told together',
    { anyOf: [{ minLength: 3 }, { pattern: '^a' }] },
    'b',
    { '': 'at least 3 characters or text that matches ^a' },
  ],
  [
    'a value that fits several of a oneOf is told so',
    { oneOf: [{ type: 'number' }, { type: 'integer' }] },
    3,
    { '': 'a value that fits only one of the alternatives' },
  ],
  [
    'alternatives that contain themselves are told at each place',
    { anyOf: [text, { type: 'array', items: { $ref: '#' } }] },
    [1, [2]],
    { '/0': 'string or array', '/1/0': 'string or array' },
  ],
  [
    'of several forms the nearest speaks',
    { anyOf: [{ properties: { a: text, b: text } }, { properties: { a: text } }] },
    { a: 1, b: 2 },
    { '/a': 'string' },
  ],
  [
    'wrong fields beside an alternative stay',
    { properties: { a: text }, anyOf: [{ required: ['b'] }, { required: ['c'] }] },
    { a: 1 },
    { '': 'a field /b or a field /c', '/a': 'string' },
  ],
  [
    'a condition is not told, only what follows from it',
    { if: text, then: { minLength: 3 } },
    'ab',
    { '': 'at least 3 characters' },
  ],
  [
    'a wrong name of a field is told at the field',
    { propertyNames: { pattern: '^a' } },
    { b: 1 },
    { '/b': 'another field name (text that matches ^a)' },
  ],
  [
    'what is missing from a list is told at the list',
    { contains: { const: 'milk' } },
    ['tea', 'jam'],
    { '': 'at least 1 matching item (exactly: milk)' },
  ],
  [
    'too many alternatives are not listed',
    { anyOf: Array.from({ length: 60 }, (_, index) => ({ const: index })) },
    'x',
    { '': 'a value that fits one of the alternatives' },
  ],
];

for (const [name, schema, value, expected] of cases) {
  test(name, () => {
    const compiled = compileSchema(schema);
    assert.ok(compiled.ok);
    const errors = compiled.check(value as Json);
    assert.deepEqual(Object.fromEntries(errors.map((error) => [error.path, error.expected])), expected);
    assert.equal(errors.length, Object.keys(expected).length);
  });
}
