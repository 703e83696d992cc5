/**
 * Completes a session when its agent says that it is done. While anything blocks that, the request is refused on
 * record; otherwise the session is closed. The agent's standing session stays open, and only the completion is
 * recorded. Never rejects; runs nothing.
 */
import type { Call, Principal, Request } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { completing, completionRefusal, readCompletion } from '../../core/call/completion.ts';
import type { Facts, SessionFact } from '../../core/gates/facts.ts';
import { session as sessionGate } from '../../core/gates/session.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import type { Reply, SuccessReply } from '../../core/call/reply.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { stateOf } from '../../core/workflow/step.ts';
import type { CommitResult, Session } from '../../ports/store.ts';
import { commit } from '../upkeep/commit.ts';
import { type CompletionFacts, factsForRecord, gatherCompletionFacts, refuseUnready } from './completion-facts.ts';
import { expireOrVoid } from '../approval/end-approval.ts';
import { fetchSession } from '../session/fetch-session.ts';
import { byPerson } from '../session/workflow-sessions.ts';
import { firstFacts, nextActions, type Shell } from '../shell.ts';
import { factsOf } from '../call/intent.ts';
import { newCall } from '../call/asked.ts';
import { policyOnRecord, withGapNotices } from '../upkeep/record-runtime.ts';
import { recordRefusal, storeUnavailable } from '../call/record-refusal.ts';
import { refuseStep, atAdmission, refusal, refuseUnreadable, refuseByGate, unexpected } from '../call/refuse.ts';
import { bare } from '../ending/transition.ts';

type Found = Extract<SessionFact, { found: true }>;

interface Asked {
  readonly request: Request;
  readonly call: Call;
  readonly who: Principal;
  /** The agent, or the person who asks on its behalf. */
  readonly by: string;
}

/**
 * `raw` is `{ session? }`; without a session, the agent's standing session is meant. `by`: the person who asks on behalf
 * of the agent.
 */
export function completeSession(raw: unknown, who: Principal, shell: Shell, by: string = who.agent): Promise<Reply> {
  const reply = answer(raw, who, by, shell);
  // Closing the gateway waits for these.
  shell.live.unanswered.add(reply);
  return reply.finally(() => shell.live.unanswered.delete(reply));
}

async function answer(raw: unknown, who: Principal, by: string, shell: Shell): Promise<Reply> {
  const read = readCompletion(raw, shell.limits);
  const call = newCall(read, who, shell);
  try {
    if (!read.ok) return await refuseUnreadable(read, call, null, shell);
    const reply = await complete({ request: read.request, call, who, by }, shell);
    // Notices for the agent wait for a reply that it gets itself.
    return by === who.agent ? withGapNotices(reply, shell) : reply;
  } catch (error) {
    return unexpected(error, call, 'none', shell);
  }
}

async function complete(asked: Asked, shell: Shell): Promise<Reply> {
  const unready = refuseUnready(asked.call, shell);
  if (unready !== null) return unready;
  for (let round = 0; round <= shell.limits.maxRedecisions; round++) {
    const reply = await completeOnce(asked, shell);
    if (reply !== 'again') return reply;
  }
  return notRecorded(asked, 'overloaded', shell);
}

/** `again`: something changed while it was read. */
async function completeOnce(asked: Asked, shell: Shell): Promise<Reply | 'again'> {
  const { request, call, who, by } = asked;
  const policy = shell.policy();
  const session = await fetchSession(request.session, who, null, shell);
  if ('fault' in session) return notRecorded(asked, session.fault, shell);
  const facts = { ...firstFacts(who, shell), session };
  const gate = sessionGate.check(request, facts, []);
  const callInSession = { ...call, session: session.found ? session.id : null };
  if (gate.kind === 'refuse') {
    const refused = await refuseByGate(callInSession, { ...gate, gate: 'session' }, facts, request, shell);
    invariant(refused !== null, 'what the gate of sessions refuses moves nothing');
    return refused;
  }
  invariant(session.found, 'the gate lets only sessions pass that are there');
  // INVARIANT: the records of the session are counted before anything is read. A call that begins or ends in the
  // session, or waits there for a person, writes a record: either it is seen below, or the count has changed and
  // everything is read again.
  const counted = await shell.ports.store.session(session.id);
  const found = await gatherCompletionFacts(session, who, shell);
  if (counted?.seq !== session.seq || shell.policy() !== policy) return 'again';
  const blocked = completionRefusal(found.against, found.ref, nextActions(shell, callInSession, session.step));
  if (blocked !== null) return refuseCompletion({ ...asked, call: callInSession }, blocked, found, facts, shell);
  const ending = await endOutOfReach(found, shell);
  if (ending === 'store_unavailable') return notRecorded(asked, 'io', shell);
  if (ending === 'ended') return 'again';
  const result = await commitCompletion(counted, session, { ...found, by }, shell);
  if (result === null) return 'again';
  if (result.kind === 'committed') return completedReply(callInSession, session, result.seq);
  if (result.kind === 'unavailable') return notRecorded(asked, result.fault, shell);
  invariant(result.on === 'session', `completing met a conflict on ${result.on}`);
  return 'again';
}

