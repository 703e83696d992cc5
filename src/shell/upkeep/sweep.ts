/**
 * Sweeps once a second: takes over attempts past their lease, ends calls past their deadline, sends due retries,
 * records outcomes that wait for the store, fires timers, closes sessions. Idempotent and bounded; any process may
 * sweep. Also drains and stops the running calls on shutdown.
 */
import type { CancelScope } from '../../core/call/answer.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import type { Json } from '../../core/values/json.ts';
import { mayResend } from '../../core/call/lifecycle.ts';
import type { StoredCall } from '../../ports/store.ts';
import { cancelWaiting, isTurnCancelled, stopCancelledElsewhere } from '../ending/cancel.ts';
import { start } from '../attempt/start.ts';
import { markAnswered, storeIsBack } from './commit.ts';
import { whyNotResend } from '../attempt/work.ts';
import { expireOrVoid } from '../approval/end-approval.ts';
import { isMasked } from '../mask.ts';
import { heldOnRecord } from '../ending/held-amounts.ts';
import { noticesOf } from '../ending/ending.ts';
import { keptOnRecord } from '../ending/kept-parts.ts';
import { closeOverdueTasks } from '../completion/tasks.ts';
import { resumeStage } from '../stage/resume-stage.ts';
import { tryLater } from '../stage/retry-later.ts';
import { probeDoubt } from './probe-doubts.ts';
import { recordBreakers } from './record-breakers.ts';
import { endUnowned, takeOver } from './recover.ts';
import { countRepeats } from '../call/record-refusal.ts';
import { resumption, toolToResend } from '../session/position.ts';
import { carryOutDue } from '../reversal/order.ts';
import { rollBackAll } from '../reversal/roll-back.ts';
import { undoingOnRecord } from '../reversal/undoing.ts';
import { runApproved } from '../approval/run-approved.ts';
import { fireAllDue, trimSessions } from '../session/session-upkeep.ts';
import { closeUnusedSessions } from '../session/workflow-sessions.ts';
import { isFull, type Shell } from '../shell.ts';
import { continueAll } from '../ticket/continue-ticket.ts';
import { endOverdueTickets } from '../ticket/overdue-tickets.ts';
import { endSignedIn } from '../ticket/sign-in.ts';
import { suppressed } from '../../core/values/suppressed.ts';

export async function sweep(shell: Shell): Promise<void> {
  await recordUnrecorded(shell);
  await stopCancelledElsewhere(shell);
  const due = await shell.ports.store.due(shell.ports.clock.nowMs(), shell.limits.sweepBatch);
  await Promise.all(due.map((call) => sweepCall(call, shell)));
  await runAllApproved(shell);
  await endOverdueTickets(shell);
  await endSignedIn(shell);
  await continueAll(shell);
  await carryOutDue(shell);
  await rollBackAll(shell);
  await endOverdueSpending(shell);
  await countRepeats(shell);
  for (const session of await fireAllDue(shell)) await tryLater(session, shell);
  await closeUnusedSessions(shell);
  await trimSessions(shell);
  await closeOverdueTasks(shell);
  await recordBreakers(shell);
}

async function sweepCall(call: StoredCall, shell: Shell): Promise<void> {
  const now = shell.ports.clock.nowMs();
  // A call that this process runs is ended by its own timer, even if the sweeper sees it as overdue.
  if (shell.live.running.has(call.id)) return;
  switch (call.state) {
    case 'DISPATCHED':
      await takeOver(call, shell);
      return;
    case 'PREPARED':
      if (now >= call.deadlineAtMs) await expire(call, shell);
      return;
    case 'AWAITING_APPROVAL': {
      const approval = await shell.ports.store.approvalOfCall(call.id);
      if (approval !== null) await expireOrVoid(approval, shell);
      return;
    }
    case 'RETRY_WAIT':
      await resume(call, now, shell);
      return;
    case 'IN_DOUBT':
      if (!(await resumeStage(call, shell))) await probeDoubt(call, shell);
      return;
    default:
      return;
  }
}

