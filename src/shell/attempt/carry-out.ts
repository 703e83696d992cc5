/**
 * The only place where a decision becomes an act: the intent is made durable, then the attempt is sent, once, by
 * the incarnation that won it, within its send window. Runs to the end whether or not anybody waits.
 * Path of a call: 5/7. Next: shell/ending/settle.ts.
 */
import { type CancelScope, pending, timedOut } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { type CallEvent, mayResend } from '../../core/call/lifecycle.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import type { CommitResult, StoreFault } from '../../ports/store.ts';
import type { Attempt, UpstreamResult } from '../../ports/upstream.ts';
import { onAbort } from '../call/requester.ts';
import { commit, keepForLater, nobodyWaits } from '../upkeep/commit.ts';
import { deniedNow } from './denied-now.ts';
import type { Step } from '../ending/end-step.ts';
import { giveBack, neverSent, settleUnsent, stopUnsent, unsentEnding } from '../ending/end-unsent.ts';
import { rememberBlobs } from '../call/policy-papers.ts';
import { type AttemptEnd, sendAttempt } from './run-attempt.ts';
import { envelopeOf, settle, settleLate } from '../ending/settle.ts';
import { type Answer, me, type Running, type Shell } from '../shell.ts';
import { type Papers, toTransition } from '../ending/transition.ts';
import { weigh, withNotices } from './weigh.ts';
import { attemptOf, chain, stepOf, timeoutOf, type Work } from './work.ts';

export type Started =
  | { readonly kind: 'running'; readonly running: Running }
  | {
      readonly kind: 'conflict';
      readonly result: Extract<CommitResult, { kind: 'conflict' }>;
      /** For an intent that is on record all the same, and was taken over: it was not sent. */
      readonly settleUnsent: () => Promise<Answer>;
    }
  | { readonly kind: 'unavailable'; readonly fault: StoreFault };

/** Makes the intent and the right to send durable in one commit, then sends without waiting for the end. */
export async function start(
  call: Call,
  events: readonly CallEvent[],
  work: Work,
  papers: Papers,
  shell: Shell,
  leaves: readonly (AbortSignal | undefined)[] = [],
): Promise<Started> {
  const control = createControl();
  // A client that cancels, or without a key leaves, while the intent is being recorded has nothing sent for it.
  const listening = leaves.map((signal) => onAbort(signal, () => control.cancel('ToolCancelled')));
  let finish: (answer: Answer) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const outcome = new Promise<Answer>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  // Whoever waits hears the error; a run that nobody waits for must not bring the process down.
  outcome.catch(() => undefined);
  const running: Running = { call, outcome, cancel: control.cancel };
  // Registered before the commit, so that a cancellation of its session finds it at any moment. A call that waited for its
  // approval may have several who try: the place is the first one's, until one of them has won.
  if (!shell.live.running.has(call.id)) shell.live.running.set(call.id, running);
  // INVARIANT: who loses the call does not take the winner's place away.
  const forget = () => {
    if (shell.live.running.get(call.id) === running) shell.live.running.delete(call.id);
  };

  const submittedAt = shell.ports.clock.monotonicMs();
  const dispatch = chain(call, [...events, claim(work, call, shell)]);
  const transition = toTransition(call, dispatch.call, dispatch.effects, withClaim(papers, dispatch.call), shell);
  let result: CommitResult;
  try {
    result = await commit(transition, shell);
  } catch (error) {
    forget();
    fail(error);
    throw error;
  } finally {
    for (const stopListening of listening) stopListening();
  }
  if (result.kind !== 'committed') {
    forget();
    // Whoever waits, to cancel it or because the key led here, must not wait for ever: the record will tell.
    finish({ reply: pending(envelopeOf(call, shell, stepOf(work)), 1), position: null });
    if (result.kind === 'conflict')
      return { kind: 'conflict', result, settleUnsent: () => settleUnsent(dispatch.call, work, shell) };
    if (result.fault === 'overloaded') return { kind: 'unavailable', fault: result.fault };
    // The intent may be on record all the same; nothing was sent, and the record shall say so once it can.
    const reply = neverSent(dispatch.call, work, 'the store could not record the call in time', shell);
    // INVARIANT: a call that waited for its approval may be another asker's by now, who has sent it.
    const isOwn = call.state === '(none)';
    const late = async () => void (await settleUnsent(dispatch.call, work, shell));
    keepForLater(unsentEnding(dispatch.call, work, { kind: 'expired' }, reply, shell), shell, isOwn ? late : null);
    return { kind: 'unavailable', fault: result.fault };
  }
  rememberBlobs(transition.blobs, shell);
  shell.live.running.set(call.id, running);
  drive(dispatch.call, work, submittedAt, control, shell).then(finish, fail).finally(forget);
  return { kind: 'running', running };
}

/** The deadline passed before the call could be sent: it is on record, and it never ran. */
export async function expireUnsent(
  call: Call,
  step: Step | null,
  papers: Papers,
  shell: Shell,
): Promise<{ readonly kind: 'committed'; readonly reply: ErrorReply } | Exclude<CommitResult, { kind: 'committed' }>> {
  const expired = chain(call, [{ kind: 'admitted' }, { kind: 'expired' }]);
  const reply = timedOut(envelopeOf(call, shell, step), call.deadlineAtMs - call.createdAtMs, 'none');
  const payloads = { ...papers.payloads, expired: [{ part: 'reply', text: canonicalText(reply) }] };
  const transition = toTransition(call, expired.call, expired.effects, { ...papers, workflow: null, payloads }, shell);
  const result = await commit(transition, shell);
  nobodyWaits(result, shell);
  return result.kind === 'committed' ? { kind: 'committed', reply } : result;
}

