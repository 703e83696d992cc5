import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBackoff } from './backoff.ts';
import { defaultMcpLimits } from './mcp-limits.ts';

test('waits double from 250 ms to 30 s, and begin anew after a minute of health', () => {
  const backoff = createBackoff(defaultMcpLimits);
  const waits = Array.from({ length: 9 }, () => backoff.next(0));
  assert.deepEqual(waits, [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  assert.equal(backoff.next(59_999), 30_000);
  assert.equal(backoff.next(60_000), 250);
  assert.equal(backoff.next(0), 500);
});