/**
 * INVARIANT: no granted approval outlives the session if nobody can use it any more: it ends first, and its record is
 * counted.
 */
async function endOutOfReach(
  { outOfReach }: CompletionFacts,
  shell: Shell,
): Promise<'none' | 'ended' | 'store_unavailable'> {
  const why = 'its step could not be reached any more when its session was completed';
  for (const approval of outOfReach) {
    if ((await expireOrVoid(approval, shell, why)) === 'store_unavailable') return 'store_unavailable';
  }
  return outOfReach.length === 0 ? 'none' : 'ended';
}

function notRecorded({ call, request }: Asked, fault: string, shell: Shell): Reply {
  return storeUnavailable(refusal(call, atAdmission, request, null, shell), fault);
}

async function refuseCompletion(
  { call, request }: Asked,
  blocked: Refusal,
  found: CompletionFacts,
  facts: Facts & { readonly session: SessionFact },
  shell: Shell,
): Promise<Reply> {
  const step = facts.session.found ? facts.session.step : null;
  const seen = { ...factsOf(facts, shell), completion: factsForRecord(found) };
  const said = { ...refusal(call, { gate: 'admit', facts: seen }, request, step, shell), refusal: blocked };
  return step === null ? (await recordRefusal(said, shell)).reply : refuseStep(said, step, shell);
}

/**
 * Closes the session, or only records the completion of a standing one. Calls that come later are refused by the
 * session gate; earlier ones have been seen, or this conflicts. Null if anything was recorded in a standing session
 * since it was counted.
 */
async function commitCompletion(
  counted: Session,
  session: Found,
  found: FactsAndPerson,
  shell: Shell,
): Promise<CommitResult | null> {
  const { id, entries, standing } = counted;
  if (standing && (await shell.ports.store.session(id))?.entries !== entries) return null;
  const change = standing
    ? ({ kind: 'step', id, advance: false, expectSeq: null, expectOpen: true, workflow: null } as const)
    : ({ kind: 'complete', id, expectEntries: entries } as const);
  const recorded = completionRecord(counted, session, found, shell);
  const result = await commit({ ...bare(shell), session: change, ...recorded }, shell);
  if (result.kind === 'committed' && !standing) {
    shell.live.snapshots.delete(id);
    shell.live.streaks.delete(id);
  }
  return result;
}

type FactsAndPerson = CompletionFacts & Pick<Asked, 'by'>;

function completionRecord(session: Session, { step }: Found, found: FactsAndPerson, shell: Shell) {
  const { id, standing } = session;
  const policy = policyOnRecord(shell.policy(), shell);
  const position = step === null ? {} : { state_before: step.digest, state_after: step.digest, step: step.seq };
  const person = byPerson(found.by, session);
  const body = canonicalText({ standing, completion: factsForRecord(found), ...position, ...policy.body, ...person });
  return {
    blobs: policy.blobs,
    records: [{ kind: 'session_completed', call: null, session: id, body, payloads: [] }] as const,
  };
}

function completedReply({ id }: Call, { id: session, step }: Found, seq: number): SuccessReply {
  return {
    action: completing,
    result: { completed: true },
    state: step === null ? null : stateOf(step),
    valid_next_actions: [],
    call_id: id,
    session,
    seq,
    done: true,
  };
}
