/** Ends what was dispatched and provably never sent: too late, cancelled, or not recorded in time. */
import { type CancelScope, cancelled, failed, timedOut } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { CallEvent } from '../../core/call/lifecycle.ts';
import { classify } from '../../core/recovery/classify.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import type { Transition } from '../../ports/store.ts';
import { commit } from '../upkeep/commit.ts';
import { envelopeOf, settle } from './settle.ts';
import type { Answer, Shell } from '../shell.ts';
import { givingBack, toTransition } from './transition.ts';
import { weighFailure } from '../attempt/weigh.ts';
import { chain, stepOf, type Work } from '../attempt/work.ts';

const notInTime = 'the gateway could not send it in time';

/** Ends an attempt that was dispatched and provably never sent. */
export async function giveBack(call: Call, work: Work, shell: Shell): Promise<Answer> {
  if (shell.ports.clock.nowMs() >= call.deadlineAtMs) {
    const effect = call.tainted ? 'unknown' : 'none';
    const reply = timedOut(envelopeOf(call, shell, stepOf(work)), call.deadlineAtMs - call.createdAtMs, effect);
    return endUnsent(call, work, { kind: 'expired' }, reply, shell);
  }
  const reply = neverSent(call, work, notInTime, shell);
  return endUnsent(call, work, { kind: 'expired' }, reply, shell);
}

export async function stopUnsent(call: Call, work: Work, scope: CancelScope, shell: Shell): Promise<Answer> {
  const reply = cancelled(envelopeOf(call, shell, stepOf(work)), scope, call.tainted ? 'unknown' : 'none');
  return endUnsent(call, work, { kind: 'cancelled' }, reply, shell);
}

async function endUnsent(call: Call, work: Work, event: CallEvent, reply: ErrorReply, shell: Shell): Promise<Answer> {
  const result = await commit(unsentEnding(call, work, event, reply, shell), shell);
  if (result.kind === 'committed') return { reply, position: result.position };
  return settleUnsent(call, work, shell);
}

/**
 * The call has moved on, or its end could not be recorded. INVARIANT: whoever has not sent it says so once they can: a doubt that
 * another process has put on record ends with that.
 */
export async function settleUnsent(call: Call, work: Work, shell: Shell): Promise<Answer> {
  // Then its intent never was.
  if ((await shell.ports.store.call(call.id)) === null)
    return { reply: neverSent(call, work, notInTime, shell), position: null };
  const weighed = weighFailure(
    call,
    {
      kind: 'never_sent',
      subject: null,
      errorType: 'NeverSent',
      message: notInTime,
      effect: 'none',
      retryAfterSeconds: 1,
      code: null,
      cause: null,
    },
    shell.limits,
  );
  return settle(call, weighed, stepOf(work), shell, 0);
}

export function unsentEnding(call: Call, work: Work, event: CallEvent, reply: ErrorReply, shell: Shell): Transition {
  const ended = chain(call, [{ kind: 'withheld', attempt: call.attempt, atMs: shell.ports.clock.nowMs() }, event]);
  const payloads = [{ part: 'reply', text: canonicalText(reply) }];
  const workflow = work.step === null ? null : givingBack(ended.call, call.state);
  const papers = { workflow, payloads: { settled: payloads, doubted: payloads, cancelled: payloads } };
  return toTransition(call, ended.call, ended.effects, papers, shell);
}

export function neverSent(call: Call, work: Work, message: string, shell: Shell): ErrorReply {
  return failed(envelopeOf(call, shell, stepOf(work)), {
    classification: classify('never_sent', undefined, call.effectClass),
    effect: call.tainted ? 'unknown' : 'none',
    errorType: 'NeverSent',
    message,
    retryAfterSeconds: 1,
    maxMessageChars: shell.limits.maxMessageChars,
  });
}
