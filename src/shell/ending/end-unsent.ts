/** Ends what was dispatched and provably never sent: too late, cancelled, or not recorded in time. */
import { type CancelScope, cancelled, failed, timedOut } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import type { CallEvent } from '../../core/call/lifecycle.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { classify } from '../../core/recovery/classify.ts';
import { interpretFailure } from '../attempt/interpret-result.ts';
import { stepOf, type Work } from '../attempt/work.ts';
import type { Answer, Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';
import { contextHere, envelopeOf } from './call-context.ts';
import { conclude } from './conclude.ts';
import type { Ending, Say } from './ending.ts';
import { settle } from './settle.ts';
import { withSeq } from './stored-reply.ts';

const notInTime = 'the gateway could not send it in time';

/** The gateway gives up sending it: its deadline has passed, or it could not be sent in its window. */
export function giveBack(call: Call, work: Work, shell: Shell): Promise<Answer> {
  const isLate = shell.ports.clock.nowMs() >= call.deadlineAtMs;
  const say: Say = isLate
    ? (envelope, effect) => timedOut(envelope, call.deadlineAtMs - call.createdAtMs, effect)
    : sayNeverSent(call, notInTime, shell);
  return endUnsent(call, work, unsent(call, { kind: 'expired' }, say, shell), shell);
}

export function stopUnsent(call: Call, work: Work, scope: CancelScope, shell: Shell): Promise<Answer> {
  const say: Say = (envelope, effect) => cancelled(envelope, scope, effect);
  return endUnsent(call, work, unsent(call, { kind: 'cancelled' }, say, shell), shell);
}

/** For an intent that may be on record although the store could not say so. */
export function endUnrecorded(call: Call, work: Work, shell: Shell) {
  const say = sayNeverSent(call, 'the store could not record the call in time', shell);
  return conclude(call, unsent(call, { kind: 'expired' }, say, shell), contextHere(work, shell), shell).transition;
}

async function endUnsent(call: Call, work: Work, ending: Ending, shell: Shell): Promise<Answer> {
  const { reply, transition } = conclude(call, ending, contextHere(work, shell), shell);
  const result = await commit(transition, shell);
  if (result.kind === 'committed') return { reply: withSeq(reply, result.seq), position: result.position };
  return settleUnsent(call, work, shell);
}

/**
 * The call has moved on, or its end could not be recorded. INVARIANT: whoever has not sent it says so once they can: a doubt that
 * another process has put on record ends with that.
 */
export async function settleUnsent(call: Call, work: Work, shell: Shell): Promise<Answer> {
  // Then its intent never was.
  if ((await shell.ports.store.call(call.id)) === null) {
    const effect = call.tainted ? 'unknown' : 'none';
    const reply = sayNeverSent(call, notInTime, shell)(envelopeOf(call, shell, stepOf(work)), effect);
    return { reply, position: null };
  }
  const failure = {
    kind: 'never_sent',
    subject: null,
    errorType: 'NeverSent',
    message: notInTime,
    effect: 'none',
    retryAfterSeconds: 1,
    code: null,
    cause: null,
  } as const;
  return settle(call, interpretFailure(call, failure, shell.limits), contextHere(work, shell), 0, shell);
}

function unsent(call: Call, event: CallEvent, say: Say, { ports }: Shell): Ending {
  return { events: [{ kind: 'withheld', attempt: call.attempt, atMs: ports.clock.nowMs() }, event], say };
}

function sayNeverSent({ effectClass }: Call, message: string, { limits }: Shell) {
  return (envelope: Parameters<Say>[0], effect: Parameters<Say>[1]): ErrorReply =>
    failed(envelope, {
      classification: classify('never_sent', undefined, effectClass),
      effect,
      errorType: 'NeverSent',
      message,
      retryAfterSeconds: 1,
      maxMessageChars: limits.maxMessageChars,
    });
}
