/**
 * The interface of the approval service, the view of an approval that it returns, and the hash of what an approver was
 * shown. Also makes sure that a question to the client's user is answered once.
 */
import {
  type ApprovalState,
  type Decider,
  type ApprovalId,
  stateAt,
  type Approval,
} from '../../core/approval/approval.ts';
import { shownSpending } from './spending.ts';
import type { ApprovalView } from '../../core/approval/approval-view.ts';
import type { Json } from '../../core/values/json.ts';
import type { Principal } from '../../core/call/call.ts';
import { commit } from '../upkeep/commit.ts';
import type { Scope, Shell } from '../shell.ts';
import { bare } from '../ending/transition.ts';
import { canonicalText } from '../../core/values/canonical.ts';

export type { ApprovalView };

export interface ApprovalFilter {
  readonly agent?: string;
  readonly session?: string;
  readonly state?: ApprovalState;
  readonly before?: string;
  readonly limit: number;
}

export const decideProblems = {
  not_found: 404,
  own_request: 403,
  not_an_approver: 403,
  not_pending: 409,
  already_approved: 409,
  /** What the decider was shown is not what is there now. */
  saw_another: 409,
  bad_edit: 422,
  store_unavailable: 503,
} as const;

export type DecideProblem = keyof typeof decideProblems;

export type Decided =
  | { readonly ok: true; readonly approval: ApprovalView }
  | { readonly ok: false; readonly problem: DecideProblem; readonly message: string };

/** What comes with a decision. `args` approves the call with edited arguments. */
export interface DecisionInput {
  readonly reason?: string;
  readonly shown?: string;
  readonly args?: Json;
}

export interface ApprovalService {
  /** Null if there is none in the scope: an agent sees its own, a person those of the tenant. */
  read(id: string, scope: Scope): Promise<ApprovalView | null>;
  /** The newest first. */
  list(scope: Scope, filter: ApprovalFilter): Promise<readonly ApprovalView[]>;
  approve(id: string, by: Decider, input: DecisionInput): Promise<Decided>;
  deny(id: string, by: Decider, input: Pick<DecisionInput, 'reason' | 'shown'>): Promise<Decided>;
  revoke(id: string, by: Decider, input: Pick<DecisionInput, 'reason'>): Promise<Decided>;
  /** Waits while it is pending, for `waitMs` at most or until the signal, and returns it; null if there is none. */
  wait(id: string, scope: Scope, waitMs: number, signal?: AbortSignal): Promise<ApprovalView | null>;
  /** Whether the user of the agent's own client may decide it, now. */
  mayClientDecide(id: string, agent: { readonly tenant: string; readonly agent: string }): Promise<boolean>;
}

/**
 * Uses up the question to the client's user about this version, by writing the next version. False if the approval has
 * changed since, is no longer pending, or the store cannot record it.
 */
export async function consumeQuestion(
  id: string,
  { tenant, agent }: Principal,
  version: number,
  shell: Shell,
): Promise<boolean> {
  const { store, clock } = shell.ports;
  const found = await store.approval(id as ApprovalId);
  if (found === null || found.tenant !== tenant || found.agent !== agent || found.version !== version) return false;
  if (stateAt(found, clock.nowMs()) !== 'pending') return false;
  const asked = { approval: { ...found, version: version + 1 }, expect: version, maxPending: null };
  return (await commit({ ...bare(shell), approvals: [asked] }, shell)).kind === 'committed';
}

/** INVARIANT: covers everything that an approver decides on and that could differ between two reads. */
export function shownHash(
  { id, agent, tool, refs, reason, edit }: Approval,
  argsText: string | null,
  shell: Shell,
): string {
  const args = argsText === null ? null : (JSON.parse(argsText) as Json);
  const edited = edit === null ? null : edit.argsText;
  return shell.ports.sha256(canonicalText({ id, agent, tool, args, refs, reason, edited }));
}

export async function viewOf(approval: Approval, shell: Shell): Promise<ApprovalView> {
  const argsText = await askedArgs(approval, shell);
  return {
    approval_id: approval.id,
    state: stateAt(approval, shell.ports.clock.nowMs()),
    agent: approval.agent,
    tool: approval.tool,
    session: approval.session,
    call_id: approval.callId,
    args: argsText === null ? null : (JSON.parse(argsText) as Json),
    ...(approval.edit === null
      ? {}
      : { edited_args: approval.edit.argsText === null ? null : (JSON.parse(approval.edit.argsText) as Json) }),
    rule_ref: approval.refs[0] ?? '',
    reason: approval.reason,
    approvers: approval.terms.roles,
    needed: approval.terms.needed,
    approved_by: approval.votes.map(({ by, atMs }) => ({ by, at: time(atMs) })),
    decided:
      approval.decided === null
        ? null
        : { by: approval.decided.by, at: time(approval.decided.atMs), reason: approval.decided.reason },
    on_approve: approval.terms.onApprove,
    opened_at: time(approval.openedAtMs),
    expires_at: time(approval.expiresAtMs),
    shown: shownHash(approval, argsText, shell),
  };
}

/**
 * The arguments as the agent asked for them; null once they were erased. Once an edited call has run, the store has its
 * edited arguments, so the original ones come from the record.
 */
async function askedArgs({ callId, edit, spending }: Approval, { ports: { store } }: Shell): Promise<string | null> {
  if (spending !== undefined) return canonicalText(shownSpending(spending));
  if (edit !== null) {
    const held = (await store.recordsOf(callId)).find(({ kind }) => kind === 'held');
    return held?.payloads.find(({ part }) => part === 'args')?.text ?? null;
  }
  const stored = await store.args(callId);
  return stored.kind === 'text' ? stored.text : null;
}

/** RFC 3339 in whole seconds. */
const time = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
