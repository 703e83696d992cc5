/**
 * The spine: read, admit, decide, carry out, answer. Read this file first. Total: whatever comes in, exactly one
 * reply goes out, and nothing is thrown at the caller.
 * Path of a call: 2/7. Next: core/call/decide.ts.
 */
import type { Approval } from '../../core/approval/approval.ts';
import type { CallId, Principal, Request, SessionId } from '../../core/call/call.ts';
import { decide, type Decision } from '../../core/call/decide.ts';
import type { FieldError } from '../../core/call/catalogue.ts';
import type { Facts } from '../../core/gates/facts.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import { readRequest } from '../../core/call/request.ts';
import type { Reply } from '../../core/call/reply.ts';
import { invariant } from '../../core/values/unreachable.ts';
import type { StoreFault } from '../../ports/store.ts';
import { type Admission, admitByKey, attachableWithin, claimedBy } from './admit.ts';
import { adopt, adoptable } from '../ending/adopt.ts';
import { answerAdmission, answerAttached } from './answer-admission.ts';
import { asItStands, waitingFor } from './as-it-stands.ts';
import { awaitOutcome } from './await-outcome.ts';
import { bodyFact } from './body-fact.ts';
import { start } from '../attempt/start.ts';
import { expireUnsent } from './expire.ts';
import { withSeq } from '../ending/stored-reply.ts';
import { mayBeApplied } from '../upkeep/commit.ts';
import { lapse } from '../approval/end-approval.ts';
import { firstFacts } from './first-facts.ts';
import { gather } from './gather-facts.ts';
import { answered, enter, handOver } from './hand-over.ts';
import { holdCall } from '../approval/hold-call.ts';
import { intentPapers } from './intent-papers.ts';
import { newCall } from './new-call.ts';
import { waitInLine, waitLeft } from './patience.ts';
import { ownResult } from './own-result.ts';
import { storeUnavailable } from './refuse.ts';
import { isGone, type Requester } from './requester.ts';
import { withGaps } from '../upkeep/runtime-gap.ts';
import {
  type Asked,
  type MeantStep,
  cancelledBefore,
  refusal,
  refuseAtTheDoor,
  refuseUnreadable,
  sayBusy,
  sayNo,
} from './say-no.ts';
import { unrecorded } from '../ending/stored-reply.ts';
import { isFull, type Running, type Shell } from '../shell.ts';
import {
  attachUnder,
  hasTaken,
  metBy,
  outcomeFor,
  type Taken,
  takeWaiting,
  voidApproval,
  whyNotAlone,
} from '../approval/take-waiting.ts';
import { isStep, takeTurn } from '../session/turn.ts';
import { unexpected } from './unexpected.ts';
import { stepOf as stepOfWork, type Work } from '../attempt/work.ts';

export function handleCall(
  raw: unknown,
  who: Principal,
  requester: Requester,
  shell: Shell,
  step: MeantStep | null = null,
): Promise<Reply> {
  // A requester of its own for each call: what is known about who waits for it is kept under it.
  const asking = { ...requester };
  const reply = answer(raw, who, asking, step, shell)
    .then((given) => withGaps(given, shell))
    .finally(() => answered(asking, shell));
  // Whoever closes the gateway waits for these.
  shell.live.unanswered.add(reply);
  return reply.finally(() => shell.live.unanswered.delete(reply));
}

async function answer(
  raw: unknown,
  who: Principal,
  requester: Requester,
  step: MeantStep | null,
  shell: Shell,
): Promise<Reply> {
  const read = readRequest(raw, shell.limits, step === null ? 'call' : 'step');
  const arrivedAtMs = shell.ports.clock.monotonicMs();
  const call = newCall(read, who, shell);
  const progress = { started: false };
  try {
    if (!read.ok) return await refuseUnreadable(read, call, step, shell);
    return await handle({ request: read.request, call, who, requester, arrivedAtMs }, progress, shell);
  } catch (error) {
    return unexpected(error, call, progress.started ? 'unknown' : 'none', shell);
  }
}

/** A call that was read before and that nobody asks for any more: it runs under this approval, or not at all. */
export function handleRequest(request: Request, only: Approval, fingerprint: string, shell: Shell): Promise<Reply> {
  const who = { tenant: only.tenant, agent: only.agent };
  const call = { ...newCall({ ok: true, request }, who, shell), fingerprint };
  const arrivedAtMs = shell.ports.clock.monotonicMs();
  return handle({ request, call, who, requester: {}, arrivedAtMs, only }, { started: false }, shell);
}

/** For a door that cannot tell who asks, or what of it: the same refusal as for a call that cannot be read. */
export async function handleUnfit(
  errors: readonly FieldError[],
  who: Principal,
  shell: Shell,
  about: { readonly requested: string; readonly session: string | null } | null = null,
): Promise<Reply> {
  const read = { ok: false, requested: about?.requested ?? null, problem: 'unreadable', errors } as const;
  const call = newCall(read, who, shell);
  try {
    return await refuseUnreadable(read, call, about, shell);
  } catch (error) {
    return unexpected(error, call, 'none', shell);
  }
}

