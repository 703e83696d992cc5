/**
 * The spine: read a request, take it through the phases, answer. Read this file first. Total: whatever comes in,
 * exactly one reply goes out, and nothing is thrown at the caller.
 * Path of a call: 2/7. Next: core/call/decide.ts.
 */
import type { Approval } from '../../core/approval/approval.ts';
import type { CallId, Principal, Request, SessionId } from '../../core/call/call.ts';
import type { FieldError } from '../../core/call/catalogue.ts';
import type { Reversal } from '../../core/reversal/reversal.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import { readRequest } from '../../core/call/request.ts';
import { isStep, takeTurn } from '../session/turn.ts';
import type { Shell, BodyOf, NestedRequest } from '../shell.ts';
import { withGapNotices } from '../upkeep/record-runtime.ts';
import type { Admission } from './attach.ts';
import { admitByKey, answerAdmission } from './admit.ts';
import { type Asked, type MeantStep, newCall, waitForTurn, replyWith, type Stop } from './asked.ts';
import { answered } from './hand-over.ts';
import { judge } from './judge.ts';
import { prepare } from './prepare.ts';
import { cancelledBefore, refuseBusy, refuseEarly, refuseUnreadable, unexpected } from './refuse.ts';
import type { Requester } from './requester.ts';
import { reuse } from './reuse.ts';
import { type Progress, send } from './send.ts';
import { take } from './take.ts';
import type { Reach } from '../../core/policy/policy.ts';
import { openSession } from '../session/fetch-session.ts';
import { sayFault } from './record-refusal.ts';

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
    .then((given) => (shell.live.gapNotices.size === 0 ? given : withGapNotices(given, shell)))
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
  const progress = newProgress();
  try {
    if (!read.ok) return await refuseUnreadable(read, call, step, shell);
    return await handle({ request: read.request, call, who, requester, arrivedAtMs }, progress, shell);
  } catch (error) {
    return unexpected(error, call, progress.started ? 'unknown' : 'none', shell);
  }
}

/** What a call runs under that nobody asks for: its approval, and the reversal that it redeems if it undoes another. */
interface Papers {
  readonly only: Approval;
  readonly fingerprint: string;
  readonly redeems?: Reversal;
}

/** A call that was read before and that nobody asks for any more: it runs under this approval, or not at all. */
export function handleRequest(request: Request, { fingerprint, ...papers }: Papers, shell: Shell): Promise<Reply> {
  const who = { tenant: papers.only.tenant, agent: papers.only.agent };
  const call = { ...newCall({ ok: true, request }, who, shell), fingerprint };
  const arrivedAtMs = shell.ports.clock.monotonicMs();
  return handle({ request, call, who, requester: {}, arrivedAtMs, ...papers }, newProgress(), shell);
}

/** A call that undoes another, in the name of the agent of that one. INVARIANT: no door leads here with a request. */
export function handleReversal(
  request: Request,
  redeems: Reversal,
  requester: Requester,
  shell: Shell,
): Promise<Reply> {
  const who = { tenant: redeems.tenant, agent: redeems.agent };
  const call = newCall({ ok: true, request }, who, shell);
  const arrivedAtMs = shell.ports.clock.monotonicMs();
  const progress = newProgress();
  const asked = { request, call, who, requester: { ...requester }, arrivedAtMs, redeems };
  return handle(asked, progress, shell)
    .catch((error: unknown) => unexpected(error, call, progress.started ? 'unknown' : 'none', shell))
    .finally(() => answered(asked.requester, shell));
}