/** No call waits for an approval of spending, so nothing else ends one whose time is up. */
async function endOverdueSpending(shell: Shell): Promise<void> {
  const { store, clock } = shell.ports;
  const overdue = await store.overdueSpending(clock.nowMs(), shell.limits.sweepBatch);
  for (const approval of overdue) await expireOrVoid(approval, shell);
}

/** Runs approved calls that have not run yet: the process that had to is gone, or could not at the time. */
async function runAllApproved(shell: Shell): Promise<void> {
  const { sweepBatch } = shell.limits;
  for (let after = ''; ;) {
    const page = await shell.ports.store.approvalsToRun(after, sweepBatch);
    for (const approval of page) runApproved(approval, shell);
    const last = page.at(-1);
    if (last === undefined || page.length < sweepBatch) return;
    after = last.id;
  }
}

async function expire(call: StoredCall, shell: Shell, why?: Parameters<typeof endUnowned>[3]): Promise<void> {
  const ended = await endUnowned(call, { kind: 'expired' }, shell, why);
  if (ended !== null) markAnswered(ended.result, shell);
}

/** Sends a call again that may be sent again. It has no requester; an equal call may attach to it. */
async function resume(call: StoredCall, nowMs: number, shell: Shell): Promise<void> {
  const found = await findResendable(call, nowMs, shell);
  if (found.kind === 'wait') return;
  if (found.kind === 'expire') return expire(call, shell, found.why);
  const { tool, step } = found;
  if (isFull(shell)) return;
  const stopped = await stoppedAs(call, shell);
  if (stopped !== null) return void (await cancelWaiting(call, stopped, shell));
  // INVARIANT: a call of unknown effect is sent again only inside its dedupe window, by the clock at this moment.
  if (call.tainted && !mayResend(call, shell.ports.clock.nowMs(), tool.dedupeWindowMs)) return expire(call, shell);
  const notices = await noticesOf(call.id, shell);
  const holds = await heldOnRecord(call, tool, shell);
  const undoing = await undoingOnRecord(call, tool, shell);
  const kept = call.kept === true ? await keptOnRecord(call.id, shell) : undefined;
  // INVARIANT: what is done of it is not sent again: without the record of that, nothing is.
  if (kept === null) return expire(call, shell, unsendable);
  const work = { tool, args: JSON.parse(found.argsText) as Json, step, client: null, notices, holds, kept, undoing };
  // INVARIANT: nothing is sent again that the policy now in force does not permit.
  const denial = await whyNotResend(call, work, shell);
  if (denial !== null) {
    const errorType = denial.credential === undefined ? 'PolicyDenied' : 'CredentialUnavailable';
    return expire(call, shell, { errorType, message: denial.message });
  }
  const goesOn = step === null ? [] : resumption(call.session, step, shell);
  const started = await start({ call, events: [], work, parts: { expectOpen: true, resumption: goesOn } }, shell);
  // INVARIANT: nothing is sent any more for a session that was cancelled.
  if (started.kind === 'conflict' && started.result.on === 'session')
    await cancelWaiting(call, 'SessionCancelled', shell);
}

type Resendable =
  | { readonly kind: 'send'; readonly tool: ToolEntry; readonly step: StepFact | null; readonly argsText: string }
  | { readonly kind: 'expire'; readonly why?: typeof unsendable }
  | { readonly kind: 'wait' };

/** The tool and the arguments of a call that is to be sent again. */
async function findResendable(call: StoredCall, nowMs: number, shell: Shell): Promise<Resendable> {
  const { tool, step } = await toolToResend(call, shell);
  const args = tool === undefined ? null : await shell.ports.store.args(call.id);
  const isLost = args?.kind === 'erased' || args?.kind === 'altered';
  if (nowMs >= call.deadlineAtMs || isLost) return { kind: 'expire' };
  // Another process may have the tool; only the deadline ends the wait for it.
  if (tool === undefined || args?.kind !== 'text') return { kind: 'wait' };
  // Masked arguments are not what was sent.
  return isMasked(args.text) ? { kind: 'expire', why: unsendable } : { kind: 'send', tool, step, argsText: args.text };
}

