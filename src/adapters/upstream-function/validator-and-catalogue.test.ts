import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type } from 'arktype';
import * as v from 'valibot';
import * as z from 'zod';
import type { Json } from '../../core/values/json.ts';
import { createFunctionUpstream } from './function-upstream.ts';
import { tool } from './tool.ts';

const base = { name: 'it', description: 'Does it.' } as const;

function accepting(input: Parameters<typeof tool>[0]['input']) {
  return createFunctionUpstream([tool({ ...base, input, run: async () => null })]);
}

function validate(input: Parameters<typeof tool>[0]['input'], args: Json) {
  return accepting(input).validator.validate('it', args, null);
}

const deep = z.object({ lines: z.array(z.object({ 'a/b': z.number().min(1) })) });

const cases: readonly (readonly [string, Parameters<typeof tool>[0]['input'], Json, unknown])[] = [
  ['zod accepts and fills in', z.object({ a: z.string().default('x') }), {}, { ok: true, args: { a: 'x' } }],
  ['zod replaces', z.object({ a: z.string().trim() }), { a: ' x ' }, { ok: true, args: { a: 'x' } }],
  [
    'zod refuses at a path',
    deep,
    { lines: [{ 'a/b': 2 }, { 'a/b': 'x' }] },
    {
      ok: false,
      errors: [
        { path: '/lines/1/a~1b', expected: 'Invalid input: expected number, received string', got: 'x', said: true },
      ],
    },
  ],
  [
    'zod refuses what is missing',
    deep,
    {},
    {
      ok: false,
      errors: [
        { path: '/lines', expected: 'Invalid input: expected array, received undefined', got: null, said: true },
      ],
    },
  ],
  [
    'zod refuses after a while',
    z.string().refine(async () => false, 'is taken'),
    'bob',
    { ok: false, errors: [{ path: '', expected: 'is taken', got: 'bob', said: true }] },
  ],
  [
    'two complaints about one place are one',
    z.string().min(3, 'longer').regex(/^b/, 'begins with b'),
    'a',
    { ok: false, errors: [{ path: '', expected: 'longer; begins with b', got: 'a', said: true }] },
  ],
  [
    'valibot refuses at a path',
    v.object({ a: v.object({ b: v.number() }) }),
    { a: { b: 'x' } },
    {
      ok: false,
      errors: [{ path: '/a/b', expected: 'Invalid type: Expected number but received "x"', got: 'x', said: true }],
    },
  ],
  [
    'arktype refuses at a path',
    type({ a: 'number' }),
    { a: 'x' },
    { ok: false, errors: [{ path: '/a', expected: 'a must be a number (was a string)', got: 'x', said: true }] },
  ],
  [
    'JSON Schema refuses at a path',
    { required: ['a'], properties: { a: { type: 'string' } } },
    {},
    { ok: false, errors: [{ path: '/a', expected: 'a value (string)', got: null }] },
  ],
  ['JSON Schema accepts as it is', { type: 'object' }, { a: 1 }, { ok: true, args: { a: 1 } }],
  [
    'a schema that throws is named without its stack',
    z.string().refine(() => {
      throw new TypeError('bug');
    }),
    'a',
    {
      ok: false,
      errors: [
        { path: '', expected: 'a value that its zod schema can check; it failed with TypeError: bug', got: null },
      ],
    },
  ],
  [
    'half an emoji is refused, with the place',
    z.object({ first: z.string().transform((text) => text.slice(0, 1)) }),
    { first: '\u{1f600}' },
    {
      ok: false,
      errors: [
        {
          path: '/first',
          expected: 'a value that JSON can carry; the input schema made a text with a lone surrogate of it',
          got: null,
        },
      ],
    },
  ],
  [
    'what JSON cannot carry is refused, with the place',
    z.object({ at: z.string().transform((text) => new Date(text)) }),
    { at: '2026-01-01' },
    {
      ok: false,
      errors: [{ path: '/at', expected: 'a value that JSON can carry; the input schema made Date of it', got: null }],
    },
  ],
];

for (const [name, input, args, expected] of cases) {
  test(`arguments: ${name}`, async () => assert.deepEqual(await validate(input, args), expected));
}

test('a schema that answers nonsense refuses, and never throws', async () => {
  const answers: readonly unknown[] = [
    undefined,
    null,
    5,
    { issues: 5 },
    { issues: [null, { path: 5 }] },
    { issues: [{ message: 'm', path: [{}, null, Symbol('s')] }] },
  ];
  for (const answer of answers) {
    const nonsense = { '~standard': { version: 1, vendor: '', validate: () => answer as never } } as const;
    assert.equal((await validate(nonsense, { a: 1 })).ok, false);
  }
});

test('the catalogue declares each tool, with a rule that the gate can apply', () => {
  const keyed = tool({
    ...base,
    input: { type: 'object' },
    effect: 'keyed',
    dedupe_window_seconds: 60,
    timeout_seconds: 1.5,
    reports_within_seconds: 600,
    run: async () => null,
  });
  const read = tool({ ...base, name: 'read', input: z.object({}), effect: 'pure', run: async () => null });
  const { catalogue } = createFunctionUpstream([keyed, read], { defaultTimeoutMs: 7_000 });
  const entry = catalogue.get('it');
  assert.deepEqual([entry?.effectClass, entry?.timeoutMs, entry?.dedupeWindowMs], ['keyed', 1_500, 60_000]);
  assert.equal(entry?.reportsWithinMs, 600_000);
  assert.match(entry.manifest, /"reports_within_ms":600000/);
  assert.ok(entry.input.kind === 'schema');
  assert.deepEqual(entry.input.check([]), [{ path: '', expected: 'object', got: [] }]);
  const other = catalogue.get('read');
  assert.deepEqual([other?.effectClass, other?.timeoutMs, other?.input.kind], ['pure', 7_000, 'validator']);
  assert.equal(other?.reportsWithinMs, null);
});

test('the manifest is the canonical text of what was declared', () => {
  const input = { type: 'object', properties: { b: {}, a: {} } };
  const { catalogue } = createFunctionUpstream([tool({ ...base, input, output: z.string(), run: async () => 'a' })]);
  assert.equal(
    catalogue.get('it')?.manifest,
    '{"dedupe_window_ms":null,"description":"Does it.","effect":"plain",' +
      '"input":{"properties":{"a":{},"b":{}},"type":"object"},"name":"it",' +
      '"output":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"string"},"timeout_ms":30000}',
  );
});

test('a schema that cannot be written as JSON Schema is opaque in the manifest', () => {
  const opaque = (input: Parameters<typeof tool>[0]['input']): unknown =>
    JSON.parse(accepting(input).catalogue.get('it')?.manifest ?? '').input;
  assert.deepEqual(opaque(v.object({})), { vendor: 'valibot', opaque: true });
  assert.deepEqual(opaque(z.bigint()), { vendor: 'zod', opaque: true });
  assert.deepEqual(opaque(type({ a: 'string' })), {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    properties: { a: { type: 'string' } },
    required: ['a'],
    type: 'object',
  });
});

test('what a schema writes to, and what it holds itself, is not what was sent or accepted', async () => {
  const sent = { n: 1 };
  const writing = z.any().refine((args: { n: number }) => (args.n += 1) > 0);
  assert.deepEqual(await validate(writing, sent), { ok: true, args: { n: 2 } });
  assert.deepEqual(sent, { n: 1 });
  const tags = ['a'];
  const accepted = await validate(z.object({ tags: z.array(z.string()).default(() => tags) }), {});
  tags.push('b');
  assert.deepEqual(accepted, { ok: true, args: { tags: ['a'] } });
});
