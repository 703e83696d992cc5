/**
 * The last question before a call is sent: is there still time, and is the approval that permits it still to be had? A
 * call that waited for its approval goes on as that call. Phase 5 of 6: handle-call.ts.
 */
import { timedOut, withSeq } from '../../core/call/answer.ts';
import { invariant, unreachable } from '../../core/values/unreachable.ts';
import type { Work } from '../attempt/work.ts';
import { takeApproval } from '../approval/take-approval.ts';
import { contextHere, type Ending } from '../ending/ending.ts';
import { conclude } from '../ending/conclude.ts';
import type { Shell } from '../shell.ts';
import { untaken } from '../ending/transition.ts';
import { commit, markAnswered } from '../upkeep/commit.ts';
import { type Asked, again, againAsSent, type Phase, replyWith, type Stop } from './asked.ts';
import { type Intent, intentParts } from './intent.ts';
import type { Prepared } from './prepare.ts';
import { storeUnavailable } from './record-refusal.ts';
import { atAdmission, refusal } from './refuse.ts';

export interface Taken {
  readonly intent: Intent;
  readonly work: Work;
}

export async function take(asked: Asked, prepared: Prepared, shell: Shell): Promise<Phase<Taken>> {
  const { call, intent, work, met, facts } = prepared;
  if (shell.ports.clock.nowMs() >= call.deadlineAtMs) return expire(asked, prepared, shell);
  if (met === null) return { kind: 'next', intent, work };
  // INVARIANT: what ran under its approval already is not sent again: the phase before has answered for it.
  invariant(met.kind === 'granted', 'a call that ran under its approval is told, not sent');
  const taken = await takeApproval(met.approval, call, asked, facts, shell);
  switch (taken.kind) {
    case 'taken': {
      const { uses } = taken;
      return {
        kind: 'next',
        intent: { ...intent, call: taken.call, uses },
        work: { ...work, notices: [...(work.notices ?? []), ...uses.notices] },
      };
    }
    case 'edited':
      return again(taken.asked);
    case 'void':
      return againAsSent(asked);
    default:
      return unreachable(taken);
  }
}

/** The deadline passed before the call could be sent: it is on record, and it never ran. */
async function expire(asked: Asked, { call, intent, work, step }: Prepared, shell: Shell): Promise<Stop> {
  const ending: Ending = {
    events: [{ kind: 'admitted' }, { kind: 'expired' }],
    say: (envelope, effect) => timedOut(envelope, call.deadlineAtMs - call.createdAtMs, effect),
    // What never runs takes no turn, no token and no budget.
    parts: { ...untaken(intentParts(intent, shell)), workflow: null },
  };
  const { reply, transition } = conclude(call, ending, contextHere({ ...work, holds: [] }, shell), shell);
  const result = await commit(transition, shell);
  markAnswered(result, shell);
  switch (result.kind) {
    case 'committed':
      return replyWith(withSeq(reply, result.seq));
    case 'unavailable':
      return replyWith(storeUnavailable(refusal(call, atAdmission, asked.request, step, shell), result.fault));
    case 'conflict':
      return again(asked);
    default:
      return unreachable(result);
  }
}
