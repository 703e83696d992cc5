/**
 * Drives a dispatched call to its end: send within the window, interpret what came back, make the next move. Only the
 * incarnation that won the attempt sends it, once.
 */
import type { Call } from '../../core/call/call.ts';
import { type CallEvent, mayResend } from '../../core/call/lifecycle.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import { makeFailure, type UpstreamResult } from '../../ports/upstream.ts';
import { type CallContext, contextHere } from '../ending/ending.ts';
import { heldAfter } from '../ending/held-amounts.ts';
import { withReversalNow } from '../ending/reversal-now.ts';
import { giveBack, settleUnsent, stopUnsent, settle, settleLate } from '../ending/settle.ts';
import type { Answer, Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';
import { attemptOf, type Control, dispatch, sentItems, whyNotResend, type Work } from './work.ts';
import type { History } from '../../core/recovery/plan.ts';
import { type Interpreted, interpretResult } from './interpret-result.ts';
import { afterRelay, watchRelay } from './after-relay.ts';
import { nextMove } from './next-move.ts';
import { type Claimed, waitAndClaim } from './retry.ts';
import { breakerWaitMs } from './upstream-health.ts';
import { type AttemptEnd, sendAttempt } from './send-attempt.ts';

/**
 * Sends, interprets what came back, and makes the next move, until the call is settled. `since` is when the winning
 * commit was submitted.
 */
export async function drive(
  dispatched: Call,
  begun: Work,
  since: number,
  control: Control,
  shell: Shell,
): Promise<Answer> {
  let work = begun;
  let claimed: Claimed = { call: dispatched, submittedAt: since };
  let history: History | null = null;
  for (;;) {
    const context = contextHere(work, shell);
    const held = await holdWindow(claimed.call, work, claimed.submittedAt, control, shell);
    if ('reply' in held) return held;
    const end = Promise.withResolvers<void>();
    const { interpreted, elapsedMs } = await send(held, { work, context, control, settled: end.promise }, shell);
    const move = await nextMove(held, interpreted, history, work, shell);
    switch (move.kind) {
      case 'settle':
        return settleMove(held, move.ended, context, elapsedMs, shell).finally(end.resolve);
      case 'retry': {
        end.resolve();
        work = { ...work, holds: heldAfter(work.holds, move.ended.use), kept: move.ended.kept ?? work.kept };
        const again = await waitAndClaim(held, move, { work, context, control, elapsedMs }, shell);
        if ('reply' in again) return again;
        claimed = again;
        history = move.history;
        break;
      }
      default:
        return unreachable(move);
    }
  }
}

/** A call that is undone at once is answered when that is done, or cannot be. */
async function settleMove(
  call: Call,
  ended: Interpreted,
  context: CallContext,
  elapsedMs: number,
  shell: Shell,
): Promise<Answer> {
  const answer = await settle(call, ended, context, elapsedMs, shell);
  if (ended.reverse === undefined || answer.position === null) return answer;
  await shell.live.carryOut(call.id);
  return { ...answer, reply: await withReversalNow(answer.reply, call, shell) };
}

/** The call, inside its send window and permitted to go out; or the answer, if it is not to be sent any more. */
async function holdWindow(
  dispatched: Call,
  work: Work,
  submittedAt: number,
  control: Control,
  shell: Shell,
): Promise<Call | Answer> {
  let call = dispatched;
  let since = submittedAt;
  for (let missed = 0; ; missed++) {
    if (control.scope() !== null) return stopUnsent(call, work, control.scope() ?? 'ToolCancelled', shell);
    // INVARIANT: a process that slept past its send window sends nothing; somebody else may own the call by now.
    const inWindow = shell.ports.clock.monotonicMs() - since < shell.limits.sendWindowMs;
    // INVARIANT: what passed its deadline or its dedupe window while it was being claimed is not sent.
    const now = shell.ports.clock.nowMs();
    const isLate = now >= call.deadlineAtMs || (call.tainted && !mayResend(call, now, work.tool.dedupeWindowMs));
    if (inWindow && isLate) return giveBack(call, work, shell);
    if (inWindow) return call;
    since = shell.ports.clock.monotonicMs();
    const again = await reclaim(call, work, missed, shell);
    if ('reply' in again) return again;
    call = again;
  }
}

interface Sent {
  readonly work: Work;
  readonly context: CallContext;
  readonly control: Control;
  /** INVARIANT: a body that comes back late is heard after the end that its caller was told. */
  readonly settled: Promise<void>;
}

async function send(
  call: Call,
  { work, context, control, settled }: Sent,
  shell: Shell,
): Promise<{ readonly interpreted: Interpreted; readonly elapsedMs: number }> {
  const attempt = attemptOf(call, work, shell);
  const startedAt = shell.ports.clock.monotonicMs();
  const interpret = (end: AttemptEnd) =>
    interpretResult(call, end, attempt.timeoutMs, shell.limits, sentItems(work, shell));
  const isStep = work.step !== null;
  const cameBackLate = (result: UpstreamResult) => {
    if (isStep) orphanEnded(call, shell);
    void settled.then(() => late(call, () => interpret({ kind: 'came_back', result }), context, shell));
  };
  const openMs = breakerWaitMs(context.recovery, shell);
  if (openMs !== null)
    return { interpreted: interpret({ kind: 'came_back', result: breakerOpen(openMs) }), elapsedMs: 0 };
  const relayed = watchRelay(attempt);
  const sending = sendAttempt(relayed.attempt, cameBackLate, shell);
  control.onCancel(sending.cancel);
  const end = afterRelay(await sending.end, relayed.hasSent(), attempt.timeoutMs);
  if (isStep && end.kind !== 'came_back' && !sending.isBack()) orphanLeft(call, shell);
  const { credentials = [] } = attempt;
  return { interpreted: { ...interpret(end), credentials }, elapsedMs: shell.ports.clock.monotonicMs() - startedAt };
}

function breakerOpen(openMs: number): UpstreamResult {
  const retryAfterSeconds = Math.ceil(openMs / 1_000);
  const message = 'the upstream failed several times in a row; nothing is sent to it for now';
  const known = { subject: 'breaker_open', errorType: 'BreakerOpen', effect: 'none', retryAfterSeconds } as const;
  return { kind: 'failed', failure: makeFailure('never_sent', message, known) };
}

/** The body of a step runs on although nobody waits: until it comes back its action is `action_in_flight`. */
function orphanLeft({ id, session, tool }: Call, { live }: Shell): void {
  if (session === null) return;
  const orphans = live.orphanSteps.get(session) ?? new Map<Call['id'], string>();
  live.orphanSteps.set(session, orphans.set(id, tool));
}

function orphanEnded({ id, session }: Call, { live }: Shell): void {
  const orphans = session === null ? undefined : live.orphanSteps.get(session);
  if (session === null || orphans === undefined) return;
  orphans.delete(id);
  if (orphans.size === 0) live.orphanSteps.delete(session);
}

/** Never rejects. */
async function late(call: Call, ended: () => Interpreted, context: CallContext, shell: Shell): Promise<void> {
  if (shell.live.closed) {
    // The call is on record as in doubt or dispatched, which is still all that anybody can know.
    const reason = 'the gateway was closed before the body came back';
    return shell.ports.notify({ kind: 'suppressed', what: `a late result of call ${call.id}`, reason });
  }
  try {
    await settleLate(call, ended(), context, shell);
  } catch (error) {
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const message = 'a late result could not be kept';
    shell.ports.notify({ kind: 'unexpected', correlationId: call.id, message, cause });
  }
}

/** The window was missed: give the attempt back as unsent and take the next one, in one commit. */
async function reclaim(call: Call, work: Work, missed: number, shell: Shell): Promise<Call | Answer> {
  const now = shell.ports.clock.nowMs();
  if (missed >= shell.limits.maxRedecisions || now >= call.deadlineAtMs) return giveBack(call, work, shell);
  if (call.tainted && !mayResend(call, now, work.tool.dedupeWindowMs)) return giveBack(call, work, shell);
  // INVARIANT: what a person took back meanwhile, or policy does not permit any more, is not sent.
  const stored = await shell.ports.store.call(call.id);
  if (stored !== null && (await whyNotResend(stored, work, shell)) !== null) return giveBack(call, work, shell);
  const withheld: CallEvent = { kind: 'withheld', attempt: call.attempt, atMs: now };
  const { dispatched: again, transition } = dispatch(call, [withheld], work, { expectOpen: true }, shell);
  const result = await commit(transition, shell);
  if (result.kind === 'conflict' && result.on === 'session') return stopUnsent(call, work, 'SessionCancelled', shell);
  return result.kind === 'committed' ? again : settleUnsent(call, work, shell);
}
