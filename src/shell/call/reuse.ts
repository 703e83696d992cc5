/**
 * Answers with what an earlier call did already: a step in doubt that succeeded is adopted, a call that ran under the
 * approval is told, a write whose requester left is attached to. Nothing is sent. Phase 4 of 6: handle-call.ts.
 */
import { replayed } from '../../core/call/answer.ts';
import type { Call, CallId, SessionId } from '../../core/call/call.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { Facts } from '../../core/gates/facts.ts';
import type { MetBy } from '../../core/gates/gate.ts';
import type { FenceFact } from '../../core/workflow/step.ts';
import { expireOrVoid } from '../approval/end-approval.ts';
import { findAbandonedCall } from '../approval/take-approval.ts';
import { stepOf } from '../attempt/work.ts';
import { adopt, adoptable } from '../ending/adopt.ts';
import { withStateNow } from '../ending/adopt-own-result.ts';
import { storedReply, unrecorded } from '../ending/stored-reply.ts';
import { bare } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';
import { answerContinued } from '../ticket/answer-continued.ts';
import { commit } from '../upkeep/commit.ts';
import { type Admission, attach, mayHaveHappened } from './attach.ts';
import { answerAttached } from './admit.ts';
import { type Asked, again, replyWith, type Stop } from './asked.ts';
import { handOver } from './hand-over.ts';
import { intentParts } from './intent.ts';
import type { Prepared } from './prepare.ts';
import type { Requester } from './requester.ts';

/** Null if nothing was done yet: the call goes on. */
export async function reuse(
  asked: Asked,
  admission: Admission,
  prepared: Prepared,
  shell: Shell,
): Promise<Stop | null> {
  const { call, step, session, met } = prepared;
  const fences = step?.fences ?? prepared.facts.fences ?? [];
  const earlier = adoptable(call.fingerprint, asked.request, fences, shell);
  if (earlier !== null) return adoptEarlier(asked, admission, earlier, prepared, shell);
  const continued = await answerContinued({ ...asked, call }, session, shell);
  if (continued !== null) return continued;
  if (met?.kind === 'ran') return tellOutcome(met.call, asked, prepared, shell);
  if (prepared.nobodyLeftWithinMs === null || asked.only !== undefined) return null;
  const attached = await attachUnder(met, call, session, asked.requester, shell);
  if (attached.kind === 'new') return null;
  const earlierReply = await answerAttached(attached, { ...asked, call }, shell);
  return earlierReply === null ? again(asked) : replyWith(withStateNow(earlierReply, step, asked.who, shell));
}

async function tellOutcome(ran: CallId, asked: Asked, { call, session, facts }: Prepared, shell: Shell): Promise<Stop> {
  const outcome = await outcomeFor(ran, { ...asked, call }, session, facts, shell);
  const reply = outcome === null ? null : await answerAttached(outcome, waitingFor(asked, call), shell);
  return reply === null ? again(asked) : replyWith(reply);
}

async function adoptEarlier(
  asked: Asked,
  admission: Admission,
  earlier: FenceFact,
  { call, work, intent }: Prepared,
  shell: Shell,
): Promise<Stop> {
  // What is adopted was done by another call, which has the token.
  const parts = intentParts({ ...intent, undoing: {} }, shell);
  const keyless = admission.kind === 'unadopted' ? { ...parts, key: null } : parts;
  const adopted = await adopt(call, earlier, work, keyless, shell);
  switch (adopted.kind) {
    case 'adopted':
      handOver(adopted.call, adopted.position, asked.requester, shell);
      return replyWith(adopted.reply);
    case 'unavailable':
      return replyWith(unrecorded(call, shell, stepOf(work)));
    case 'no':
      return again(asked);
    default:
      return adopted satisfies never;
  }
}

/** Whoever asks for what the gateway ran by itself waits for it, as for a call of their own. */
function waitingFor(asked: Asked, call: Call): Asked {
  const { request } = asked;
  return { ...asked, call, request: { ...request, waitMs: request.waitMs ?? call.deadlineAtMs - call.createdAtMs } };
}

/**
 * Takes the place of a requester who left. INVARIANT: an approval whose caller gets the outcome of an earlier equal
 * call ends before they get it; otherwise another process could run it as soon as that place is taken.
 */
async function attachUnder(
  met: Extract<MetBy, { kind: 'granted' }> | null,
  call: Call,
  session: SessionId,
  requester: Requester,
  shell: Shell,
): Promise<Exclude<Admission, { kind: 'unadopted' }>> {
  const earlier = met === null || call.effectClass === 'pure' ? null : await findAbandonedCall(call, session, shell);
  // What is in doubt has answered nobody: until it is settled nothing runs, and what was approved stays.
  if (met !== null && earlier !== null && earlier.state !== 'IN_DOUBT') {
    const ending = await expireOrVoid(met.approval, shell, 'an earlier equal call has answered its caller');
    if (ending === 'store_unavailable') return { kind: 'unavailable', fault: 'io' };
  }
  return attach(call, session, requester, shell);
}

/**
 * The outcome of a call that ran under this approval and is this caller's. Null if somebody else has taken it
 * meanwhile.
 */
async function outcomeFor(
  id: CallId,
  asked: Asked,
  session: SessionId,
  facts: Facts,
  shell: Shell,
): Promise<Exclude<Admission, { kind: 'new' | 'unadopted' }> | null> {
  const ranByItself = facts.approval?.found?.terms.onApprove === 'run';
  if (!ranByItself) {
    const attached = await attach(asked.call, session, asked.requester, shell);
    return attached.kind === 'new' ? null : attached;
  }
  const call = await shell.ports.store.call(id);
  if (call === null) return null;
  if (isUnderWay(call.state)) return { kind: 'under_way', call, attached: false };
  const reply: Reply = replayed(await storedReply(call, shell));
  if (!mayHaveHappened(call.state)) {
    // What had no effect is told once: who asks again after that asks for another call.
    const mark = { kind: 'mark', id, requester: 'returned', repeats: 0 } as const;
    const told = await commit({ ...bare(shell), call: mark }, shell);
    if (told.kind === 'unavailable') return { kind: 'unavailable', fault: told.fault };
    if (told.kind === 'conflict') return null;
  }
  return { kind: 'answered', reply };
}
