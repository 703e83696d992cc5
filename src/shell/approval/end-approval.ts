/**
 * Ends an approval and the call that waits for it in one commit: denied, revoked, expired, void or cancelled. Nothing
 * of the call was sent. Also voids the approvals that were asked for under rules which have changed.
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
import { commit, markAnswered } from '../upkeep/commit.ts';
import { concludeElsewhere } from '../ending/conclude.ts';
import type { Ending } from '../ending/ending.ts';
import { type Shell, policyOf } from '../shell.ts';
import { bare, note, numbered } from '../ending/transition.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { StoredCall } from '../../ports/store.ts';
import { allowing, hasCurrentBudget, unattached } from './spending.ts';
import { rulesOf } from './fetch-approval.ts';
import { toolOf } from '../session/position.ts';

/** How it ends. `cancelled`: the caller cancelled the call. */
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
  const call = approval.spending === undefined ? await shell.ports.store.call(approval.callId) : null;
  const about = { approval: approval.id, became: state, ...detailsOf(end) };
  const approvals = [{ approval: next, expect: approval.version, maxPending: null }];
  const waits = call !== null && call.state === 'AWAITING_APPROVAL';
  const subject = approval.spending === undefined ? call : unattached(approval);
  const notes = subject === null ? [] : [note(endings[end.kind].record, subject, about)];
  const ending: Ending = {
    events: [endings[end.kind].event],
    say: (envelope) => replyTo(call?.effectClass ?? 'plain', next, end, envelope, shell),
    record: () => about,
    notes: () => notes,
    parts: { approvals },
  };
  const concluded = waits ? await concludeElsewhere(call, ending, shell) : null;
  const transition = concluded?.transition ?? {
    ...bare(shell),
    approvals,
    // What was allowed beyond a budget and is taken back allows nothing more.
    accounts: end.kind === 'revoked' ? allowing(approval, 0) : [],
    records: notes,
    ...(call === null ? {} : { session: numbered(call) }),
  };
  const result = await commit(transition, shell);
  markAnswered(result, shell);
  if (result.kind === 'unavailable') return { kind: 'store_unavailable' };
  if (result.kind === 'conflict') return { kind: 'moved' };
  notifyWaiters(approval.id, shell);
  return { kind: 'ended', approval: next };
}

/** Ends a live approval that covers nothing any more: as expired if its time is up, otherwise as void. */
export async function expireOrVoid(
  approval: Approval,
  shell: Shell,
  why = 'the rules or the evidence it was bound to have changed',
): Promise<'ended' | 'not_live' | 'store_unavailable'> {
  if (!isLive(approval)) return 'not_live';
  const isLate = stateAt(approval, shell.ports.clock.nowMs()) === 'expired';
  const ending = await endApproval(approval, isLate ? { kind: 'expired' } : { kind: 'void', why }, shell);
  return ending.kind === 'store_unavailable' ? ending.kind : 'ended';
}

/** What happens to the waiting call, and the kind of record. */
const endings: Readonly<Record<ApprovalEnd['kind'], { readonly event: CallEvent; readonly record: RecordKind }>> = {
  denied: { event: { kind: 'rejected' }, record: 'approval_denied' },
  revoked: { event: { kind: 'rejected' }, record: 'approval_revoked' },
  expired: { event: { kind: 'expired' }, record: 'approval_expired' },
  void: { event: { kind: 'refused' }, record: 'approval_voided' },
  cancelled: { event: { kind: 'cancelled' }, record: 'approval_voided' },
};

/** What the record says about the end. */
function detailsOf(end: ApprovalEnd): Readonly<Record<string, Json>> {
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

/** Notifies the waiters in this process; those in other processes poll. */
export function notifyWaiters(id: Approval['id'], { live }: Shell): void {
  for (const look of live.approvalWaiters.get(id) ?? []) look();
}

/** Whether the rules about its tool are still those that it was asked for under. */
export async function hasCurrentRules(approval: Approval, shell: Shell): Promise<boolean> {
  if (approval.spending !== undefined) return hasCurrentBudget(approval.spending, shell);
  const agent = policyOf(approval.agent, shell)?.agent ?? null;
  if (agent === null) return false;
  const call = await shell.ports.store.call(approval.callId);
  const name = call === null ? null : await policyNameOf(call, shell);
  // Another process may have the tool; its gate checks the rules when the call is made there.
  return name === null || approval.rules === rulesOf(agent.canonicalFor(name), shell);
}

/** What to do about agents that none of the policies declares: another process may serve them, or none does. */
export type Undeclared = 'leave' | 'void';

/** Voids every waiting approval whose rules differ in one of these policies. False if the store cannot record it. */
export async function voidOutdated(
  policies: readonly Policy[],
  undeclared: Undeclared,
  shell: Shell,
): Promise<boolean> {
  const { store } = shell.ports;
  const { sweepBatch } = shell.limits;
  for (let after = ''; ;) {
    const page = await store.unfinished(after, sweepBatch);
    const waiting = page.filter(({ state }) => state === 'AWAITING_APPROVAL');
    const done = await Promise.all(waiting.map((call) => voidIfOutdated(call, policies, undeclared, shell)));
    if (done.includes(false)) return false;
    const last = page.at(-1);
    if (last === undefined || page.length < sweepBatch) return true;
    after = last.id;
  }
}

async function voidIfOutdated(
  call: StoredCall,
  policies: readonly Policy[],
  undeclared: Undeclared,
  shell: Shell,
): Promise<boolean> {
  const isDeclared = policies.some(({ agents }) => agents.has(call.agent));
  if (!isDeclared && undeclared === 'leave') return true;
  const approval = await shell.ports.store.approvalOfCall(call.id);
  if (approval === null) return true;
  const name = await policyNameOf(call, shell);
  const hasSameRules = ({ agents }: Policy): boolean => {
    const agent = agents.get(call.agent);
    return agent !== undefined && (name === null || approval.rules === rulesOf(agent.canonicalFor(name), shell));
  };
  if (isDeclared && policies.every(hasSameRules)) return true;
  return (await expireOrVoid(approval, shell, 'the rules about its tool have changed')) !== 'store_unavailable';
}

/** The name of the called tool in policy rules; null for an action of a workflow that this process does not have. */
async function policyNameOf(call: StoredCall, shell: Shell): Promise<string | null> {
  const { tool } = await toolOf(call, shell);
  if (tool !== undefined) return tool.policyName;
  const session = call.session === null ? null : await shell.ports.store.session(call.session);
  return session === null || session.workflow === null ? call.tool : null;
}
