/** What a completion that is blocked looks like, whatever blocks it. */
import assert from 'node:assert/strict';
import { httpStatusOf, type Reply } from '../../src/index.ts';
import { errorOf } from './check-reply.ts';

export function blocked(reply: Reply) {
  const denied = errorOf(reply, 'denied');
  assert.deepEqual([denied.code, denied.requested, httpStatusOf(denied)], ['COMPLETION_BLOCKED', 'complete', 409]);
  assert.equal(denied.message, denied.human_message);
  return denied;
}
