import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateShape } from './shapes.ts';

test('timers of a state have the names of the wire, and values of users stay as they are', () => {
  const state = { value: 'open', context: { dueAtMs: 1 }, timers: [{ id: 'a', event: { type: 'x' }, dueAtMs: 7 }] };
  assert.deepEqual(stateShape(state), { ...state, timers: [{ id: 'a', event: { type: 'x' }, due_at_ms: 7 }] });
  for (const odd of [null, 'x', { timers: 3 }]) assert.deepEqual(stateShape(odd), odd);
  assert.deepEqual(stateShape({ timers: [null] }), { timers: [null] });
});
