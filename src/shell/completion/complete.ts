/**
 * An agent says that it is done with a session: refused on record while anything stands against it, otherwise the session is
 * closed. The agent's standing session stays open, and only its word is kept. Never rejects, and runs nothing.
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
import { factsOfStanding, gatherStanding, type Standing, notReady } from './completion-facts.ts';
import { expireOrVoid } from '../approval/end-approval.ts';
import { fetchSession } from '../session/fetch-session.ts';
import { firstFacts, nextActions, type Shell } from '../shell.ts';
import { factsOf } from '../call/intent.ts';
import { newCall } from '../call/asked.ts';
import { policyOnRecord, withGaps } from '../upkeep/record-runtime.ts';
import { recordRefusal, storeUnavailable } from '../call/record-refusal.ts';
import { refuseStep, refusal, refuseUnreadable, refuseByGate, unexpected } from '../call/refuse.ts';
import { bare } from '../ending/transition.ts';

type Found = Extract<SessionFact, { found: true }>;

interface Asked {
  readonly request: Request;
  readonly call: Call;
  readonly who: Principal;
}

/** `raw` is `{ session? }`; without one it is the agent's own. */
export function completeSession(raw: unknown, who: Principal, shell: Shell): Promise<Reply> {
  const reply = answer(raw, who, shell);
  // Whoever closes the gateway waits for these.
  shell.live.unanswered.add(reply);
  return reply.finally(() => shell.live.unanswered.delete(reply));
}

async function answer(raw: unknown, who: Principal, shell: Shell): Promise<Reply> {
  const read = readCompletion(raw, shell.limits);
  const call = newCall(read, who, shell);
  try {
    if (!read.ok) return await refuseUnreadable(read, call, null, shell);
    return withGaps(await complete({ request: read.request, call, who }, shell), shell);
  } catch (error) {
    return unexpected(error, call, 'none', shell);
  }
}

async function complete(asked: Asked, shell: Shell): Promise<Reply> {
  const { request, call, who } = asked;
  const unready = notReady(call, shell);
  if (unready !== null) return unready;
  for (let round = 0; round <= shell.limits.maxRedecisions; round++) {
    const policy = shell.policy();
    const session = await fetchSession(request.session, who, null, shell);
    if ('fault' in session) return notRecorded(asked, session.fault, shell);
    const facts = { ...firstFacts(who, shell), session };
    const gate = sessionGate.check(request, facts, []);
    const there = { ...call, session: session.found ? session.id : null };
    if (gate.kind === 'refuse') return refuseByGate(there, { ...gate, gate: 'session' }, facts, request, shell);
    invariant(session.found, 'the gate lets only sessions pass that are there');
    // INVARIANT: its records are counted before anything is read. A call that begins or ends in the session, or waits there for
    // a person, writes a record: either it is seen below, or the count no longer fits and everything is read again.
    const counted = await shell.ports.store.session(session.id);
    const standing = await gatherStanding(session, who, shell);
    if (counted?.seq !== session.seq || shell.policy() !== policy) continue;
    const next = nextActions(shell, there, session.step);
    const no = completionRefusal(standing.against, standing.ref, next);
    if (no !== null) return block({ ...asked, call: there }, no, standing, facts, shell);
    const ending = await endOutOfReach(standing, shell);
    if (ending === 'store_unavailable') return notRecorded(asked, 'io', shell);
    if (ending === 'ended') continue;
    const result = counted.standing
      ? await keepWord(counted, session, standing, shell)
      : await close(counted, session, standing, shell);
    if (result?.kind === 'committed') return done(there, session, result.seq);
    if (result?.kind === 'unavailable') return notRecorded(asked, result.fault, shell);
    invariant(result === null || result.on === 'session', `completing met a conflict on ${result?.on}`);
  }
  return notRecorded(asked, 'overloaded', shell);
}

/** INVARIANT: nothing is left behind that a person granted and nobody can use: it ends before its session does, and that is counted. */
async function endOutOfReach({ outOfReach }: Standing, shell: Shell): Promise<'none' | 'ended' | 'store_unavailable'> {
  for (const approval of outOfReach) {
    const lapsed = await expireOrVoid(
      approval,
      shell,
      'its step could not be reached any more when its session was completed',
    );
    if (lapsed === 'store_unavailable') return lapsed;
  }
  return outOfReach.length === 0 ? 'none' : 'ended';
}

function notRecorded({ call, request }: Asked, fault: string, shell: Shell): Reply {
  return storeUnavailable(refusal(call, 'admit', {}, request, null, shell), fault);
}

async function block(
  { call, request }: Asked,
  no: Refusal,
  standing: Standing,
  facts: Facts & { readonly session: SessionFact },
  shell: Shell,
): Promise<Reply> {
  const step = facts.session.found ? facts.session.step : null;
  const seen = { ...factsOf(facts, shell), completion: factsOfStanding(standing) };
  const said = { ...refusal(call, 'admit', seen, request, step, shell), refusal: no };
  return step === null ? (await recordRefusal(said, shell)).reply : refuseStep(said, step, shell);
}

/** Calls that come after it are refused by the gate of sessions; those that came before have been seen, or it conflicts. */
async function close(counted: Session, session: Found, standing: Standing, shell: Shell): Promise<CommitResult> {
  const change = { kind: 'complete', id: counted.id, expectEntries: counted.entries } as const;
  const result = await commit(
    { ...bare(shell), session: change, ...recordOf(counted, session, standing, shell) },
    shell,
  );
  if (result.kind !== 'committed') return result;
  shell.live.snapshots.delete(counted.id);
  shell.live.streaks.delete(counted.id);
  return result;
}

/** Null if something happened in the session while it was read: then nobody knows what the word is about. */
async function keepWord(
  counted: Session,
  session: Found,
  standing: Standing,
  shell: Shell,
): Promise<CommitResult | null> {
  if ((await shell.ports.store.session(counted.id))?.entries !== counted.entries) return null;
  const change = {
    kind: 'step',
    id: counted.id,
    advance: false,
    expectSeq: null,
    expectOpen: true,
    workflow: null,
  } as const;
  return commit({ ...bare(shell), session: change, ...recordOf(counted, session, standing, shell) }, shell);
}

function recordOf(counted: Session, { step }: Found, standing: Standing, shell: Shell) {
  const policy = policyOnRecord(shell.policy(), shell);
  const where = step === null ? {} : { state_before: step.digest, state_after: step.digest, step: step.seq };
  const completion = factsOfStanding(standing);
  const body = canonicalText({ standing: counted.standing, completion, ...where, ...policy.body });
  return {
    blobs: policy.blobs,
    records: [{ kind: 'session_completed', call: null, session: counted.id, body, payloads: [] }] as const,
  };
}

function done({ id }: Call, { id: session, step }: Found, seq: number): SuccessReply {
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
