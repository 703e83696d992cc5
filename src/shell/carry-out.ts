/**
 * The only place where a decision becomes an act: the intent is made durable, then the attempt is sent, once, by
 * the incarnation that won it, within its send window. Runs to the end whether or not anybody waits.
 * Path of a call: 5/7. Next: shell/settle.ts.
 */
import { type CancelScope, cancelled, failed, pending, timedOut } from '../core/answer.ts';
import type { ErrorReply } from '../core/reply.ts';
import type { Call } from '../core/call.ts';
import { canonicalText } from '../core/canonical.ts';
import type { ToolEntry } from '../core/catalogue.ts';
import type { Json } from '../core/json.ts';
import { advance, type CallEvent, mayResend, type SideEffect } from '../core/lifecycle.ts';
import { classify } from '../core/recovery/classify.ts';
import type { CommitResult, StoreFault, Transition } from '../ports/store.ts';
import type { Attempt } from '../ports/upstream.ts';
import { onAbort } from './await-outcome.ts';
import { commit, keepForLater, nobodyWaits } from './commit.ts';
import { type AttemptEnd, sendAttempt } from './run-attempt.ts';
import { answerStored, envelopeOf, settle, settleLate } from './settle.ts';
import { type Answer, me, type Running, type Shell } from './shell.ts';
import { type Papers, toTransition } from './transition.ts';
import { weigh } from './weigh.ts';

/** A tool and the arguments it will get. */
export interface Work {
  readonly tool: ToolEntry;
  readonly args: Json;
}

export type Started =
  | { readonly kind: 'running'; readonly running: Running }
  | { readonly kind: 'conflict'; readonly result: Extract<CommitResult, { kind: 'conflict' }> }
  | { readonly kind: 'unavailable'; readonly fault: StoreFault };

/** Makes the intent and the right to send durable in one commit, then sends without waiting for the end. */
export async function start(
  call: Call,
  events: readonly CallEvent[],
  work: Work,
  papers: Papers,
  shell: Shell,
  cancelled?: AbortSignal,
): Promise<Started> {
  const control = createControl();
  // A client that cancels while the intent is being recorded has nothing sent for it.
  const stopListening = onAbort(cancelled, () => control.cancel('ToolCancelled'));
  let finish: (answer: Answer) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const outcome = new Promise<Answer>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  // Whoever waits hears the error; a run that nobody waits for must not bring the process down.
  outcome.catch(() => undefined);
  const running: Running = { call, outcome, cancel: control.cancel };
  // Registered before the commit, so that a cancellation of its session finds it at any moment.
  shell.live.running.set(call.id, running);

  const submittedAt = shell.ports.clock.monotonicMs();
  const dispatch = chain(call, [...events, claim(work, call, shell)]);
  const transition = toTransition(call, dispatch.call, dispatch.effects, withClaim(papers, dispatch.call), shell);
  let result: CommitResult;
  try {
    result = await commit(transition, shell);
  } catch (error) {
    shell.live.running.delete(call.id);
    fail(error);
    throw error;
  } finally {
    stopListening();
  }
  if (result.kind !== 'committed') {
    shell.live.running.delete(call.id);
    // Whoever waits, to cancel it or because the key led here, must not wait for ever: the record will tell.
    finish({ reply: pending(envelopeOf(call, shell), 1), position: null });
    if (result.kind === 'conflict') return { kind: 'conflict', result };
    if (result.fault === 'overloaded') return { kind: 'unavailable', fault: result.fault };
    // The intent may be on record all the same; nothing was sent, and the record shall say so once it can.
    const reply = neverSent(dispatch.call, 'the store could not record the call in time', shell);
    keepForLater(unsentEnding(dispatch.call, { kind: 'expired' }, reply, shell), shell);
    return { kind: 'unavailable', fault: result.fault };
  }
  for (const { hash } of transition.blobs) shell.live.knownBlobs.add(hash);
  drive(dispatch.call, work, submittedAt, control, shell)
    .then(finish, fail)
    .finally(() => shell.live.running.delete(call.id));
  return { kind: 'running', running };
}

/** The deadline passed before the call could be sent: it is on record, and it never ran. */
export async function expireUnsent(
  call: Call,
  papers: Papers,
  shell: Shell,
): Promise<{ readonly kind: 'committed'; readonly reply: ErrorReply } | Exclude<CommitResult, { kind: 'committed' }>> {
  const expired = chain(call, [{ kind: 'admitted' }, { kind: 'expired' }]);
  const reply = timedOut(envelopeOf(call, shell), call.deadlineAtMs - call.createdAtMs, 'none');
  const payloads = { ...papers.payloads, expired: [{ part: 'reply', text: canonicalText(reply) }] };
  const transition = toTransition(call, expired.call, expired.effects, { ...papers, payloads }, shell);
  const result = await commit(transition, shell);
  nobodyWaits(result, shell);
  return result.kind === 'committed' ? { kind: 'committed', reply } : result;
}

