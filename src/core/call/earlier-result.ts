/** What does a caller hear who gets the result of an earlier call? Whose it is, and what the same call once more would do. Pure. */
import { addNotices } from './add-notices.ts';
import { replayed } from './answer.ts';
import { isSuccess, type Notice, type Reply } from './reply.ts';

/** The reply of an earlier call whose requester left, for somebody who asked for the same without a key. */
export function attachedReply(reply: Reply): Reply {
  const again = replayed(reply);
  return isSuccess(again) ? addNotices(again, [attachedTo(again.call_id)]) : again;
}

const attachedTo = (callId: string): Notice => ({
  code: 'EARLIER_RESULT',
  human_message: `result of call ${callId}; the same call once more runs anew`,
  resolution: { type: 'replan', reason: 'the reply of that call was lost; ask once more if you mean it twice' },
});

/** A step took the result of an earlier one that was in doubt: the state moved, and nothing was sent. */
export const adoptedFrom = (callId: string): Notice => ({
  code: 'EARLIER_RESULT',
  human_message: `adopted the result of call ${callId}; nothing was sent`,
  resolution: {
    type: 'replan',
    reason: 'that call was in doubt and had taken effect; ask once more if you mean it twice',
  },
});
