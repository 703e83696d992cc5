import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterAll, chosenId, meantId, saysEnough, severalMeant } from './short-id.ts';

const ids = ['call_01aa2', 'call_01aa1', 'call_01ab0'];

test('a beginning that is unique is enough, and of several none is taken', () => {
  assert.deepEqual(meantId('call_01ab', ids), { kind: 'one', id: 'call_01ab0' });
  assert.deepEqual(meantId('call_01aa', ids), { kind: 'several', ids: ['call_01aa2', 'call_01aa1'] });
  assert.deepEqual(meantId('call_02', ids), { kind: 'none' });
  assert.equal(
    severalMeant('call_01aa', ids.slice(0, 2)),
    "several begin with 'call_01aa': call_01aa2, call_01aa1; give more characters",
  );
});

test('the end of a beginning comes after every id that begins so', () => {
  for (const id of ids) assert.ok(afterAll('call_01') > id);
  assert.ok(afterAll('call_01aa') < 'call_01ab0');
});

test('to decide needs more characters than to look', () => {
  for (const [beginning, look, decide] of [
    ['call_', false, false],
    ['call_0', true, false],
    ['apr_01m7nvba', true, true],
    ['ses_0a1b2c3d_x', true, true],
    ['0a1b2c3d', false, false],
    ['call_0%', false, false],
    ['', false, false],
  ] as const)
    assert.deepEqual([saysEnough(beginning, 'look'), saysEnough(beginning, 'decide')], [look, decide], beginning);
});

test('a beginning that is too short to decide by is told as that, and not as unknown', () => {
  const one = { kind: 'one', id: 'call_01ab0' } as const;
  assert.deepEqual(chosenId('call_01ab', 'look', one), { id: 'call_01ab0' });
  assert.deepEqual(chosenId('call_01ab', 'decide', one), {
    problem: "'call_01ab' begins call_01ab0, and is too short to decide by: give at least 8 characters behind 'call_'",
  });
  assert.deepEqual(chosenId('call_02', 'decide', { kind: 'none' }), { id: 'call_02' });
});
