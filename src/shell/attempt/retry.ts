/**
 * Waits for the next attempt of a call and wins the right to send it. The wait is on record first, so it outlives the
 * process; a cancellation ends it at once; what policy no longer permits is not sent.
 */
import { cancelled, type CancelScope, failed, pending, withSeq } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import { type CallEvent, mayResend } from '../../core/call/lifecycle.ts';
import { classify, withCode } from '../../core/recovery/classify.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import { invariant, unreachable } from '../../core/values/unreachable.ts';
import { awaitElsewhere } from '../call/await-outcome.ts';
import { conclude } from '../ending/conclude.ts';
import { keptPayload } from '../ending/kept-parts.ts';
import { type CallContext, contextHere, envelopeOf, type Say } from '../ending/ending.ts';
import { settle } from '../ending/settle.ts';
import { answerStored } from '../ending/stored-reply.ts';
import type { Answer, Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';
import type { NextMove } from './next-move.ts';
import { type Control, dispatch, type ResendDenial, stepOf, whyNotResend, type Work } from './work.ts';

/** A call whose next attempt this process may send, and when the winning commit was submitted. */
export interface Claimed {
  readonly call: Call;
  readonly submittedAt: number;
}

export interface Retrying {
  /** As the next attempt will be: its holds count what this one used. */
  readonly work: Work;
  /** Of the attempt that ended. */
  readonly context: CallContext;
  readonly control: Control;
  readonly elapsedMs: number;
}

type Retry = Extract<NextMove, { kind: 'retry' }>;

export async function waitAndClaim(
  call: Call,
  move: Retry,
  retrying: Retrying,
  shell: Shell,
): Promise<Claimed | Answer> {
  const waiting = await plan(call, move, retrying, shell);
  if ('reply' in waiting) return waiting;
  const { control, work } = retrying;
  const context = contextHere(work, shell);
  const how = await pauseUnlessStopped(move.pauseMs, control, shell);
  switch (how) {
    case 'stopped':
      return endCancelled(waiting, control.scope() ?? 'ToolCancelled', context, shell);
    case 'left':
      // The gateway closes: the call waits on record for the next start.
      return { reply: pending(envelopeOf(waiting, shell, stepOf(work)), 1), position: null };
    case 'over':
      return claim(waiting, move, { ...retrying, context }, shell);
    default:
      return unreachable(how);
  }
}

/** Puts the wait on record. INVARIANT: nothing is waited for that another process would not go on with. */
async function plan(call: Call, move: Retry, { context, elapsedMs }: Retrying, shell: Shell): Promise<Call | Answer> {
  const { ended, atMs } = move;
  const { trouble } = ended;
  invariant(trouble !== undefined, 'only a failure is followed by a retry');
  const { kept } = ended;
  const keeps = kept === undefined ? {} : ({ keeps: true } as const);
  const event: CallEvent = { kind: 'retry_planned', attempt: call.attempt, effect: trouble.effect, atMs, ...keeps };
  const { call: waiting, transition } = conclude(
    call,
    {
      events: [event],
      say: ended.say,
      use: ended.use,
      // INVARIANT: what is done is on record before anything is sent again.
      payloads: [...ended.payloads, ...keptPayload(kept)],
      dispatch: ended.dispatch,
      record: () => ({
        attempt: call.attempt,
        effect: trouble.effect,
        elapsed_ms: Math.round(elapsedMs),
        end: ended.facts,
        ...(kept === undefined ? {} : { items: { of: kept.of, again: kept.left.length } }),
      }),
    },
    context,
    shell,
  );
  invariant(waiting.state === 'RETRY_WAIT', 'a planned retry waits');
  const result = await commit(transition, shell);
  if (result.kind === 'committed') return waiting;
  // The call has moved on, or the wait cannot be recorded: this attempt is its last here.
  const { dispatch: _, ...last } = ended;
  return settle(call, last, context, elapsedMs, shell);
}

function pauseUnlessStopped(pauseMs: number, control: Control, shell: Shell): Promise<'over' | 'stopped' | 'left'> {
  if (shell.live.draining) return Promise.resolve('left');
  return new Promise((resolve) => {
    const { backoffs } = shell.live;
    const finish = (how: 'over' | 'stopped' | 'left') => {
      takeBack();
      backoffs.delete(leave);
      resolve(how);
    };
    const leave = () => finish('left');
    const takeBack = shell.ports.clock.schedule(pauseMs, () => finish('over'));
    backoffs.add(leave);
    control.onCancel(() => finish('stopped'));
  });
}

async function claim(
  waiting: Call,
  { ended }: Retry,
  { work, context }: Retrying,
  shell: Shell,
): Promise<Claimed | Answer> {
  const { clock, store } = shell.ports;
  const now = clock.nowMs();
  // INVARIANT: nothing is sent past the deadline, nor a write of unknown effect outside its window.
  const isLate = now >= waiting.deadlineAtMs || (waiting.tainted && !mayResend(waiting, now, work.tool.dedupeWindowMs));
  if (isLate) return end(waiting, { kind: 'expired' }, ended.say, context, shell);
  const stored = await store.call(waiting.id);
  // INVARIANT: what another process was asked to stop is not sent again.
  if (stored?.stopAsked === true) return endCancelled(waiting, 'ToolCancelled', context, shell);
  const denial = stored === null ? null : await whyNotResend(stored, work, shell);
  if (denial !== null) return end(waiting, { kind: 'expired' }, sayDenied(waiting, denial, shell), context, shell);
  const submittedAt = clock.monotonicMs();
  const { dispatched, transition } = dispatch(waiting, [], work, { expectOpen: true }, shell);
  const result = await commit(transition, shell);
  if (result.kind === 'committed') return { call: dispatched, submittedAt };
  if (result.kind === 'conflict' && result.on === 'session')
    return endCancelled(waiting, 'SessionCancelled', context, shell);
  if (result.kind === 'unavailable' || stored === null)
    return { reply: pending(envelopeOf(waiting, shell, stepOf(work)), 1), position: null };
  // Another process was faster: the outcome comes from there.
  const reply = await awaitElsewhere(stored, Math.max(0, waiting.deadlineAtMs - now), {}, shell);
  return { reply, position: null };
}

const endCancelled = (call: Call, scope: CancelScope, context: CallContext, shell: Shell): Promise<Answer> =>
  end(call, { kind: 'cancelled' }, (envelope, effect) => cancelled(envelope, scope, effect), context, shell);

/** Ends a call that waits for its next attempt. */
async function end(call: Call, event: CallEvent, say: Say, context: CallContext, shell: Shell): Promise<Answer> {
  const { reply, transition } = conclude(call, { events: [event], say }, context, shell);
  const result = await commit(transition, shell);
  if (result.kind === 'committed') return { reply: withSeq(reply, result.seq), position: result.position };
  return answerStored(call.id, shell);
}

function sayDenied({ effectClass }: Call, denial: ResendDenial, { limits }: Shell): Say {
  return (envelope, effect) =>
    failed(envelope, { ...failureOfDenial(denial, effectClass), effect, maxMessageChars: limits.maxMessageChars });
}

/** A secret that cannot be had has a code of its own: no rule forbids the call. */
function failureOfDenial({ message, credential }: ResendDenial, effectClass: EffectClass) {
  if (credential === undefined) {
    const classification = classify('403_forbidden', undefined, effectClass);
    return { classification, errorType: 'PolicyDenied', message, retryAfterSeconds: null };
  }
  const classification = withCode(classify('401_unauthenticated', undefined, effectClass), 'CREDENTIAL_UNAVAILABLE');
  const { retryAfterSeconds } = credential;
  return { classification, errorType: 'CredentialUnavailable', message, retryAfterSeconds };
}
