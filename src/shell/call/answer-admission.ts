/** Answers whoever asks for a call that was asked for before: with its reply, a refusal, or a wait for its end. */
import { replayed } from '../../core/call/answer.ts';
import { attachedReply } from '../../core/call/notices.ts';
import { isPending, isRefusal, type Reply } from '../../core/call/reply.ts';
import type { StoredCall } from '../../ports/store.ts';
import { type Admission, inFlight } from './admit.ts';
import { type Asked, waitLeft } from './asked.ts';
import { awaitElsewhere, awaitOutcome } from './await-outcome.ts';
import { isGone, type Requester } from './requester.ts';
import { storeUnavailable } from './record-refusal.ts';
import { refusal, refuseEarly } from './refuse.ts';
import type { Shell } from '../shell.ts';

type Found = Exclude<Admission, { kind: 'new' | 'unadopted' }>;

/** For a call that was found by its key, or that the gateway ran by itself. */
export async function answerAdmission(admission: Found, asked: Asked, shell: Shell): Promise<Reply> {
  switch (admission.kind) {
    case 'answered':
      return admission.reply;
    case 'refuse':
      return refuseEarly(admission.refusal, asked, shell);
    case 'unavailable':
      return storeUnavailable(refusal(asked.call, 'admit', {}, asked.request, null, shell), admission.fault);
    case 'under_way':
      if (!admission.attached && asked.request.waitMs === null)
        return refuseEarly(inFlight(admission.call), asked, shell);
      return replayed(await joinUnderWay(admission.call, admission.attached, asked, shell));
    default:
      return admission satisfies never;
  }
}

/** For a call whose requester's place was taken. Null if it came to nothing that answers for another: decide again. */
export async function answerAttached(admission: Found, asked: Asked, shell: Shell): Promise<Reply | null> {
  if (admission.kind !== 'under_way' || !admission.attached) return answerAdmission(admission, asked, shell);
  const reply = await joinUnderWay(admission.call, true, asked, shell);
  return isRefusal(reply) ? null : attachedReply(reply);
}

/** Its result, for a caller who waits; an attached caller always does. */
async function joinUnderWay(call: StoredCall, attached: boolean, asked: Asked, shell: Shell): Promise<Reply> {
  const { requester } = asked;
  const waiting: Requester = attached ? requester : { joined: requester.cancelled ?? requester.left };
  const { clock } = shell.ports;
  const waitMs = waitLeft(asked, shell);
  const until = clock.monotonicMs() + (waitMs ?? Math.max(0, call.deadlineAtMs - clock.nowMs()));
  const running = shell.live.running.get(call.id);
  if (running !== undefined) {
    const reply = await awaitOutcome(running, waitMs, waiting, shell, attached);
    // An attempt that lost the call to another process has no outcome: it comes there, and whoever waits goes on waiting.
    if (!isPending(reply) || isGone(waiting)) return reply;
  }
  return awaitElsewhere(call, Math.max(0, until - clock.monotonicMs()), waiting, shell, attached);
}