/** The call of an answered ticket goes on, through all gates; its intent is committed with the ticket. */
export function handleContinuation(
  request: Request,
  ticket: Ticket,
  fingerprint: string,
  shell: Shell,
): Promise<Reply> {
  const who = { tenant: ticket.tenant, agent: ticket.agent };
  const call = { ...newCall({ ok: true, request }, who, shell), fingerprint };
  const arrivedAtMs = shell.ports.clock.monotonicMs();
  return handle({ request, call, who, requester: {}, arrivedAtMs, continues: ticket }, newProgress(), shell);
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

const newProgress = (): Progress => ({ started: false, running: null });

/** A step of a workflow first waits for its turn; every other call goes on at once. */
async function handle(asked: Asked, progress: Progress, shell: Shell): Promise<Reply> {
  const { request, call, requester, who } = asked;
  if (request.session === null || !(await isStep(request, who, shell))) return run(asked, null, progress, shell);
  const earlier = await admitByKey(request, call.fingerprint, who, shell);
  // Whoever asks for the same step again need not wait for the turn that it has.
  if (earlier.kind !== 'new' && earlier.kind !== 'unadopted') return answerAdmission(earlier, asked, shell);
  const turn = await takeTurn(request.session as SessionId, call.id, waitForTurn(asked, shell), requester, shell);
  if (turn.kind === 'cancelled') return refuseEarly((step) => cancelledBefore(shell, who, step), asked, shell);
  if (turn.kind === 'busy') return run(asked, turn.by, progress, shell);
  try {
    return await run(asked, null, progress, shell);
  } finally {
    // The turn is the step's until it ends, whether or not anybody waits for it.
    if (progress.running === null) turn.release();
    else void progress.running.outcome.then(turn.release, turn.release);
  }
}

/** Decides again whenever something moved meanwhile, so often and no more. */
async function run(whole: Asked, takenBy: CallId | null, progress: Progress, shell: Shell): Promise<Reply> {
  let asked = whole;
  for (let round = 0; round <= shell.limits.maxRedecisions; round++) {
    const stop = await walk(asked, takenBy, progress, shell);
    if (stop.kind === 'reply') return stop.reply;
    asked = stop.asked;
  }
  return refuseBusy(asked, shell);
}

/**
 * The phases, in the only order that is safe:
 * 1. admit: a key that was used has its answer, whatever the gates would say now.
 * 2. judge: nothing below happens to a call that the gates did not let pass.
 * 3. prepare: from here on the caller counts among those who ask for this write, before anything is read about equal
 * calls.
 * 4. reuse: what has happened already is told, not sent again. After the gates, for a reply tells what they protect.
 * 5. take: what only one caller can have, the approval, is looked at last; the commit of the intent takes it.
 * 6. send: the place, the intent and the right to send are taken together; only whoever won them sends.
 */
async function walk(asked: Asked, takenBy: CallId | null, progress: Progress, shell: Shell): Promise<Stop> {
  const admission: Admission = shell.live.readiness.ready
    ? await admitByKey(asked.request, asked.call.fingerprint, asked.who, shell)
    : { kind: 'new' };
  if (admission.kind !== 'new' && admission.kind !== 'unadopted')
    return replyWith(await answerAdmission(admission, asked, shell));
  const judged = await judge(asked, admission, takenBy, shell);
  if (judged.kind !== 'next') return judged;
  const prepared = await prepare(asked, judged, shell);
  if (prepared.kind !== 'next') return prepared;
  const reused = await reuse(asked, admission, prepared, shell);
  if (reused !== null) return reused;
  const taken = await take(asked, prepared, shell);
  if (taken.kind !== 'next') return taken;
  return send(asked, prepared, taken, progress, shell);
}

/** `ceiling`: of the body's session, for a call that names none; null for as far as policy lets it. */
export async function nestedCall(
  request: NestedRequest,
  who: Principal,
  bodyOf: BodyOf,
  ceiling: Reach | null,
  shell: Shell,
): Promise<Reply> {
  // INVARIANT: whoever cancels a call cancels what its body has called.
  const by = { bodyOf, cancelled: shell.live.running.get(bodyOf.id)?.stopped };
  if (ceiling === null) return handleCall(request, who, by, shell);
  // INVARIANT: the agent's standing session has no ceiling, so it is not the place for this.
  const opened = await openSession(who, false, shell, ceiling);
  if ('fault' in opened) return sayFault(request.tool, null, opened.fault, shell);
  return handleCall({ ...request, session: opened.id }, who, by, shell);
}
