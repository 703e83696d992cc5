/** What does whoever asks for a call that was asked for before get? Its reply, a refusal, or the wait for its end. */
import { replayed } from '../core/answer.ts';
import { isPending, type Reply } from '../core/reply.ts';
import type { StoredCall } from '../ports/store.ts';
import { type Admission, inFlight } from './admit.ts';
import { awaitElsewhere, awaitOutcome, isGone, type Requester } from './await-outcome.ts';
import { waitLeft } from './patience.ts';
import { storeUnavailable } from './refuse.ts';
import { type Asked, refusal, refuseAtTheDoor } from './say-no.ts';
import type { Shell } from './shell.ts';

export async function answerAdmission(
  admission: Exclude<Admission, { kind: 'new' | 'unadopted' }>,
  asked: Asked,
  shell: Shell,
): Promise<Reply> {
  switch (admission.kind) {
    case 'answered':
      return admission.reply;
    case 'refuse':
      return refuseAtTheDoor(admission.refusal, asked, shell);
    case 'unavailable':
      return storeUnavailable(refusal(asked.call, 'admit', {}, asked.request, null, shell), admission.fault);
    case 'under_way':
      return joinUnderWay(admission.call, admission.attached, asked, shell);
    default:
      return admission satisfies never;
  }
}

/** Its result for a caller who waits, `action_in_flight` for one who does not; an attached caller always waits. */
async function joinUnderWay(call: StoredCall, attached: boolean, asked: Asked, shell: Shell): Promise<Reply> {
  const { request, requester } = asked;
  if (!attached && request.waitMs === null) return refuseAtTheDoor(inFlight(call), asked, shell);
  const waiting: Requester = attached ? requester : { joined: requester.cancelled ?? requester.left };
  const { clock } = shell.ports;
  const waitMs = waitLeft(asked, shell);
  const until = clock.monotonicMs() + (waitMs ?? Math.max(0, call.deadlineAtMs - clock.nowMs()));
  const running = shell.live.running.get(call.id);
  if (running !== undefined) {
    const reply = await awaitOutcome(running, waitMs, waiting, shell);
    // An attempt that lost the call to another process has no outcome: it comes there, and whoever waits goes on waiting.
    if (!isPending(reply) || isGone(waiting)) return replayed(reply);
  }
  return replayed(await awaitElsewhere(call, Math.max(0, until - clock.monotonicMs()), waiting, shell));
}
