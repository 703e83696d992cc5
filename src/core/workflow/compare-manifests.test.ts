import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareManifests } from './compare-manifests.ts';

const manifest = (tool: object, more: object = {}) =>
  JSON.stringify({
    version: '1',
    machine: {},
    actions: {},
    tools: { 'pay/refund': { effect: 'plain', tool, ...more } },
  });

test('of a tool of a server it is said what the server lists otherwise', () => {
  const before = { name: 'refund', description: 'Refunds.', inputSchema: { type: 'object' } };
  const changedTo = (tool: object, more?: object) => compareManifests(manifest(before), manifest(tool, more)).changed;
  assert.deepEqual(changedTo(before), []);
  const stricter = { ...before, inputSchema: { type: 'object', required: ['order'] } };
  assert.deepEqual(changedTo(stricter), ["tool 'pay/refund': inputSchema"]);
  const promising = { ...stricter, outputSchema: { type: 'object' }, description: 'Gives money back.' };
  assert.deepEqual(changedTo(promising, { effect: 'pure' }), [
    "tool 'pay/refund': effect, description, inputSchema, outputSchema",
  ]);
});
