/**
 * Ends an approval, and with it the call that waits for it, in one commit: by a person's word, by time, or because it covers
 * nothing any more. Nothing of the call was sent, whichever way it ends.
 */
import { cancelled, type CancelScope, type Envelope, failed, refused } from '../../core/call/answer.ts';
import { type Approval, ended, isLive, stateAt } from '../../core/approval/approval.ts';
import type { Json } from '../../core/values/json.ts';
import type { RecordKind } from '../../core/journal/record.ts';
import type { CallEvent } from '../../core/call/lifecycle.ts';
import { deniedByPerson, voided } from '../../core/policy/policy-refusal.ts';
import { classify } from '../../core/recovery/classify.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import { commit, nobodyWaits } from '../upkeep/commit.ts';
import { concludeElsewhere } from '../ending/conclude.ts';
import type { Ending } from '../ending/ending.ts';
import type { Shell } from '../shell.ts';
import { bare, note, numbered } from '../ending/transition.ts';

/** How it ends. `cancelled`: the caller gave the call up. */
export type ApprovalEnd =
  | {
      readonly kind: 'denied' | 'revoked';
      readonly by: string;
      readonly client?: string;
      readonly reason: string | null;
    }
  | { readonly kind: 'expired' }
  /** `why` is for the record and for whoever asks for the call. */
  | { readonly kind: 'void'; readonly why: string }
  | { readonly kind: 'cancelled'; readonly scope: CancelScope };

export type Ended =
  | { readonly kind: 'ended'; readonly approval: Approval }
  /** Somebody else was faster. */
  | { readonly kind: 'moved' }
  | { readonly kind: 'store_unavailable' };

export async function endApproval(approval: Approval, end: ApprovalEnd, shell: Shell): Promise<Ended> {
  const atMs = shell.ports.clock.nowMs();
  const decided = end.kind === 'denied' || end.kind === 'revoked' ? { by: end.by, atMs, reason: end.reason } : null;
  const state = end.kind === 'cancelled' ? 'void' : end.kind;
  const next = ended(approval, state, decided);
  const call = await shell.ports.store.call(approval.callId);
  const about = { approval: approval.id, became: state, ...wordsOf(end) };
  const approvals = [{ approval: next, expect: approval.version, maxPending: null }];
  const waits = call !== null && call.state === 'AWAITING_APPROVAL';
  const notes = call === null ? [] : [note(recordOf(end), call, about)];
  const ending: Ending = {
    events: [eventOf(end)],
    say: (envelope) => replyTo(call?.effectClass ?? 'plain', next, end, envelope, shell),
    record: () => about,
    notes: () => notes,
    parts: { approvals },
  };
  const concluded = waits ? await concludeElsewhere(call, ending, shell) : null;
  const transition = concluded?.transition ?? {
    ...bare(shell),
    approvals,
    ...(call === null ? {} : { session: numbered(call), records: notes }),
  };
  const result = await commit(transition, shell);
  nobodyWaits(result, shell);
  if (result.kind === 'unavailable') return { kind: 'store_unavailable' };
  if (result.kind === 'conflict') return { kind: 'moved' };
  wake(approval.id, shell);
  return { kind: 'ended', approval: next };
}

/** One that covers nothing: past its time, or bound to what is no more. Not live: there is nothing to end. */
export async function lapse(
  approval: Approval,
  shell: Shell,
  why = 'the rules or the evidence it was bound to have changed',
): Promise<'lapsed' | 'not_live' | 'store_unavailable'> {
  if (!isLive(approval)) return 'not_live';
  const isLate = stateAt(approval, shell.ports.clock.nowMs()) === 'expired';
  const ending = await endApproval(approval, isLate ? { kind: 'expired' } : { kind: 'void', why }, shell);
  return ending.kind === 'store_unavailable' ? ending.kind : 'lapsed';
}

function eventOf(end: ApprovalEnd): CallEvent {
  switch (end.kind) {
    case 'denied':
    case 'revoked':
      return { kind: 'rejected' };
    case 'expired':
      return { kind: 'expired' };
    case 'void':
      return { kind: 'refused' };
    case 'cancelled':
      return { kind: 'cancelled' };
    default:
      return unreachable(end);
  }
}

function recordOf(end: ApprovalEnd): RecordKind {
  switch (end.kind) {
    case 'denied':
      return 'approval_denied';
    case 'revoked':
      return 'approval_revoked';
    case 'expired':
      return 'approval_expired';
    case 'void':
    case 'cancelled':
      return 'approval_voided';
    default:
      return unreachable(end);
  }
}

function wordsOf(end: ApprovalEnd): Readonly<Record<string, Json>> {
  switch (end.kind) {
    case 'denied':
    case 'revoked':
      return { by: end.by, reason: end.reason, ...(end.client === undefined ? {} : { client: end.client }) };
    case 'expired':
      return {};
    case 'void':
      return { why: end.why };
    case 'cancelled':
      return { why: 'the call was cancelled' };
    default:
      return unreachable(end);
  }
}

function replyTo(
  effectClass: EffectClass,
  approval: Approval,
  end: ApprovalEnd,
  envelope: Envelope,
  shell: Shell,
): ErrorReply {
  const tool = approval.tool;
  switch (end.kind) {
    case 'denied':
      return refused(envelope, deniedByPerson(tool, approval));
    case 'revoked':
      return refused(envelope, voided(tool, approval, `was revoked by ${end.by}`));
    case 'void':
      return refused(envelope, voided(tool, approval, `is void: ${end.why}`));
    case 'cancelled':
      return cancelled(envelope, end.scope, 'none');
    case 'expired':
      return failed(envelope, {
        classification: classify('never_sent', undefined, effectClass),
        effect: 'none',
        errorType: 'ApprovalExpired',
        message: `approval ${approval.id} ran out of time; ask again if it still matters`,
        retryAfterSeconds: null,
        maxMessageChars: shell.limits.maxMessageChars,
      });
    default:
      return unreachable(end);
  }
}

/** Tells those who wait for it in this process; the others look for themselves. */
export function wake(id: Approval['id'], { live }: Shell): void {
  for (const look of live.approvalWaiters.get(id) ?? []) look();
}
