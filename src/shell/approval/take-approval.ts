/**
 * Takes over the waiting call when its caller asks again after approval; the commit that makes the intent durable uses
 * the approval up. Edited arguments are sent in place of the caller's own, and the reply says so. Also checks runs that
 * no caller asks for.
 */
import { type Approval, stateAt } from '../../core/approval/approval.ts';
import { editNotice } from '../../core/approval/approval-view.ts';
import { refused } from '../../core/call/answer.ts';
import type { Call, CallId, SessionId } from '../../core/call/call.ts';
import type { Decision } from '../../core/call/decide.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import type { Facts } from '../../core/gates/facts.ts';
import { voided } from '../../core/policy/policy-refusal.ts';
import type { Json } from '../../core/values/json.ts';
import type { StoredCall } from '../../ports/store.ts';
import { inFlight } from '../call/admit.ts';
import { type Asked, approvalMetBy } from '../call/asked.ts';
import { answersEqual, clear } from '../call/attach.ts';
import type { UsedApproval } from '../call/intent.ts';
import type { Shell } from '../shell.ts';
import { expireOrVoid } from './end-approval.ts';

export type Taken =
  /** The waiting call, now this caller's, with the approval that it uses up. */
  | { readonly kind: 'taken'; readonly call: Call; readonly uses: UsedApproval }
  /** The same call with the arguments that were approved: ask the gates about these. */
  | { readonly kind: 'edited'; readonly asked: Asked }
  /** It covers nothing any more: decide again. */
  | { readonly kind: 'void' };

/**
 * The refusal of a run that no caller asks for; null if it may go on. INVARIANT: it runs under its own approval alone,
 * opens no other, and never replaces an earlier equal call whose requester left: whoever comes back gets that outcome.
 */
export async function refuseUnattended(
  decision: Decision,
  { only, ...asked }: Asked,
  session: SessionId | null,
  shell: Shell,
): Promise<ErrorReply | null> {
  if (only === undefined || session === null || decision.kind === 'refuse' || decision.kind === 'need') return null;
  const { id, tool, key } = asked.call;
  const envelope = { requested: tool, callId: id, session, nextActions: [] };
  const met = decision.kind === 'run' ? approvalMetBy(decision, asked) : null;
  if (met?.kind !== 'granted' || met.approval.id !== only.id)
    return refused(envelope, voided(tool, only, 'is void: the rules it was bound to have changed'));
  if (key !== null || decision.kind !== 'run' || decision.tool.effectClass === 'pure') return null;
  const earlier = await findAbandonedCall(asked.call, session, shell);
  return earlier === null ? null : refused(envelope, inFlight(earlier));
}

/** An earlier equal call whose outcome answers this one, and whose requester left; null without one. */
export async function findAbandonedCall(call: Call, session: SessionId, shell: Shell): Promise<StoredCall | null> {
  const { ports, limits } = shell;
  const earlier = await ports.store.abandoned(session, call.fingerprint, limits.attachWindowMs);
  if (earlier === null || (await answersEqual(earlier, shell))) return earlier;
  // A call without an outcome must not hide an older one that has one.
  const cleared = await clear(earlier, shell);
  return cleared.kind === 'committed' ? findAbandonedCall(call, session, shell) : earlier;
}

export async function takeApproval(
  approval: Approval,
  call: Call,
  asked: Asked,
  facts: Facts,
  shell: Shell,
): Promise<Taken> {
  const { edit } = approval;
  // It also counts if the caller sends the edited arguments of its own accord.
  const isAsApproved = edit === null || asked.under?.id === approval.id || facts.approval?.subject === edit.subject;
  if (!isAsApproved) return withEditedArgs(approval, edit.argsText, asked, shell);
  const waiting = await shell.ports.store.call(approval.callId);
  if (waiting === null || waiting.state !== 'AWAITING_APPROVAL') return { kind: 'void' };
  // INVARIANT: an approval that expired while the gates were asked covers nothing.
  if (stateAt(approval, shell.ports.clock.nowMs()) !== 'granted') return { kind: 'void' };
  const { id, state, attempt, owner, tainted, createdAtMs, dueAtMs } = waiting;
  const theirs: Call = { ...call, id, state, attempt, owner, tainted, createdAtMs, dueAtMs };
  const { own, request } = asked;
  const notices = own === undefined ? [] : [editNotice(approval, own.request.args, request.args)];
  return { kind: 'taken', call: theirs, uses: { approval, askedAs: call.id, notices } };
}

async function withEditedArgs(approval: Approval, argsText: string | null, asked: Asked, shell: Shell): Promise<Taken> {
  if (argsText === null) {
    await expireOrVoid(approval, shell, 'what was approved has been erased');
    return { kind: 'void' };
  }
  const request = { ...asked.request, args: JSON.parse(argsText) as Json, argsText };
  return { kind: 'edited', asked: { ...asked, request, under: approval, own: asked } };
}

/** Whether this caller took the waiting call over: their commit may have been applied without an answer. */
export async function hasTakenOver(id: CallId, asked: CallId, shell: Shell): Promise<boolean> {
  const used = (await shell.ports.store.recordsOf(id)).find(({ kind }) => kind === 'approval_used');
  return used !== undefined && (JSON.parse(used.body) as { asked_as?: CallId }).asked_as === asked;
}

/** Ends the approval of a call whose evidence has changed since it was approved. */
export async function voidForEvidence({ approval }: Facts, shell: Shell): Promise<void> {
  const found = approval?.found ?? null;
  if (found !== null) await expireOrVoid(found, shell, 'the evidence it was bound to has changed');
}
