/** Prepares the intent of a call, unless its caller is gone by now. Phase 3 of 6: handle-call.ts. */
import type { Facts } from '../../core/gates/facts.ts';
import type { MetBy } from '../../core/gates/gate.ts';
import { heldBy } from '../ending/held-amounts.ts';
import type { Work } from '../attempt/work.ts';
import { approvalMetBy, type Asked, type Phase, replyWith } from './asked.ts';
import type { Shell } from '../shell.ts';
import { enter } from './hand-over.ts';
import type { Intent } from './intent.ts';
import type { Judged } from './judge.ts';
import { cancelledBefore, refuseEarly } from './refuse.ts';
import { undoingFor } from '../reversal/undoing.ts';
import { isGone } from './requester.ts';

export interface Prepared extends Judged {
  readonly intent: Intent;
  readonly work: Work;
  /** The approval that permits the call; null where none was needed. */
  readonly met: MetBy | null;
  /** How long ago somebody may have left an equal call without being in the way of this one; null: nobody is. */
  readonly nobodyLeftWithinMs: number | null;
}

function evidenceOf({ evidence }: Facts): Pick<Work, 'evidence'> {
  if (evidence?.ok !== true) return {};
  const { refs, contents, hash } = evidence;
  return { evidence: { refs, contents, hash } };
}

export async function prepare(asked: Asked, judged: Judged, shell: Shell): Promise<Phase<Prepared>> {
  const { request, requester, who } = asked;
  const { call, decision, facts, policy, step } = judged;
  // Who names the sequence has seen the reply that gave it: theirs is a step of its own.
  const isOwn = request.key !== null || (step !== null && request.expectedSeq !== null);
  const nobodyLeftWithinMs = isOwn || call.effectClass === 'pure' ? null : shell.limits.attachWindowMs;
  // INVARIANT: nothing is sent for somebody who is gone, also if nobody has heard of it yet: they may have sent it
  // again already.
  if (nobodyLeftWithinMs !== null) await requester.heard?.();
  if (isGone(requester))
    return replyWith(await refuseEarly(cancelledBefore(shell, who, step), { ...asked, call }, shell));
  if (asked.only === undefined) enter(call, requester, shell);
  const { client = null, bodyOf, relay } = requester;
  const undoing = undoingFor(decision.tool, asked.redeems, shell);
  return {
    ...judged,
    kind: 'next',
    intent: { call, request, decision, facts, step, policy, uses: null, continues: asked.continues ?? null, undoing },
    work: {
      tool: decision.tool,
      args: decision.args,
      step,
      client,
      bodyOf,
      relay,
      notices: decision.notices,
      undoing,
      holds: heldBy(decision.takes, decision.args, decision.tool),
      ...evidenceOf(facts),
    },
    met: approvalMetBy(decision, asked),
    nobodyLeftWithinMs,
  };
}
