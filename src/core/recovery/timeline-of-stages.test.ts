import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timelineOf } from './timeline.ts';

const record = (timeMs: number, body: object, kind = 'stage_phase') => ({
  kind,
  timeMs,
  body: JSON.stringify(body),
  payloads: [],
});

test('the story of a stage tells its attempts and passes, beside those of its calls', () => {
  const lines = timelineOf([
    record(0, { phase: 'act', stage_attempt: 1, pass: 1 }),
    record(5, { phase: 'wait', stage_attempt: 1, pass: 1, class: 'ToolTerminal', code: 'NotFound', until_ms: 9 }),
    record(9, { phase: 'act', stage_attempt: 2, pass: 2 }),
    record(12, { phase: 'next', stage_attempt: 2, pass: 2, outcome: 'failed', code: 'NotFound' }),
  ]);
  assert.deepEqual(
    lines.map(({ after_ms: at, what, says }) => `${at} ${what} ${says}`),
    [
      '0 stage attempt 1, act',
      '5 stage attempt 1, wait after NotFound',
      '9 stage attempt 2, pass 2, act',
      '12 stage attempt 2, pass 2, next, failed after NotFound',
    ],
  );
});
