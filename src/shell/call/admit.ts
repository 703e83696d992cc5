/**
 * Was this asked before? By its key, or, without one, as an equal write of a requester who is gone. Whatever is
 * found answers for the call; only what was never asked goes on to the gates.
 */
import { replayed } from '../../core/call/answer.ts';
import type { Call, CallId, Principal, Request, SessionId } from '../../core/call/call.ts';
import { attachedReply } from '../../core/call/earlier-result.ts';
import { invalidInput } from '../../core/gates/invalid-input.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { CallState } from '../../core/taxonomy.ts';
import type { CommitResult, StoredCall, StoreFault } from '../../ports/store.ts';
import { commit, keepForLater, mayBeApplied } from '../upkeep/commit.ts';
import { earlierEqual, handOver } from './hand-over.ts';
import { wasResetSince } from '../look/history.ts';
import type { Requester } from './requester.ts';
import { storedReply } from '../ending/stored-reply.ts';
import type { Shell } from '../shell.ts';
import { bare, leaving, note, numbered } from '../ending/transition.ts';

export type Admission =
  | { readonly kind: 'new' }
  | { readonly kind: 'answered'; readonly reply: Reply }
  /** The same call is under way: wait for it, or say so. `attached` means the caller took the requester's place. */
  | { readonly kind: 'under_way'; readonly call: StoredCall; readonly attached: boolean }
  /** A step with this key was in doubt, took effect after all, and has not moved its workflow: the gates decide. */
  | { readonly kind: 'unadopted'; readonly reply: Reply }
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  /** Whether the caller took the requester's place could not be recorded, so nothing may run in its place. */
  | { readonly kind: 'unavailable'; readonly fault: StoreFault };

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
  const call = await shell.ports.store.call(claim.callId);
  // The key row outlived its call: nothing to repeat, nothing to answer with.
  if (call === null) return { kind: 'new' };
  if (isUnderWay(call.state)) return { kind: 'under_way', call, attached: false };
  const isLast = !(await isUnadopted(call, shell));
  const reply = replayed(await storedReply(isLast ? await adopterOf(call, shell) : call, shell));
  return { kind: isLast ? 'answered' : 'unadopted', reply };
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

/** How long ago the requester of an equal call may have left to be in the way of this one; null: nobody is. */
export const attachableWithin = ({ effectClass }: Call, { limits }: Shell): number | null =>
  effectClass === 'pure' ? null : limits.attachWindowMs;

/** Only where a second effect could be: a read, or a call that provably had none, simply runs anew. */
export async function attach(
  call: Call,
  session: SessionId,
  requester: Requester,
  shell: Shell,
): Promise<Exclude<Admission, { kind: 'unadopted' }>> {
  if (call.effectClass === 'pure') return { kind: 'new' };
  const known = await earlierEqual(call, requester, shell);
  if (known.kind === 'unrecorded') return { kind: 'unavailable', fault: 'io' };
  if (known.kind === 'own') {
    const own = await shell.ports.store.call(known.call.id);
    if (own?.state === 'IN_DOUBT') return { kind: 'refuse', refusal: fencedBy(own) };
    known.release();
    return attach(call, session, requester, shell);
  }
  const earlier = await shell.ports.store.abandoned(session, call.fingerprint, shell.limits.attachWindowMs);
  if (earlier === null) return { kind: 'new' };
  if (!(await answersEqual(earlier, shell))) {
    const cleared = await clear(earlier, shell);
    if (cleared.kind === 'unavailable') return { kind: 'unavailable', fault: cleared.fault };
    return attach(call, session, requester, shell);
  }
  // INVARIANT: what is in doubt answers for nobody, and nobody takes its place: it stays fenced until it is settled.
  if (earlier.state === 'IN_DOUBT') return { kind: 'refuse', refusal: fencedBy(earlier) };
  const result = await commit(
    {
      ...bare(shell),
      call: { kind: 'mark', id: earlier.id, requester: 'returned', repeats: 0 },
      session: numbered(earlier),
      records: [note('attached', earlier, { state: earlier.state })],
    },
    shell,
  );
  if (result.kind === 'unavailable') {
    // INVARIANT: the place stays free on record, for the same caller asks again.
    if (mayBeApplied(result.fault)) keepForLater(leaving(earlier, shell), shell);
    return { kind: 'unavailable', fault: result.fault };
  }
  // Somebody else attached first: live equal calls are separate calls. But an older one may be left.
  if (result.kind !== 'committed') return attach(call, session, requester, shell);
  if (isUnderWay(earlier.state)) return { kind: 'under_way', call: earlier, attached: true };
  handOver(earlier, result.position, requester, shell);
  return { kind: 'answered', reply: attachedReply(await storedReply(earlier, shell)) };
}

/** Nobody takes its place, and it must not stand before an older one that does answer. */
export function clear({ id }: StoredCall, shell: Shell): Promise<CommitResult> {
  return commit({ ...bare(shell), call: { kind: 'mark', id, requester: 'returned', repeats: 0 } }, shell);
}

/** Nobody knows whether it happened, and whoever asked for it is gone: the same once more could be twice. */
function fencedBy({ id, tool }: StoredCall): Refusal {
  return {
    error: 'fenced',
    class: 'Workflow',
    code: 'Fenced',
    message: `'${tool}' with these arguments is fenced: nobody knows yet whether call ${id}, whose caller gave it up, took effect. Other calls stay possible.`,
    resolution: { type: 'reconcile', call_id: id },
    blocking_call_id: id,
  };
}

/** Does whoever asks for the same get the outcome of this call, whose requester left, instead of one of their own? */
export async function answersEqual({ id, state, session, seq }: StoredCall, shell: Shell): Promise<boolean> {
  // Nothing came of it; or a person has signed that an equal one is sent anew.
  if (!mayHaveHappened(state) || state === 'CLOSED_UNKNOWN') return false;
  if (state !== 'SUCCEEDED' || session === null || shell.workflows.size === 0) return true;
  const walked = await shell.ports.store.session(session);
  if (walked === null || walked.workflow === null) return true;
  // Whoever goes on from there has its result; and whoever takes a session back to its beginning means to walk it again.
  return walked.seq === seq && !(await wasResetSince(id, session, shell.ports.store));
}

export function mayHaveHappened(state: CallState): boolean {
  return isUnderWay(state) || state === 'SUCCEEDED' || state === 'IN_DOUBT' || state === 'CLOSED_UNKNOWN';
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
