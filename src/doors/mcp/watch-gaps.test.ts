/** Which messages without an id are gaps? */
import assert from 'node:assert/strict';
import test from 'node:test';
import { createGapWatch, gapIn } from './watch-gaps.ts';

const hidden = (subject: string) => ({ kind: 'call_in_notification', subject });
const unknown = (subject: string) => ({ kind: 'unknown_method', subject });

const table: readonly (readonly [string, unknown, object | null])[] = [
  ['a call', { method: 'tools/call', params: { name: 'pay' } }, hidden('pay')],
  ['a call without a name', { method: 'tools/call' }, hidden('tools/call')],
  ['a call whose name is none', { method: 'tools/call', params: { name: 7 } }, hidden('tools/call')],
  ['another request', { method: 'resources/read', params: { uri: 'x' } }, hidden('resources/read')],
  ['an odd notification', { method: 'notifications/odd' }, unknown('notifications/odd')],
  ['a cancellation', { method: 'notifications/cancelled', params: {} }, null],
  ['that work is complete', { method: 'recourse/tasks/complete', params: {} }, null],
  ['a request', { id: 1, method: 'tools/call', params: { name: 'pay' } }, null],
  ['a request whose id is null', { id: null, method: 'tools/call' }, null],
  ['an answer', { id: 1, result: {} }, null],
  ['no message', 'tools/call', null],
];

for (const [what, message, expected] of table)
  test(`${what} is ${expected === null ? 'no gap' : 'a gap'}`, () => {
    assert.deepEqual(gapIn(message), expected);
  });

test('a list is looked at up to a number of messages', async () => {
  const seen: string[] = [];
  const reportGap = async ({ subject }: { readonly subject: string }) => {
    seen.push(subject);
    return { code: 'RUNTIME_GAP', human_message: '', resolution: { type: 'manual_audit' } } as const;
  };
  const watch = createGapWatch({ reportGap, notify: ({ reason }) => assert.fail(reason) });
  const who = { tenant: 'default', agent: 'bot' };
  watch.look(
    Array.from({ length: 500 }, (_, at) => ({ method: `x/${at}` })),
    who,
  );
  watch.look({ method: 'x/alone' }, who);
  assert.equal(seen.length, 101);
});

test('a record that fails is told to the operator, and the answer goes on without a notice', async () => {
  const told: string[] = [];
  const notify = ({ reason }: { readonly reason: string }) => void told.push(reason);
  const watch = createGapWatch({ reportGap: () => Promise.reject(new Error('the store is away')), notify });
  assert.deepEqual(await watch.report('unknown_method', 'x/y', { tenant: 'default', agent: 'bot' }), []);
  assert.match(told.join(), /the store is away/);
});
