/**
 * A call was approved, and its caller asks again: the call that waits becomes theirs, and uses the approval up in the very commit
 * that makes its intent durable. Where an approver changed the arguments, theirs are sent, and the reply says so.
 */
import { isUnderWay } from '../../core/call/lifecycle.ts';
import { type Approval, ended, stateAt } from '../../core/approval/approval.ts';
import { editNotice } from '../../core/approval/approval-notice.ts';
import { refused, replayed } from '../../core/call/answer.ts';
import type { Call, CallId, SessionId } from '../../core/call/call.ts';
import type { Decision } from '../../core/call/decide.ts';
import type { Facts } from '../../core/gates/facts.ts';
import type { MetBy } from '../../core/gates/gate.ts';
import type { Json } from '../../core/values/json.ts';
import { voided } from '../../core/policy/policy-refusal.ts';
import type { ErrorReply, Notice, Reply } from '../../core/call/reply.ts';
import type { StoredCall } from '../../ports/store.ts';
import { type Admission, answersEqual, attach, clear, inFlight, mayHaveHappened } from '../call/admit.ts';
import { commit } from '../upkeep/commit.ts';
import { lapse } from './end-approval.ts';
import type { Requester } from '../call/requester.ts';
import type { Asked } from '../call/say-no.ts';
import { storedReply } from '../ending/stored-reply.ts';
import type { Shell } from '../shell.ts';
import { bare, note, type CommitParts } from '../ending/transition.ts';

export type Taken =
  | { readonly kind: 'taken'; readonly call: Call; readonly papers: CommitParts; readonly notices: readonly Notice[] }
  /** The same caller, with the arguments that were approved: the gates judge these. */
  | { readonly kind: 'edited'; readonly asked: Asked }
  /** It covers nothing any more: decide again. */
  | { readonly kind: 'moved' };

export const metBy = ({ approval }: Extract<Decision, { kind: 'run' }>, { under }: Asked): MetBy | null =>
  approval ?? (under === undefined ? null : { kind: 'granted', approval: under });

/**
 * What is said instead of running a call that nobody asks for; null if it may go on. INVARIANT: it runs under its own approval alone,
 * opens no other, and never takes the place of an earlier equal call whose requester is gone: whoever comes back gets that outcome.
 */
export async function whyNotAlone(
  decision: Decision,
  { only, ...asked }: Asked,
  session: SessionId | null,
  shell: Shell,
): Promise<ErrorReply | null> {
  if (only === undefined || session === null || decision.kind === 'refuse' || decision.kind === 'need') return null;
  const { id, tool, key } = asked.call;
  const envelope = { requested: tool, callId: id, session, nextActions: [] };
  const met = decision.kind === 'run' ? metBy(decision, asked) : null;
  if (met?.kind !== 'granted' || met.approval.id !== only.id)
    return refused(envelope, voided(tool, only, 'is void: the rules it was bound to have changed'));
  if (key !== null || decision.kind !== 'run' || decision.tool.effectClass === 'pure') return null;
  const earlier = await leftBehind(asked.call, session, shell);
  return earlier === null ? null : refused(envelope, inFlight(earlier));
}

/** An earlier equal call that answers for this one, and whose requester is gone; null without one. */
async function leftBehind(call: Call, session: SessionId, shell: Shell): Promise<StoredCall | null> {
  const { ports, limits } = shell;
  const earlier = await ports.store.abandoned(session, call.fingerprint, limits.attachWindowMs);
  if (earlier === null || (await answersEqual(earlier, shell))) return earlier;
  // What only waits, came to nothing or was left behind must not stand before an older one that happened.
  const cleared = await clear(earlier, shell);
  return cleared.kind === 'committed' ? leftBehind(call, session, shell) : earlier;
}

/**
 * Takes the place of a requester who left. INVARIANT: an approval whose caller gets the outcome of an earlier equal call ends before
 * they get it; otherwise another process could run it as soon as that place is taken.
 */
export async function attachUnder(
  met: Extract<MetBy, { kind: 'granted' }> | null,
  call: Call,
  session: SessionId,
  requester: Requester,
  shell: Shell,
): Promise<Exclude<Admission, { kind: 'unadopted' }>> {
  const earlier = met === null || call.effectClass === 'pure' ? null : await leftBehind(call, session, shell);
  // What is in doubt has answered nobody: until it is settled nothing runs, and what was approved stays.
  if (met !== null && earlier !== null && earlier.state !== 'IN_DOUBT') {
    const lapsed = await lapse(met.approval, shell, 'an earlier equal call has answered its caller');
    if (lapsed === 'store_unavailable') return { kind: 'unavailable', fault: 'io' };
  }
  return attach(call, session, requester, shell);
}

