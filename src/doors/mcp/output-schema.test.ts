import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { errorSamples, pendingSample } from '../../../test/support/reply-samples.ts';
import { admitEnvelope } from './output-schema.ts';

const priced = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { price: { $ref: '#/$defs/amount' } },
  required: ['price'],
  additionalProperties: false,
  $defs: { amount: { type: 'number' } },
};

test('what the server promised stays right and wrong as before, and every reply of ours is right', () => {
  const widened = admitEnvelope(priced);
  assert.ok(widened !== null);
  const before = new Ajv2020().compile(priced);
  const after = new Ajv2020().compile(widened);
  for (const value of [{ price: 3 }, { price: 'x' }, {}, { price: 1, more: 2 }])
    assert.equal(after(value), before(value), JSON.stringify(value));
  for (const reply of [pendingSample, ...Object.values(errorSamples)]) {
    assert.equal(before(reply), false);
    assert.equal(after(reply), true);
  }
  assert.equal(widened['type'], 'object');
});

test('a schema is left alone that is none, is not of an object, or points into itself', () => {
  const pointing = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { items: [{ $ref: '#/properties/a' }] } },
  };
  for (const schema of [undefined, true, { type: 'array' }, {}, pointing, { type: 'object', $ref: '#' }])
    assert.equal(admitEnvelope(schema), null);
});