const unsendable = {
  errorType: 'Redacted',
  message: 'its arguments were masked in the record and cannot be sent again',
};

/** INVARIANT: what its agent wants stopped is not sent again, nor a call of a turn that was cancelled. */
async function stoppedAs({ session, turn, stopAsked }: StoredCall, shell: Shell): Promise<CancelScope | null> {
  if (stopAsked === true) return 'ToolCancelled';
  const isOver = session !== null && turn !== null && (await isTurnCancelled(session, turn, shell));
  return isOver ? 'TurnCancelled' : null;
}

/**
 * Records outcomes that could not be recorded when they happened, in order. A conflict means that the call has moved
 * on.
 */
async function recordUnrecorded(shell: Shell): Promise<void> {
  const { unrecorded } = shell.live;
  for (let left = unrecorded.length; left > 0; left--) {
    const first = unrecorded[0];
    if (first === undefined) return;
    const [result] = await shell.ports.store.commit([first.transition]);
    if (result === undefined || result.kind === 'unavailable') return;
    unrecorded.shift();
    first.recorded?.();
    markAnswered(result, shell);
    if (result.kind === 'committed') storeIsBack(shell);
    // INVARIANT: an outcome is not lost because another process put the call in doubt meanwhile.
    if (result.kind === 'conflict') await first.ifMovedOn?.();
  }
}

/** Sweeps while the gateway is open. Returns a function that stops it and waits for the present sweep. */
export function startSweeping(shell: Shell, alongside: () => Promise<void>): () => Promise<void> {
  let stopped = false;
  let takeBack = (): void => undefined;
  let sweeping: Promise<void> = Promise.resolve();
  const next = () => {
    if (!stopped) takeBack = shell.ports.clock.background(shell.limits.sweepEveryMs, () => (sweeping = once()));
  };
  const once = async (): Promise<void> => {
    try {
      await sweep(shell);
      await alongside();
    } catch (error) {
      shell.ports.notify(suppressed('a sweep', error));
    }
    next();
  };
  next();
  return async () => {
    stopped = true;
    takeBack();
    await sweeping;
  };
}

const finalDrainMs = 1_000;

/** Cancels the calls that outlived the drain, on record; their tools get the abort signal. */
export async function stopAll(shell: Shell): Promise<void> {
  const left = [...shell.live.running.values()];
  for (const running of left) running.cancel('ToolCancelled');
  await Promise.allSettled(left.map((running) => running.outcome));
  // Gives their callers time to get the reply, but not callers that wait for a call of another process.
  await drain(shell, finalDrainMs);
}

/** Waits for all calls, running or about to, with a caller or without; at most `drainMs`. */
export async function drain(shell: Shell, drainMs: number): Promise<void> {
  // What waits for its next attempt goes on after the next start.
  shell.live.draining = true;
  for (const leave of shell.live.backoffs) leave();
  const { running, unanswered } = shell.live;
  const outcomes = [...[...running.values()].map(({ outcome }) => outcome), ...unanswered];
  if (outcomes.length === 0) return;
  let takeBack = (): void => undefined;
  const enough = new Promise<void>((resolve) => {
    takeBack = shell.ports.clock.schedule(drainMs, resolve);
  });
  await Promise.race([Promise.allSettled(outcomes), enough]);
  takeBack();
}

const maxDrainSeconds = 24 * 3_600;

/** The default for anything that is not a number of seconds. */
export function drainSeconds(asked: number | undefined): number {
  return typeof asked === 'number' && asked >= 0 ? Math.min(asked, maxDrainSeconds) : 10;
}
