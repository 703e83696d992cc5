/**
 * Asks the gates, fetching one fact at a time until they have an answer. A call that they refuse, or that a person must
 * decide, ends here. Phase 2 of 6: handle-call.ts.
 */
import type { Call, CallId, SessionId } from '../../core/call/call.ts';
import { decide, type Decision } from '../../core/call/decide.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { Facts } from '../../core/gates/facts.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { invariant } from '../../core/values/unreachable.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import type { StoreFault } from '../../ports/store.ts';
import { expireOrVoid } from '../approval/end-approval.ts';
import { spendingTransition } from '../approval/open-spending.ts';
import { bare } from '../ending/transition.ts';
import { commit } from '../upkeep/commit.ts';
import { holdCall } from '../approval/hold-call.ts';
import { voidForEvidence, refuseUnattended } from '../approval/take-approval.ts';
import { withStateNow } from '../ending/adopt-own-result.ts';
import { type Shell, firstFacts } from '../shell.ts';
import type { Admission } from './attach.ts';
import { type Asked, waitForTurn, again, againAsSent, type Phase, replyWith, type Stop } from './asked.ts';
import { bodyFact, gather } from './gather-facts.ts';
import { storeUnavailable } from './record-refusal.ts';
import { atAdmission, refusal, refuseByGate } from './refuse.ts';

export interface Judged {
  readonly decision: Extract<Decision, { kind: 'run' }>;
  readonly facts: Facts;
  readonly policy: Policy | null;
  /** With the session and the effect class that the gates found. */
  readonly call: Call;
  readonly session: SessionId;
  readonly step: StepFact | null;
}

/** `takenBy`: the call that has the turn of the session; null if this call has it, or needs none. */
export async function judge(
  asked: Asked,
  admission: Admission,
  takenBy: CallId | null,
  shell: Shell,
): Promise<Phase<Judged>> {
  const policy = shell.policy();
  const decided = await decideWithFacts(asked, takenBy, shell);
  // INVARIANT: nothing runs, and nothing is refused, by a policy that another one has replaced while facts were
  // fetched.
  if (shell.policy() !== policy) return again(asked);
  if ('unavailable' in decided)
    return replyWith(
      storeUnavailable(refusal(asked.call, atAdmission, asked.request, null, shell), decided.unavailable),
    );
  const { decision, facts } = decided;
  const session = facts.session?.found ? facts.session.id : null;
  const early = await answerInstead(asked, admission, decision, facts, shell);
  if (early !== null) return replyWith(early);
  if (decision.kind === 'hold') return hold({ ...asked.call, session }, decision, facts, asked, shell);
  if (decision.kind === 'refuse') return refuse({ ...asked.call, session }, decision, facts, asked, shell);
  invariant(session !== null, 'the ladder let a call pass without a session');
  const call = { ...asked.call, session, effectClass: decision.tool.effectClass };
  return { kind: 'next', decision, facts, policy, call, session, step: stepOf(facts) };
}

/** What is answered whatever the gates decided: an earlier success of the key, or that nobody asks for the call. */
async function answerInstead(
  asked: Asked,
  admission: Admission,
  decision: Exclude<Decision, { kind: 'need' }>,
  facts: Facts,
  shell: Shell,
): Promise<Reply | null> {
  // A key whose call took effect has its answer, whatever the workflow says to a step that would come now; unless it
  // only has to wait.
  const waits = decision.kind === 'refuse' && decision.refusal.error === 'action_in_flight';
  if (decision.kind !== 'run' && admission.kind === 'unadopted' && !waits)
    return withStateNow(admission.reply, stepOf(facts), asked.who, shell);
  if (asked.only === undefined) return null;
  return refuseUnattended(decision, asked, facts.session?.found ? facts.session.id : null, shell);
}

async function hold(
  call: Call,
  decision: Extract<Decision, { kind: 'hold' }>,
  facts: Facts,
  asked: Asked,
  shell: Shell,
): Promise<Stop> {
  // INVARIANT: what an approver wrote is never asked for in the agent's name: once it is not to be had, the call is the
  // agent's own again.
  if (asked.under !== undefined) {
    await expireOrVoid(asked.under, shell);
    return againAsSent(asked);
  }
  const held = await holdCall(call, decision, facts, asked, shell);
  return held === null ? again(asked) : replyWith(held);
}

async function refuse(
  call: Call,
  decision: Extract<Decision, { kind: 'refuse' }>,
  facts: Facts,
  asked: Asked,
  shell: Shell,
): Promise<Stop> {
  const { asks = [] } = decision;
  if (asks.length > 0) {
    const asking = await commit({ ...bare(shell), ...spendingTransition(asks, call, shell) }, shell);
    // Somebody else has asked meanwhile: the refusal names what they asked for.
    if (asking.kind === 'conflict') return again(asked);
    if (asking.kind === 'unavailable')
      return replyWith(storeUnavailable(refusal(call, atAdmission, asked.request, null, shell), asking.fault));
  }
  // INVARIANT: what was approved upon evidence that has changed covers nothing any more.
  if (decision.gate === 'evidence' && facts.evidenceNow?.kind === 'read') await voidForEvidence(facts, shell);
  const refused = await refuseByGate(call, decision, facts, asked.request, shell);
  return refused === null ? again(asked) : replyWith(refused);
}

async function decideWithFacts(
  asked: Asked,
  takenBy: CallId | null,
  shell: Shell,
): Promise<{ decision: Exclude<Decision, { kind: 'need' }>; facts: Facts } | { unavailable: StoreFault }> {
  const { request, who, call, under, only, redeems } = asked;
  let facts: Facts = {
    ...firstFacts(who, shell),
    ...(await bodyFact(asked.requester.bodyOf, shell)),
    ...(redeems === undefined ? {} : { redeems }),
  };
  for (let fetched = 0; fetched <= shell.limits.maxFactFetches; fetched++) {
    const decision = decide(request, facts, shell.ladder);
    if (decision.kind !== 'need') return { decision, facts };
    const approval = { fingerprint: call.fingerprint, under: (under ?? only)?.id ?? null };
    const asking = { call: call.id, takenBy, waitsMs: waitForTurn(asked, shell), approval };
    const gathered = await gather(decision.fact, facts, { request, who, asking }, shell);
    if (gathered.kind === 'store_unavailable') return { unavailable: gathered.fault };
    facts = gathered.facts;
  }
  throw new Error('bug: the gates never stop asking for facts');
}
