/**
 * A call was approved, and its caller asks again: the call that waits becomes theirs, and uses the approval up in the very commit
 * that makes its intent durable. Where an approver changed the arguments, theirs are sent, and the reply says so.
 */
import { isUnderWay } from '../core/lifecycle.ts';
import { type Approval, ended } from '../core/approval.ts';
import { editNotice } from '../core/approval-notice.ts';
import { replayed } from '../core/answer.ts';
import type { Call, CallId, SessionId } from '../core/call.ts';
import type { Facts } from '../core/facts.ts';
import type { Json } from '../core/json.ts';
import type { Notice, Reply } from '../core/reply.ts';
import { type Admission, attach, mayHaveHappened } from './admit.ts';
import { commit } from './commit.ts';
import { lapse } from './end-approval.ts';
import type { Asked } from './say-no.ts';
import { storedReply } from './settle.ts';
import type { Shell } from './shell.ts';
import { bare, note, type Papers } from './transition.ts';

export type Taken =
  | { readonly kind: 'taken'; readonly call: Call; readonly papers: Papers; readonly notices: readonly Notice[] }
  /** The same caller, with the arguments that were approved: the gates judge these. */
  | { readonly kind: 'edited'; readonly asked: Asked }
  /** It covers nothing any more: decide again. */
  | { readonly kind: 'moved' };

export async function takeWaiting(
  approval: Approval,
  call: Call,
  papers: Papers,
  asked: Asked,
  facts: Facts,
  shell: Shell,
): Promise<Taken> {
  const { edit } = approval;
  // Whoever sends what was approved, asked for it in that form or not, has it.
  const isAsApproved = edit === null || asked.under?.id === approval.id || facts.approval?.subject === edit.subject;
  if (!isAsApproved) {
    // Erased: nobody knows any more what was approved.
    if (edit.argsText === null) return { kind: 'moved' };
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
  const { session, turn, key, fingerprint, effectClass, deadlineAtMs } = call;
  const { id, attempt, owner, tainted, createdAtMs, dueAtMs, tenant, agent, tool, state } = waiting;
  const theirs: Call = {
    ...{ id, tenant, agent, tool, state, attempt, owner, tainted, createdAtMs, dueAtMs },
    ...{ session, turn, key, fingerprint, effectClass, deadlineAtMs },
  };
  const notices = asked.asked === undefined ? [] : [editNotice(approval, asked.asked, asked.request.args)];
  const body = {
    approval: approval.id,
    approved_by: approval.votes.map(({ by }) => by),
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
    const attached = await attach(asked.call, session, shell);
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
