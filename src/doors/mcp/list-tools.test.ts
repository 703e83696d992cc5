import assert from 'node:assert/strict';
import test from 'node:test';
import { aCatalogue, aTool } from '../../../test/support/builders.ts';
import { listTools } from './list-tools.ts';
import { toolNames } from './model-names.ts';
import type { McpDoorParts } from './parts.ts';

const who = { tenant: 'default', agent: 'local' };
const names = () => toolNames({ tools: [], servers: [], bare: new Set(), only: null, taken: new Set() });
const parts = (catalogue: ReturnType<typeof aCatalogue>) =>
  ({ workflow: null, mode: 'step', tools: { names, catalogue: () => catalogue } }) as unknown as McpDoorParts;

test('a tool keeps what its server says of it, and has the name of the door and the schema of the gateway', () => {
  const listing = { title: 'Pay', annotations: { readOnlyHint: true }, name: 'other', inputSchema: 7, vendor: [1] };
  const catalogue = aCatalogue(aTool({ name: 'shop/pay', listing, inputSchema: { type: 'object', minProperties: 1 } }));
  assert.deepEqual(listTools(parts(catalogue), who), [
    { ...listing, description: '', name: 'shop__pay', inputSchema: { type: 'object', minProperties: 1 } },
  ]);
});

test('a tool whose schema cannot be written down takes any object', () => {
  const [listed] = listTools(parts(aCatalogue(aTool({ name: 'pay', inputSchema: null }))), who);
  assert.deepEqual(listed?.['inputSchema'], { type: 'object' });
  assert.ok('outputSchema' in (listed ?? {}), 'and answers with our reply');
});

test('the list follows the catalogue of the moment', () => {
  let now = aCatalogue(aTool({ name: 'a' }));
  const changing = { ...parts(now), tools: { names, catalogue: () => now } } as unknown as McpDoorParts;
  assert.equal(listTools(changing, who).length, 1);
  now = aCatalogue(aTool({ name: 'a' }), aTool({ name: 'b' }));
  assert.equal(listTools(changing, who).length, 2);
});