/** Before the intent is submitted nothing can have run, whatever goes wrong. */
interface Progress {
  started: boolean;
}

/** A step of a workflow first waits for its turn; every other call goes on at once. */
async function handle(asked: Asked, progress: Progress, shell: Shell): Promise<Reply> {
  const { request, call, requester, who } = asked;
  if (!(await isStep(request, who, shell))) return run(asked, null, null, progress, shell);
  const earlier = await admitByKey(request, call.fingerprint, who, shell);
  // Whoever asks for the same step again need not wait for the turn that it has.
  if (earlier.kind !== 'new' && earlier.kind !== 'unadopted') return answerAdmission(earlier, asked, shell);
  const turn = await takeTurn(request.session as SessionId, call.id, waitInLine(asked, shell), requester, shell);
  if (turn.kind === 'cancelled') return refuseAtTheDoor((step) => cancelledBefore(shell, who, step), asked, shell);
  if (turn.kind === 'busy') return run(asked, turn.by, null, progress, shell);
  let hold: Promise<unknown> | null = null;
  try {
    return await run(asked, null, (running) => (hold = running.outcome), progress, shell);
  } finally {
    // The turn is the step's until it ends, whether or not anybody waits for it.
    if (hold === null) turn.release();
    else void (hold as Promise<unknown>).then(turn.release, turn.release);
  }
}

