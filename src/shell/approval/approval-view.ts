/** How does an approval look to those who see it? What its agent's policy masks was masked when it was written down. */
import { type Approval, stateAt } from '../../core/approval/approval.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import type { ApprovalView } from './approval-service.ts';
import type { Shell } from '../shell.ts';

/** INVARIANT: of everything that an approver decides on and that could differ between two looks. */
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

/** As its agent asked for it: a changed call that has run has the arguments that were sent. Null once they were erased. */
async function askedArgs({ callId, edit }: Approval, { ports: { store } }: Shell): Promise<string | null> {
  if (edit !== null) {
    const held = (await store.recordsOf(callId)).find(({ kind }) => kind === 'held');
    return held?.payloads.find(({ part }) => part === 'args')?.text ?? null;
  }
  const stored = await store.args(callId);
  return stored.kind === 'text' ? stored.text : null;
}

/** RFC 3339 in whole seconds. */
const time = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
