/**
 * Adds notices to a reply, and builds the notices about results of earlier calls. A notice never changes the outcome,
 * and equal notices are added once. Pure.
 */
import { type Notice, type Reply, isSuccess } from './reply.ts';
import { replayed } from './answer.ts';

export function addNotices<Given extends { readonly notices?: readonly Notice[] }>(
  reply: Given,
  notices: readonly Notice[],
): Given {
  const told = [...(reply.notices ?? [])];
  for (const notice of notices) if (!told.some((earlier) => isSame(earlier, notice))) told.push(notice);
  return told.length === (reply.notices?.length ?? 0) ? reply : { ...reply, notices: told };
}

const isSame = (one: Notice, other: Notice): boolean =>
  one.code === other.code && one.human_message === other.human_message && one.budget_id === other.budget_id;

/** The reply of an earlier call whose requester left, for an equal request without a key. */
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
