/**
 * Checks whether a call may be approved with edited arguments: they must pass every gate up to the approval, as if the
 * agent had sent them itself.
 */
import { type Approval, type ApprovalTerms, covers, type Edit, joinObligations } from '../../core/approval/approval.ts';
import type { Request } from '../../core/call/call.ts';
import { canonicalise, canonicalText } from '../../core/values/canonical.ts';
import { decide, type Decision } from '../../core/call/decide.ts';
import { argumentsIn } from '../../core/gates/facts.ts';
import { type Json, utf8Length } from '../../core/values/json.ts';
import { safeText } from '../../core/values/redact.ts';
import { sessionOfStep, subjectOf } from './fetch-approval.ts';
import { firstFacts, type Shell } from '../shell.ts';
import { gatherLooking } from '../call/gather-facts.ts';
import { isMasked, maskArgs } from '../mask.ts';

export async function checkEdit(
  approval: Approval,
  args: Json,
  by: string,
  shell: Shell,
): Promise<Edit | { readonly problem: string }> {
  const written = canonicalise(args, { maxDepth: shell.limits.maxDepth });
  if (!written.ok) return { problem: `the arguments are not JSON at '${written.path}': ${written.problem}` };
  const argsText = written.text;
  if (utf8Length(argsText) > shell.limits.maxInputBytes)
    return { problem: `the arguments are larger than ${shell.limits.maxInputBytes} bytes` };
  if (await isRedacted(approval, argsText, shell))
    return { problem: 'what is redacted is not written down, so it cannot be changed here; deny it with a reason' };
  const who = { tenant: approval.tenant, agent: approval.agent };
  const request: Request = {
    tool: approval.tool,
    args,
    argsText,
    session: approval.session,
    key: null,
    turn: null,
    expectedSeq: null,
    waitMs: null,
    model: approval.model,
    deadlineMs: null,
  };
  let facts = firstFacts(who, shell);
  for (let fetched = 0; fetched <= shell.limits.maxFactFetches; fetched++) {
    const decision = decide(request, facts, shell.ladder);
    if (decision.kind === 'run' || (decision.kind === 'hold' && decision.gate === 'approval')) {
      const wanted = termsOf(decision);
      // INVARIANT: an edit does not bypass the people who must approve the call in its new form.
      if (wanted !== null && !covers(approval, wanted, facts.nowMs))
        return {
          problem: `in this form others must approve it (${describeApprovers(wanted)}); deny it, and let the agent ask for that`,
        };
      const judged = argumentsIn(request, facts);
      const asJudged = canonicalText(judged);
      // INVARIANT: what is shown as approved is what is sent, also where a validator or the schema rewrites the
      // arguments.
      if (asJudged !== argsText) return { problem: describeRewrite(asJudged, approval.agent, shell) };
      return { by, argsText, subject: subjectOf(who, request.tool, judged, sessionOfStep(facts), shell) };
    }
    if (decision.kind !== 'need') {
      // One reason to get here: a person denied exactly that call before, which stands until it is revoked.
      return { problem: `in this form it would be refused: ${decision.refusal.message}` };
    }
    const gathered = await gatherLooking(decision.fact, facts, request, who, shell);
    if (gathered.kind === 'store_unavailable') return { problem: 'the store cannot be read; ask again' };
    facts = gathered.facts;
  }
  return { problem: 'the gates never stop asking for facts' };
}

/** Whether the edited arguments, or those that the agent sent, contain redacted values. */
async function isRedacted({ callId, agent }: Approval, argsText: string, shell: Shell): Promise<boolean> {
  const asked = await shell.ports.store.args(callId);
  // INVARIANT: no tool ever gets the redaction mark in place of a value, and no edit drops a value that its approver
  // could not see.
  const isAskedMasked = asked.kind === 'text' && isMasked(asked.text);
  return isAskedMasked || isMasked(argsText) || maskArgs(argsText, agent, shell) !== argsText;
}

function describeRewrite(asJudged: string, agent: string, shell: Shell): string {
  const shown = safeText(maskArgs(asJudged, agent, shell), 500);
  return `the tool's own checks make something else of it, and that would be sent: ${shown}; approve it in that form, or deny it`;
}

/** The terms of the approval that the edited call needs; null if it needs none. */
function termsOf(decision: Extract<Decision, { kind: 'run' | 'hold' }>): ApprovalTerms | null {
  if (decision.kind === 'hold') return joinObligations(decision.obligations);
  return decision.approval?.kind === 'granted' ? decision.approval.approval.terms : null;
}

const describeApprovers = ({ roles, needed }: ApprovalTerms): string =>
  `${needed} of ${roles === null ? 'those who may approve' : `the role ${roles.join(' or ')}`}`;