/** Sends, waits, settles. `since` is when the winning commit was submitted, by the monotonic clock. */
async function drive(dispatched: Call, work: Work, since: number, control: Control, shell: Shell): Promise<Answer> {
  let call = dispatched;
  for (let missed = 0; ; missed++) {
    if (control.scope() !== null) return stopUnsent(call, control.scope() ?? 'ToolCancelled', shell);
    // INVARIANT: a process that slept past its send window sends nothing; somebody else may own the call by now.
    const inWindow = shell.ports.clock.monotonicMs() - since < shell.limits.sendWindowMs;
    // A commit that took long may have used up the call's whole time.
    if (inWindow && shell.ports.clock.nowMs() >= call.deadlineAtMs) return giveBack(call, shell);
    if (inWindow) break;
    since = shell.ports.clock.monotonicMs();
    const again = await reclaim(call, work, missed, shell);
    if ('reply' in again) return again;
    call = again;
  }
  const attempt = attemptOf(call, work, shell);
  const startedAt = shell.ports.clock.monotonicMs();
  const sending = sendAttempt(
    attempt,
    (result) => void late(call, { kind: 'came_back', result }, attempt, shell),
    shell,
  );
  control.onCancel(sending.cancel);
  const end = await sending.end;
  const elapsedMs = shell.ports.clock.monotonicMs() - startedAt;
  return settle(call, weigh(call, end, attempt.timeoutMs, shell.limits), shell, elapsedMs);
}

async function late(call: Call, end: AttemptEnd, attempt: Attempt, shell: Shell): Promise<void> {
  if (shell.live.closed) {
    // The call is on record as in doubt or dispatched, which is still all that anybody can know.
    const reason = 'the gateway was closed before the body came back';
    return shell.ports.notify({ kind: 'suppressed', what: `a late result of call ${call.id}`, reason });
  }
  try {
    await settleLate(call, weigh(call, end, attempt.timeoutMs, shell.limits), shell);
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
  if (missed >= shell.limits.maxRedecisions || now >= call.deadlineAtMs) return giveBack(call, shell);
  if (call.tainted && !mayResend(call, now, work.tool.dedupeWindowMs)) return giveBack(call, shell);
  const withheld: CallEvent = { kind: 'withheld', attempt: call.attempt, atMs: now };
  const again = chain(call, [withheld, claim(work, call, shell)]);
  const papers = withClaim({ expectOpen: true }, again.call);
  const result = await commit(toTransition(call, again.call, again.effects, papers, shell), shell);
  if (result.kind === 'conflict' && result.on === 'session') return stopUnsent(call, 'SessionCancelled', shell);
  return result.kind === 'committed' ? again.call : answerStored(call.id, shell);
}

/** Ends an attempt that was dispatched and provably never sent. */
async function giveBack(call: Call, shell: Shell): Promise<Answer> {
  if (shell.ports.clock.nowMs() >= call.deadlineAtMs) {
    const effect = call.tainted ? 'unknown' : 'none';
    const reply = timedOut(envelopeOf(call, shell), call.deadlineAtMs - call.createdAtMs, effect);
    return endUnsent(call, { kind: 'expired' }, reply, shell);
  }
  return endUnsent(call, { kind: 'expired' }, neverSent(call, 'the gateway could not send it in time', shell), shell);
}

async function stopUnsent(call: Call, scope: CancelScope, shell: Shell): Promise<Answer> {
  const reply = cancelled(envelopeOf(call, shell), scope, call.tainted ? 'unknown' : 'none');
  return endUnsent(call, { kind: 'cancelled' }, reply, shell);
}

async function endUnsent(call: Call, event: CallEvent, reply: ErrorReply, shell: Shell): Promise<Answer> {
  const result = await commit(unsentEnding(call, event, reply, shell), shell);
  if (result.kind === 'committed') return { reply, position: result.position };
  return answerStored(call.id, shell);
}

function unsentEnding(call: Call, event: CallEvent, reply: ErrorReply, shell: Shell): Transition {
  const ended = chain(call, [{ kind: 'withheld', attempt: call.attempt, atMs: shell.ports.clock.nowMs() }, event]);
  const payloads = [{ part: 'reply', text: canonicalText(reply) }];
  const papers = { payloads: { settled: payloads, doubted: payloads, cancelled: payloads } };
  return toTransition(call, ended.call, ended.effects, papers, shell);
}

function neverSent(call: Call, message: string, shell: Shell): ErrorReply {
  return failed(envelopeOf(call, shell), {
    classification: classify('never_sent', undefined, call.effectClass),
    effect: call.tainted ? 'unknown' : 'none',
    errorType: 'NeverSent',
    message,
    retryAfterSeconds: 1,
    maxMessageChars: shell.limits.maxMessageChars,
  });
}

/** Several events in a row, as one step. */
export function chain(call: Call, events: readonly CallEvent[]) {
  let next = call;
  const effects: SideEffect[] = [];
  for (const event of events) {
    const [moved, asked] = advance(next, event);
    next = moved;
    effects.push(...asked);
  }
  return { call: next, effects };
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

function timeoutOf(work: Work, call: Call, nowMs: number): number {
  return Math.max(1, Math.min(work.tool.timeoutMs, call.deadlineAtMs - nowMs));
}

function attemptOf(call: Call, work: Work, shell: Shell): Attempt {
  return {
    callId: call.id,
    attempt: call.attempt,
    tool: call.tool,
    args: work.args,
    session: call.session,
    tenant: call.tenant,
    agent: call.agent,
    deadlineAtMs: call.deadlineAtMs,
    timeoutMs: timeoutOf(work, call, shell.ports.clock.nowMs()),
  };
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
