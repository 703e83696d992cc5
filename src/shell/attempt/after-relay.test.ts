/** A failure after a part of the answer was relayed is a broken stream; nothing else changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Attempt, makeFailure } from '../../ports/upstream.ts';
import { afterRelay, watchRelay } from './after-relay.ts';
import type { AttemptEnd } from './send-attempt.ts';

const failed = (subject: string | null, kind: '429' | '5xx'): AttemptEnd => ({
  kind: 'came_back',
  result: { kind: 'failed', failure: makeFailure(kind, 'no', { subject, used: null, partial: { text: 'half' } }) },
});
const returned: AttemptEnd = { kind: 'came_back', result: { kind: 'returned', output: 1, errors: [] } };
const cancelled: AttemptEnd = { kind: 'cancelled', scope: 'ToolCancelled' };

const same: readonly (readonly [string, AttemptEnd, boolean])[] = [
  ['a failure before anything was relayed', failed(null, '429'), false],
  ['a time limit before anything was relayed', { kind: 'timed_out' }, false],
  ['a whole answer', returned, true],
  ['a cancellation', cancelled, true],
  ['a stream that is known to be broken', failed('stream_broken', '5xx'), true],
];
for (const [what, end, hasSent] of same)
  test(`${what} stays what it is`, () => assert.equal(afterRelay(end, hasSent, 1_000), end));

const changed: readonly (readonly [string, AttemptEnd])[] = [
  ['any other failure', failed(null, '429')],
  ['an upstream that is overloaded', failed('overloaded', '5xx')],
  ['a time limit', { kind: 'timed_out' }],
];
for (const [what, end] of changed)
  test(`${what} after a part was relayed is a broken stream`, () => {
    const told = afterRelay(end, true, 1_000);
    assert.ok(told.kind === 'came_back' && told.result.kind === 'failed');
    assert.deepEqual([told.result.failure.kind, told.result.failure.subject], ['5xx', 'stream_broken']);
  });

test('what it used and what had arrived is kept', () => {
  const told = afterRelay(failed(null, '429'), true, 1_000);
  assert.ok(told.kind === 'came_back' && told.result.kind === 'failed');
  assert.deepEqual([told.result.failure.used, told.result.failure.partial], [null, { text: 'half' }]);
});

test('a relay is watched, and whoever has none is not', async () => {
  const events: string[] = [];
  const relay: Attempt['relay'] = { send: async ({ data }) => events.push(data) > 0 };
  const watched = watchRelay({ relay } as Attempt);
  assert.equal(watched.hasSent(), false);
  assert.equal(await watched.attempt.relay?.send({ event: null, data: 'x' }), true);
  assert.deepEqual([watched.hasSent(), events], [true, ['x']]);
  assert.equal(watchRelay({} as Attempt).hasSent(), false);
});
