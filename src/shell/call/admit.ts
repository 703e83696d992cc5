/**
 * Looks up the key of a call. If it was used before, the earlier call answers: with its reply, a refusal, or a wait for
 * its end. Only a call that was never asked goes on to the gates. Phase 1 of 6: handle-call.ts.
 */
import { replayed } from '../../core/call/answer.ts';
import type { CallId, Principal, Request } from '../../core/call/call.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import { type Reply, isPending, isRefusal } from '../../core/call/reply.ts';
import { invalidInput } from '../../core/gates/invalid-input.ts';
import type { StoredCall } from '../../ports/store.ts';
import { storedReply } from '../ending/stored-reply.ts';
import type { Shell } from '../shell.ts';
import { continuedBy } from '../ticket/continued-by.ts';
import { type Admission, fencedBy } from './attach.ts';
import { attachedReply } from '../../core/call/notices.ts';
import { type Asked, waitLeft } from './asked.ts';
import { answersForAnother, awaitElsewhere, awaitOutcome } from './await-outcome.ts';
import { isGone, type Requester } from './requester.ts';
import { storeUnavailable } from './record-refusal.ts';
import { atAdmission, refusal, refuseEarly } from './refuse.ts';

export async function admitByKey(
  request: Request,
  fingerprint: string,
  who: Principal,
  shell: Shell,
): Promise<Admission> {
  if (request.key === null) return { kind: 'new' };
  const claim = await shell.ports.store.key(who.tenant, who.agent, request.key);
  return claim === null ? { kind: 'new' } : claimedBy(claim, request, fingerprint, shell);
}

export async function claimedBy(
  claim: { readonly callId: CallId; readonly fingerprint: string },
  request: Request,
  fingerprint: string,
  shell: Shell,
): Promise<Admission> {
  if (claim.fingerprint !== fingerprint) return { kind: 'refuse', refusal: keyReused(request) };
  const call = await continuationOf(claim.callId, shell);
  // The key row outlived its call: nothing to repeat, nothing to answer with.
  if (call === null) return { kind: 'new' };
  if (isUnderWay(call.state)) return { kind: 'under_way', call, attached: false };
  const isLast = !(await isUnadopted(call, shell));
  const reply = replayed(await storedReply(isLast ? await adopterOf(call, shell) : call, shell));
  return { kind: isLast ? 'answered' : 'unadopted', reply };
}

/** A key whose call failed and goes on for a ticket answers as the call that goes on. */
async function continuationOf(id: CallId, shell: Shell): Promise<StoredCall | null> {
  const call = await shell.ports.store.call(id);
  const next = call?.state === 'FAILED' ? await continuedBy(call, shell) : null;
  return next ?? call;
}

/** INVARIANT: a key whose step was adopted answers with the reply of the adoption, which tells where the state went. */
async function adopterOf(call: StoredCall, shell: Shell): Promise<StoredCall> {
  if (call.state !== 'SUCCEEDED' || call.session === null || shell.workflows.size === 0) return call;
  for (const { kind, body } of await shell.ports.store.recordsOf(call.id)) {
    const { by } = kind === 'adopted' ? (JSON.parse(body) as { by?: CallId }) : {};
    if (by !== undefined) return (await shell.ports.store.call(by)) ?? call;
  }
  return call;
}

async function isUnadopted({ id, state, session }: StoredCall, shell: Shell): Promise<boolean> {
  if (state !== 'SUCCEEDED' || session === null || shell.workflows.size === 0) return false;
  return (await shell.ports.store.fences(session)).some(({ call }) => call.id === id);
}

function keyReused(request: Request): Refusal {
  const errors = [
    { path: '/key', expected: 'a new key, because this one was used for another call', got: request.key },
  ];
  return invalidInput(request.tool, errors, 'KeyReused');
}

export function inFlight(call: StoredCall): Refusal {
  return {
    error: 'action_in_flight',
    class: 'Workflow',
    code: 'ActionInFlight',
    message: `call ${call.id} with the same key is under way; wait for it instead of sending it again.`,
    resolution: { type: 'retry_after', retry_after_seconds: 1 },
    in_flight_call_id: call.id,
  };
}

type Found = Exclude<Admission, { kind: 'new' | 'unadopted' }>;

/** For a call that was found by its key, or that the gateway ran by itself. */
export async function answerAdmission(admission: Found, asked: Asked, shell: Shell): Promise<Reply> {
  switch (admission.kind) {
    case 'answered':
      return admission.reply;
    case 'refuse':
      return refuseEarly(admission.refusal, asked, shell);
    case 'unavailable':
      return storeUnavailable(refusal(asked.call, atAdmission, asked.request, null, shell), admission.fault);
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
  if (answersForAnother(reply)) return attachedReply(reply);
  // INVARIANT: decided here, because the record may not say yet that its requester's place is free again.
  const isUnknown = isRefusal(reply) && reply.effect === 'unknown';
  return isUnknown ? refuseEarly(fencedBy(admission.call), asked, shell) : null;
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
    // An attempt that lost the call to another process has no outcome: it comes there, and whoever waits goes on
    // waiting.
    if (!isPending(reply) || isGone(waiting)) return reply;
  }
  return awaitElsewhere(call, Math.max(0, until - clock.monotonicMs()), waiting, shell, attached);
}
