import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallId } from '../../core/call/call.ts';
import { aCall, inserting, marking, replyOf } from '../../../test/conformance/store-fixtures.ts';
import { createUnansweredReplies } from './unanswered-replies.ts';

const committedAt = (seq: number) => ({ kind: 'committed', seq: 0, position: { epoch: 1, seq } }) as const;

test('calls whose requester left are not remembered without end, and the newest of them are', () => {
  const replies = createUnansweredReplies(1, []);
  for (let made = 1; made <= 25_000; made++)
    replies.committed(marking(`call_${made}` as CallId, 'left'), committedAt(made));
  assert.equal(replies.left(), 10_000);
  const newest = aCall({ id: 'call_25000' as CallId, state: 'IN_DOUBT' });
  replies.committed(inserting(newest, ['IN_DOUBT'], { payloads: replyOf() }), committedAt(25_001));
  assert.equal(replies.take(), 25_001, 'nobody will take its reply, and the mark goes on');
});
