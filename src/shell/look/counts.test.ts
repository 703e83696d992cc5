import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorSamples, pendingSample, successSample } from '../../../test/support/reply-samples.ts';
import { createCallCounts } from './counts.ts';

test('calls are counted by tenant, outcome and code, and those of which nothing ran are known', () => {
  const counts = createCallCounts();
  for (const reply of [successSample, successSample, pendingSample, errorSamples.denied, errorSamples.action_error])
    counts.count(reply, 'one');
  counts.count(successSample, 'two');
  assert.deepEqual(counts.of('one'), [
    { outcome: 'succeeded', code: '', refused: false, count: 2 },
    { outcome: 'pending', code: '', refused: false, count: 1 },
    { outcome: 'denied', code: errorSamples.denied.code, refused: true, count: 1 },
    { outcome: 'action_error', code: errorSamples.action_error.code, refused: false, count: 1 },
  ]);
  assert.deepEqual(counts.of('two'), [{ outcome: 'succeeded', code: '', refused: false, count: 1 }]);
  assert.deepEqual(counts.of('three'), []);
});
