/**
 * Finds an earlier equal write whose requester is gone, and takes that requester's place. Only where a second effect is
 * possible: a read, or a call that provably had no effect, runs anew.
 */
import type { Call, SessionId } from '../../core/call/call.ts';
import { attachedReply } from '../../core/call/notices.ts';
import { isUnderWay } from '../../core/call/lifecycle.ts';
import type { Reply } from '../../core/call/reply.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import type { CallState } from '../../core/taxonomy.ts';
import type { CommitResult, StoredCall, StoreFault } from '../../ports/store.ts';
import { storedReply } from '../ending/stored-reply.ts';
import { bare, leaving, note, numbered } from '../ending/transition.ts';
import { wasResetSince } from '../session/position.ts';
import type { Shell } from '../shell.ts';
import { commit, keepForLater, mayBeApplied } from '../upkeep/commit.ts';
import { earlierEqual, handOver } from './hand-over.ts';
import type { Requester } from './requester.ts';

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
  // INVARIANT: no equal write runs while what this process knows of an earlier one is not on record: another process
  // may go by the record, and send that one.
  if (await isKeptForLater(call, session, shell)) return { kind: 'unavailable', fault: 'io' };
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

async function isKeptForLater({ id, fingerprint }: Call, session: SessionId, shell: Shell): Promise<boolean> {
  for (const { transition } of shell.live.unrecorded.slice()) {
    const change = transition.call;
    const about = change?.kind === 'mark' ? await shell.ports.store.call(change.id) : change?.call;
    const isEqual = about?.session === session && about.fingerprint === fingerprint;
    if (isEqual && about.id !== id) return true;
  }
  return false;
}

/** Nobody takes its place, and it must not stand before an older one that does answer. */
export function clear({ id }: StoredCall, shell: Shell): Promise<CommitResult> {
  return commit({ ...bare(shell), call: { kind: 'mark', id, requester: 'returned', repeats: 0 } }, shell);
}

/** Does whoever asks for the same get the outcome of this call, whose requester left, instead of one of their own? */
export async function answersEqual({ id, state, session, seq }: StoredCall, shell: Shell): Promise<boolean> {
  // Nothing came of it; or a person has signed that an equal one is sent anew.
  if (!mayHaveHappened(state) || state === 'CLOSED_UNKNOWN') return false;
  if (state !== 'SUCCEEDED' || session === null || shell.workflows.size === 0) return true;
  const walked = await shell.ports.store.session(session);
  if (walked === null || walked.workflow === null) return true;
  // Whoever goes on from there has its result; and whoever takes a session back to its beginning means to walk it
  // again.
  return walked.seq === seq && !(await wasResetSince(id, session, shell.ports.store));
}

export function mayHaveHappened(state: CallState): boolean {
  return isUnderWay(state) || state === 'SUCCEEDED' || state === 'IN_DOUBT' || state === 'CLOSED_UNKNOWN';
}

/** Nobody knows whether it happened, and whoever asked for it is gone: the same once more could be twice. */
export function fencedBy({ id, tool }: Pick<StoredCall, 'id' | 'tool'>): Refusal {
  return {
    error: 'fenced',
    class: 'Workflow',
    code: 'Fenced',
    message: `'${tool}' with these arguments is fenced: nobody knows yet whether call ${id}, whose caller gave it up, took effect. Other calls stay possible.`,
    resolution: { type: 'reconcile', call_id: id },
    blocking_call_id: id,
  };
}
