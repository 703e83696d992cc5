/** Notices stand beside a reply: the reply stays the same, and the same notice is told once. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addNotices } from './notices.ts';
import { gapNotice } from './gap.ts';
import type { PendingReply } from './reply.ts';

const reply: PendingReply = { pending: true, call_id: 'call_1', requested: 'a', session: null, retry_after_seconds: 1 };
const [one, two] = [gapNotice('unknown_method', 'one'), gapNotice('unknown_method', 'two')];

it('a reply without notices to tell stays the very same', () => {
  assert.equal(addNotices(reply, []), reply);
  const told = addNotices(reply, [one]);
  assert.equal(addNotices(told, [one]), told);
});

it('notices come after those that are there, each once', () => {
  const told = addNotices(addNotices(reply, [one]), [two, one, two]);
  assert.deepEqual(told, { ...reply, notices: [one, two] });
  assert.ok(!('notices' in reply));
});
