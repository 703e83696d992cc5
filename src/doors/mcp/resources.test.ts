import assert from 'node:assert/strict';
import test from 'node:test';
import { activeStates } from './resources.ts';

const table: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['one state', { value: 'idle', context: {} }, ['idle']],
  [
    'nested states',
    { value: { brewing: { steaming: 'hot' } } },
    ['brewing', 'brewing.steaming', 'brewing.steaming.hot'],
  ],
  ['parallel states', { value: { a: 'on', b: {} } }, ['a', 'a.on', 'b']],
  ['a state that is not shown', null, []],
  ['some fields of the context', { total: 3 }, []],
  ['something else', { value: 7 }, []],
];

for (const [what, shown, expected] of table)
  test(`${what}: ${expected.length} active`, () => assert.deepEqual(activeStates(shown), expected));