export async function takeWaiting(
  approval: Approval,
  call: Call,
  papers: CommitParts,
  asked: Asked,
  facts: Facts,
  shell: Shell,
): Promise<Taken> {
  const { edit } = approval;
  // Whoever sends what was approved, asked for it in that form or not, has it.
  const isAsApproved = edit === null || asked.under?.id === approval.id || facts.approval?.subject === edit.subject;
  if (!isAsApproved) {
    if (edit.argsText === null) {
      await lapse(approval, shell, 'what was approved has been erased');
      return { kind: 'moved' };
    }
    const args = JSON.parse(edit.argsText) as Json;
    return {
      kind: 'edited',
      asked: {
        ...asked,
        request: { ...asked.request, args, argsText: edit.argsText },
        under: approval,
        asked: asked.request.args,
      },
    };
  }
  const waiting = await shell.ports.store.call(approval.callId);
  if (waiting === null || waiting.state !== 'AWAITING_APPROVAL') return { kind: 'moved' };
  // INVARIANT: one that ran out while the gates were asked covers nothing.
  if (stateAt(approval, shell.ports.clock.nowMs()) !== 'granted') return { kind: 'moved' };
  const { id, state, attempt, owner, tainted, createdAtMs, dueAtMs } = waiting;
  const theirs: Call = { ...call, id, state, attempt, owner, tainted, createdAtMs, dueAtMs };
  const notices = asked.asked === undefined ? [] : [editNotice(approval, asked.asked, asked.request.args)];
  const body = {
    approval: approval.id,
    approved_by: approval.votes.map(({ by }) => by),
    // Of several who ask at once, whose it has become.
    asked_as: call.id,
    // Whichever process ends the call, its reply says what was changed.
    ...(notices.length === 0 ? {} : { notices: notices as unknown as Json }),
  };
  return {
    kind: 'taken',
    call: theirs,
    papers: {
      ...papers,
      key: papers.key === null || papers.key === undefined ? null : { ...papers.key, callId: id },
      workflow: papers.workflow === null || papers.workflow === undefined ? null : { ...papers.workflow, call: id },
      // INVARIANT: the right to run and the approval are taken together or not at all.
      approvals: [{ approval: ended(approval, 'used', null), expect: approval.version, maxPending: null }],
      notes: [...(papers.notes ?? []), note('approval_used', theirs, body)],
    },
    notices,
  };
}

/** Whether it was this asker who took the waiting call over: their commit may have been applied without a word of it. */
export async function hasTaken(id: CallId, asked: CallId, shell: Shell): Promise<boolean> {
  const used = (await shell.ports.store.recordsOf(id)).find(({ kind }) => kind === 'approval_used');
  return used !== undefined && (JSON.parse(used.body) as { asked_as?: CallId }).asked_as === asked;
}

/** The outcome of a call that ran under this approval and is this caller's. Null if somebody else has taken it meanwhile. */
export async function outcomeFor(
  id: CallId,
  asked: Asked,
  session: SessionId,
  facts: Facts,
  shell: Shell,
): Promise<Exclude<Admission, { kind: 'new' | 'unadopted' }> | null> {
  const ranByItself = facts.approval?.found?.terms.onApprove === 'run';
  if (!ranByItself) {
    const attached = await attach(asked.call, session, asked.requester, shell);
    return attached.kind === 'new' ? null : attached;
  }
  const call = await shell.ports.store.call(id);
  if (call === null) return null;
  if (isUnderWay(call.state)) return { kind: 'under_way', call, attached: false };
  const reply: Reply = replayed(await storedReply(call, shell));
  if (!mayHaveHappened(call.state)) {
    // What had no effect is told once: who asks again after that asks for another call.
    const mark = { kind: 'mark', id, requester: 'returned', repeats: 0 } as const;
    const told = await commit({ ...bare(shell), call: mark }, shell);
    if (told.kind === 'unavailable') return { kind: 'unavailable', fault: told.fault };
    if (told.kind === 'conflict') return null;
  }
  return { kind: 'answered', reply };
}

/** The approval that was found for a call that may not run as it was approved. */
export async function voidApproval({ approval }: Facts, shell: Shell): Promise<void> {
  const found = approval?.found ?? null;
  if (found !== null) await lapse(found, shell, 'the evidence it was bound to has changed');
}