/** Sends, waits, settles. `since` is when the winning commit was submitted, by the monotonic clock. */
async function drive(dispatched: Call, work: Work, since: number, control: Control, shell: Shell): Promise<Answer> {
  let call = dispatched;
  for (let missed = 0; ; missed++) {
    if (control.scope() !== null) return stopUnsent(call, work, control.scope() ?? 'ToolCancelled', shell);
    // INVARIANT: a process that slept past its send window sends nothing; somebody else may own the call by now.
    const inWindow = shell.ports.clock.monotonicMs() - since < shell.limits.sendWindowMs;
    // A commit that took long may have used up the call's whole time.
    if (inWindow && shell.ports.clock.nowMs() >= call.deadlineAtMs) return giveBack(call, work, shell);
    if (inWindow) break;
    since = shell.ports.clock.monotonicMs();
    const again = await reclaim(call, work, missed, shell);
    if ('reply' in again) return again;
    call = again;
  }
  const attempt = attemptOf(call, work, shell);
  const startedAt = shell.ports.clock.monotonicMs();
  const step = stepOf(work);
  const cameBackLate = (result: UpstreamResult) => {
    if (step !== null) orphanEnded(call, shell);
    void late(call, { kind: 'came_back', result }, attempt, work, shell);
  };
  const sending = sendAttempt(attempt, cameBackLate, shell);
  control.onCancel(sending.cancel);
  const end = await sending.end;
  if (step !== null && end.kind !== 'came_back' && !sending.isBack()) orphanLeft(call, shell);
  const elapsedMs = shell.ports.clock.monotonicMs() - startedAt;
  const weighed = withNotices(weigh(call, end, attempt.timeoutMs, shell.limits), work.notices ?? []);
  return settle(call, weighed, step, shell, elapsedMs);
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

async function late(call: Call, end: AttemptEnd, attempt: Attempt, work: Work, shell: Shell): Promise<void> {
  if (shell.live.closed) {
    // The call is on record as in doubt or dispatched, which is still all that anybody can know.
    const reason = 'the gateway was closed before the body came back';
    return shell.ports.notify({ kind: 'suppressed', what: `a late result of call ${call.id}`, reason });
  }
  try {
    const weighed = withNotices(weigh(call, end, attempt.timeoutMs, shell.limits), work.notices ?? []);
    await settleLate(call, weighed, stepOf(work), shell);
  } catch (error) {
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
    shell.ports.notify({
      kind: 'unexpected',
      correlationId: call.id,
      message: 'a late result could not be kept',
      cause,
    });
  }
}

/** The window was missed: give the attempt back as unsent and take the next one, in one commit. */
async function reclaim(call: Call, work: Work, missed: number, shell: Shell): Promise<Call | Answer> {
  const now = shell.ports.clock.nowMs();
  if (missed >= shell.limits.maxRedecisions || now >= call.deadlineAtMs) return giveBack(call, work, shell);
  if (call.tainted && !mayResend(call, now, work.tool.dedupeWindowMs)) return giveBack(call, work, shell);
  // INVARIANT: what a person took back meanwhile, or policy does not permit any more, is not sent.
  const stored = await shell.ports.store.call(call.id);
  if (stored !== null && (await deniedNow(stored, work, shell)) !== null) return giveBack(call, work, shell);
  const withheld: CallEvent = { kind: 'withheld', attempt: call.attempt, atMs: now };
  const again = chain(call, [withheld, claim(work, call, shell)]);
  const papers = withClaim({ expectOpen: true }, again.call);
  const result = await commit(toTransition(call, again.call, again.effects, papers, shell), shell);
  if (result.kind === 'conflict' && result.on === 'session') return stopUnsent(call, work, 'SessionCancelled', shell);
  return result.kind === 'committed' ? again.call : settleUnsent(call, work, shell);
}

function claim(work: Work, call: Call, shell: Shell): CallEvent {
  const { sendWindowMs, leaseMarginMs } = shell.limits;
  const now = shell.ports.clock.nowMs();
  const leaseUntilMs = now + timeoutOf(work, call, now) + sendWindowMs + leaseMarginMs;
  return { kind: 'claimed', owner: me(shell), leaseUntilMs };
}

function withClaim(papers: Papers, call: Call): Papers {
  const dispatched = { attempt: call.attempt, owner: call.owner, lease_until_ms: call.dueAtMs };
  return { ...papers, body: { ...papers.body, dispatched } };
}

interface Control {
  readonly cancel: (scope: CancelScope) => void;
  readonly scope: () => CancelScope | null;
  readonly onCancel: (stop: (scope: CancelScope) => void) => void;
}

/** A cancellation may come before there is anything to stop; it is kept until there is. */
function createControl(): Control {
  let asked: CancelScope | null = null;
  let stop: ((scope: CancelScope) => void) | null = null;
  return {
    cancel: (scope) => {
      asked ??= scope;
      stop?.(scope);
    },
    scope: () => asked,
    onCancel: (stopNow) => {
      stop = stopNow;
      if (asked !== null) stopNow(asked);
    },
  };
}
