/**
 * Was this asked before, under the same key? Then what became of it is the answer. Only what was never asked goes on to the gates.
 * Phase 1 of 6: handle-call.ts.
 */
import { replayed } from '../../core/call/answer.ts';
import type { CallId, Principal, Request } from '../../core/call/call.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import type { Reply } from '../../core/call/reply.ts';
import { invalidInput } from '../../core/gates/invalid-input.ts';
import type { StoredCall, StoreFault } from '../../ports/store.ts';
import { storedReply } from '../ending/stored-reply.ts';
import type { Shell } from '../shell.ts';

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
