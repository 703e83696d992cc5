/** May a call be approved in this changed form? It must pass every gate before the approval, like a call of its agent's own. */
import { type Approval, type ApprovalTerms, covers, type Edit, joinObligations } from '../../core/approval/approval.ts';
import type { Request } from '../../core/call/call.ts';
import { canonicalise, canonicalText } from '../../core/values/canonical.ts';
import { decide, type Decision } from '../../core/call/decide.ts';
import { argumentsIn } from '../../core/gates/facts.ts';
import { type Json, utf8Length } from '../../core/values/json.ts';
import { safeText } from '../../core/values/redact.ts';
import { placeOf, subjectOf } from './fetch-approval.ts';
import { firstFacts, type Shell } from '../shell.ts';
import { gatherLooking } from '../call/gather-facts.ts';
import { isMasked, maskArgs } from '../mask.ts';

export async function editOf(
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
  // What was copied from where it is shown holds the mark, which no tool must ever get in place of the value. And what an approver
  // could not see they cannot leave out either.
  const asked = await shell.ports.store.args(approval.callId);
  const hides = asked.kind === 'text' && isMasked(asked.text);
  if (hides || isMasked(argsText) || maskArgs(argsText, approval.agent, shell) !== argsText)
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
      const wanted = termsIn(decision);
      // INVARIANT: a change does not take a call out of the hands of those who must approve it in its new form.
      if (wanted !== null && !covers(approval, wanted, facts.nowMs))
        return {
          problem: `in this form others must approve it (${whoIn(wanted)}); deny it, and let the agent ask for that`,
        };
      const judged = argumentsIn(request, facts);
      const asJudged = canonicalText(judged);
      // INVARIANT: what is shown as approved is what is sent, also where a validator or the schema puts something else in its place.
      if (asJudged !== argsText) return { problem: madeOf(asJudged, approval.agent, shell) };
      return { by, argsText, subject: subjectOf(who, request.tool, judged, placeOf(facts), shell) };
    }
    if (decision.kind !== 'need') {
      // A person said no to exactly that call before: their word stands until it is taken back.
      return { problem: `in this form it would be refused: ${decision.refusal.message}` };
    }
    const gathered = await gatherLooking(decision.fact, facts, request, who, shell);
    if (gathered.kind === 'store_unavailable') return { problem: 'the store cannot be read; ask again' };
    facts = gathered.facts;
  }
  return { problem: 'the gates never stop asking for facts' };
}

function madeOf(asJudged: string, agent: string, shell: Shell): string {
  const shown = safeText(maskArgs(asJudged, agent, shell), 500);
  return `the tool's own checks make something else of it, and that would be sent: ${shown}; approve it in that form, or deny it`;
}

/** Under which terms a call of this form would be asked for; null if it needs no approval. */
function termsIn(decision: Extract<Decision, { kind: 'run' | 'hold' }>): ApprovalTerms | null {
  if (decision.kind === 'hold') return joinObligations(decision.obligations);
  return decision.approval?.kind === 'granted' ? decision.approval.approval.terms : null;
}

const whoIn = ({ roles, needed }: ApprovalTerms): string =>
  `${needed} of ${roles === null ? 'those who may approve' : `the role ${roles.join(' or ')}`}`;
