import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './read-config.ts';

test('a read cannot be declared to be in doubt when it fails', () => {
  const declared = (rule: string) =>
    readConfig(`tools: { files: { mcp: { command: x }, tools: { look: { ${rule} } } } }`, 'recourse.yaml').problems;
  assert.deepEqual(
    declared('effect: pure, on_error: unknown').map(({ message, fix }) => `${message}; ${fix}`),
    ["'look' is pure, and a read that fails has had no effect; leave on_error out, or correct effect"],
  );
  for (const rule of ['effect: pure, on_error: none', 'on_error: unknown', 'effect: plain, on_error: none'])
    assert.deepEqual(declared(rule), [], rule);
});
