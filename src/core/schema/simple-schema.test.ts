import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isSimpleSchema } from './simple-schema.ts';
import { problemByMetaSchema } from './schema-engine.ts';

const names =
  `type properties required items additionalProperties not allOf anyOf oneOf enum const default examples title description
  format pattern $comment uniqueItems readOnly writeOnly minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength
  minItems maxItems minProperties maxProperties multipleOf $ref $id $anchor $defs x-mark if deprecated`.split(/\s+/);
const dialects = [undefined, 'http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2019-09/schema'];

/** Keywords with values of every form, most of which are wrong somewhere; schemas within schemas as well. */
const { schema } = fc.letrec((tie) => ({
  schema: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 3 }),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('string', 'object', 'text', true, false, null, 0, 1, -1, 1.5, [], {}),
    fc.array(fc.constantFrom('string', 'null', 'a', 1), { maxLength: 3 }),
    tie('schema'),
    fc.array(tie('schema'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
  ),
}));

test('whatever it finds right, the meta-schema of every dialect does', () => {
  let found = 0;
  fc.assert(
    fc.property(schema, fc.constantFrom(...dialects), (drawn, $schema) => {
      const written = $schema === undefined ? (drawn as object) : { ...(drawn as object), $schema };
      if (!isSimpleSchema(written)) return;
      found++;
      assert.equal(problemByMetaSchema(written), null, JSON.stringify(written));
    }),
    { numRuns: 3_000 },
  );
  assert.ok(found > 300, `only ${found} were right`);
});

test('the schemas of most tools are right beyond doubt', () => {
  const tool = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { to: { type: ['string', 'null'], minLength: 1 }, lines: { type: 'array', items: { enum: [1, 2] } } },
    required: ['to'],
    additionalProperties: false,
  };
  assert.equal(isSimpleSchema(tool), true);
});

for (const wrong of [
  { type: 'text' },
  { type: [] },
  { type: ['string', 'string'] },
  { required: ['a', 'a'] },
  { required: [1] },
  { minLength: -1 },
  { maxItems: 1.5 },
  { anyOf: [] },
  { items: [{ type: 'string' }] },
  { properties: { a: { type: 'text' } } },
  { properties: [] },
  { $ref: '#/nowhere' },
])
  test(`it does not vouch for ${JSON.stringify(wrong)}`, () => assert.equal(isSimpleSchema(wrong), false));