async function run(
  whole: Asked,
  takenBy: CallId | null,
  onRunning: ((running: Running) => void) | null,
  progress: Progress,
  shell: Shell,
): Promise<Reply> {
  const { who } = whole;
  // An approver may have changed the arguments: from then on the call is what was approved.
  let asked = whole;
  for (let round = 0; round <= shell.limits.maxRedecisions; round++) {
    const { request } = asked;
    const admission: Admission = shell.live.readiness.ready
      ? await admitByKey(request, asked.call.fingerprint, who, shell)
      : { kind: 'new' };
    if (admission.kind !== 'new' && admission.kind !== 'unadopted') return answerAdmission(admission, asked, shell);

    const policy = shell.policy();
    const decided = await decideWithFacts(asked, takenBy, shell);
    // INVARIANT: nothing runs, and nothing is refused, by a policy that another one has replaced while facts were fetched.
    if (shell.policy() !== policy) continue;
    if ('unavailable' in decided)
      return storeUnavailable(refusal(asked.call, 'admit', {}, request, null, shell), decided.unavailable);
    const { decision, facts } = decided;
    const session = facts.session?.found ? facts.session.id : null;
    const step = stepOf(facts);
    // A key whose call took effect has its answer, whatever the workflow says to a step that would come now; unless it only has to wait.
    const waits = decision.kind === 'refuse' && decision.refusal.error === 'action_in_flight';
    if (decision.kind !== 'run' && admission.kind === 'unadopted' && !waits)
      return asItStands(admission.reply, step, who, shell);
    const alone = await whyNotAlone(decision, asked, session, shell);
    if (alone !== null) return alone;
    // INVARIANT: what an approver wrote is never asked for in the agent's name: once it is not to be had, the call is the agent's own again.
    if (decision.kind === 'hold' && asked.under !== undefined) {
      await lapse(asked.under, shell);
      asked = whole;
      continue;
    }
    if (decision.kind === 'hold') {
      const held = await holdCall({ ...asked.call, session }, decision, facts, asked, shell);
      if (held !== null) return held;
      continue;
    }
    // INVARIANT: what was approved upon evidence that has changed covers nothing any more.
    if (decision.kind === 'refuse' && decision.gate === 'evidence' && facts.evidenceNow?.kind === 'read')
      await voidApproval(facts, shell);
    if (decision.kind !== 'run') return sayNo({ ...asked.call, session }, decision, facts, request, shell);

    const call = { ...asked.call, session, effectClass: decision.tool.effectClass };
    invariant(session !== null, 'the ladder let a call pass without a session');
    // Who names the sequence has seen the reply that gave it: theirs is a step of its own.
    const isOwn = request.key !== null || (step !== null && request.expectedSeq !== null);
    const nobodyLeftWithinMs = isOwn ? null : attachableWithin(call, shell);
    // INVARIANT: nothing is sent for somebody who is gone, also if nobody has heard of it yet: they may have sent it again already.
    if (nobodyLeftWithinMs !== null) await asked.requester.heard?.();
    if (isGone(asked.requester)) return refuseAtTheDoor(cancelledBefore(shell, who, step), { ...asked, call }, shell);
    const met = metBy(decision, asked);
    const papers = intentPapers(call, request, decision, facts, shell);
    if (asked.only === undefined) enter(call, asked.requester, shell);
    const earlier = step === null ? null : adoptable(call.fingerprint, request, step, shell);
    if (earlier !== null && step !== null) {
      const keyless = admission.kind === 'unadopted' ? { ...papers, key: null } : papers;
      const adopted = await adopt(
        call,
        earlier,
        { tool: decision.tool, args: decision.args, step, client: null },
        keyless,
        shell,
      );
      if (adopted.kind === 'adopted') {
        handOver(adopted.call, adopted.position, asked.requester, shell);
        return adopted.reply;
      }
      if (adopted.kind === 'unavailable') return unrecorded(call, shell, { fact: step, inputs: decision.args });
      continue;
    }
    if (met?.kind === 'ran') {
      const outcome = await outcomeFor(met.call, { ...asked, call }, session, facts, shell);
      const itsReply = outcome === null ? null : await answerAttached(outcome, waitingFor(asked, call), shell);
      if (itsReply !== null) return itsReply;
      continue;
    }
    if (nobodyLeftWithinMs !== null && asked.only === undefined) {
      const attached = await attachUnder(met, call, session, asked.requester, shell);
      const earlierReply = attached.kind === 'new' ? null : await answerAttached(attached, { ...asked, call }, shell);
      if (earlierReply !== null) return asItStands(earlierReply, step, who, shell);
      if (attached.kind !== 'new') continue;
    }
    const { client = null, bodyOf } = asked.requester;
    const work: Work = { tool: decision.tool, args: decision.args, step, client, bodyOf };
    if (shell.ports.clock.nowMs() >= call.deadlineAtMs) {
      const expired = await expireUnsent(call, work, papers, shell);
      if (expired.kind === 'committed') return withSeq(expired.reply, 0);
      if (expired.kind === 'unavailable')
        return storeUnavailable(refusal(call, 'admit', {}, request, step, shell), expired.fault);
      continue;
    }
    // The ladder counted when it began to ask; the last look is right before the place is taken.
    if (isFull(shell)) continue;
    const approved: Taken =
      met === null
        ? { kind: 'taken', call, papers, notices: [] }
        : await takeWaiting(met.approval, call, papers, asked, facts, shell);
    if (approved.kind !== 'taken') {
      asked = approved.kind === 'edited' ? approved.asked : whole;
      continue;
    }
    progress.started = true;
    const sent: Work = { ...work, notices: approved.notices };
    // INVARIANT: whoever left an equal call while this one waited for the store has their place all the same.
    const intent = { ...approved.papers, nobodyLeftWithinMs };
    const { cancelled, left } = asked.requester;
    // INVARIANT: who left without a key may have sent it again elsewhere, before this intent could be seen there.
    const leaves = [cancelled, request.key === null ? left : undefined];
    const started = await start(approved.call, [{ kind: 'admitted' }], sent, intent, shell, leaves);
    if (started.kind === 'running') {
      onRunning?.(started.running);
      if (step !== null) shell.live.streaks.delete(session);
      const reply = await awaitOutcome(started.running, waitLeft(asked, shell), asked.requester, shell);
      const { requester } = asked;
      return ownResult(started.running, reply, { work, papers, who, requester }, shell);
    }
    if (started.kind === 'unavailable')
      return mayBeApplied(started.fault)
        ? unrecorded(approved.call, shell, stepOfWork(work))
        : storeUnavailable(refusal(call, 'admit', {}, request, step, shell), started.fault);
    if (started.result.on === 'key') {
      const claimed = await claimedBy(started.result, request, call.fingerprint, shell);
      if (claimed.kind !== 'new' && claimed.kind !== 'unadopted')
        return answerAdmission(claimed, { ...asked, call }, shell);
    }
    // The first try of the commit was applied unheard, and somebody has taken the call over. INVARIANT: a call
    // that waited for its approval is told only to whoever has it; to others it is another's by now.
    if (started.result.on === 'call' && (met === null || (await hasTaken(approved.call.id, call.id, shell))))
      return (await started.settleUnsent()).reply;
    // INVARIANT: whoever loses a race for the intent has sent nothing, and decides again with what is true now.
    invariant(started.result.on !== 'illegal', 'an intent is a legal transition');
  }
  return sayBusy(asked, shell);
}

/** Asks the ladder, fetching one fact at a time until it has an answer. */
async function decideWithFacts(
  asked: Asked,
  takenBy: CallId | null,
  shell: Shell,
): Promise<{ decision: Exclude<Decision, { kind: 'need' }>; facts: Facts } | { unavailable: StoreFault }> {
  const { request, who, call, under, only } = asked;
  let facts: Facts = { ...firstFacts(who, shell), ...(await bodyFact(asked.requester.bodyOf, shell)) };
  for (let fetched = 0; fetched <= shell.limits.maxFactFetches; fetched++) {
    const decision = decide(request, facts, shell.ladder);
    if (decision.kind !== 'need') return { decision, facts };
    const approval = { fingerprint: call.fingerprint, under: (under ?? only)?.id ?? null };
    const asking = { call: call.id, takenBy, waitsMs: waitInLine(asked, shell), approval };
    const gathered = await gather(decision.fact, facts, request, who, asking, shell);
    if (gathered.kind === 'store_unavailable') return { unavailable: gathered.fault };
    facts = gathered.facts;
  }
  throw new Error('bug: the gates never stop asking for facts');
}
