/** What is known about the approval of a call that needs one? Only reads; that a call shares, uses or opens one is the gate's word. */
import { isUnderWay } from '../../core/call/lifecycle.ts';
import { type Approval, type ApprovalId, stateAt } from '../../core/approval/approval.ts';
import type { Principal, Request, SessionId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import { type ApprovalFact, argumentsIn, type Facts } from '../../core/gates/facts.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import type { Json } from '../../core/values/json.ts';
import { invariant } from '../../core/values/unreachable.ts';
import type { StoredCall } from '../../ports/store.ts';
import { mayHaveHappened } from '../call/attach.ts';
import { adoptable } from '../ending/adopt.ts';
import type { Shell } from '../shell.ts';

/** Who looks: a call, under the approval whose changed arguments it carries, or by which it runs by itself; null for somebody who only asks. */
export interface ApprovalAsker {
  readonly fingerprint: string;
  readonly under: ApprovalId | null;
}

/** Stands where a new id would: nothing was opened. */
const notOpened = 'apr_not_opened_yet' as ApprovalId;

export async function fetchApproval(
  request: Request,
  facts: Facts,
  who: Principal,
  asker: ApprovalAsker | null,
  shell: Shell,
): Promise<ApprovalFact> {
  const { store, clock, ids } = shell.ports;
  const entry = facts.catalogue.get(request.tool);
  const agent = facts.policy?.agent ?? null;
  invariant(entry !== undefined && agent !== null, 'an approval is asked for by a rule about a tool');
  const subject = subjectOf(who, request.tool, argumentsIn(request, facts), placeOf(facts), shell);
  const under = asker?.under ?? null;
  const named = under === null ? null : await store.approval(under);
  const rules = rulesOf(agent.canonicalFor(entry.policyName), shell);
  const standing = await store.approvalOf(who.tenant, who.agent, subject);
  // INVARIANT: a no to exactly this call stands, also against one that somebody else has changed into it.
  const isNo = standing?.rules === rules && stateAt(standing, clock.nowMs()) === 'denied';
  const isMeant = named?.subject === subject || named?.edit?.subject === subject;
  const found = isMeant && !isNo ? named : standing;
  const now = await store.pendingApprovals(who.tenant, who.agent);
  const earlier = found === null ? null : await ranUnder(found, shell);
  const step = stepOf(facts);
  const adopted = asker === null || step === null ? null : adoptable(asker.fingerprint, request, step, shell);
  const isTheirs = found !== null && earlier !== null && outcomeIsOf(request, found.terms.onApprove, earlier, shell);
  const inTime = found !== null && clock.nowMs() < found.expiresAtMs;
  return {
    subject,
    rules,
    evidence: facts.evidence?.ok === true ? facts.evidence.hash : null,
    found,
    ran: adopted?.callId ?? (isTheirs && (inTime || found.terms.onApprove === 'wait') ? earlier.id : null),
    freshId: asker === null ? notOpened : (ids.ordered('apr_', clock.nowMs()) as ApprovalId),
    open: { now, max: shell.limits.maxPendingApprovals },
  };
}

/** A step is a step of its session; any other call is the same in every session of its agent. */
export const placeOf = (facts: Facts): SessionId | null =>
  facts.session?.found && facts.session.step !== null ? facts.session.id : null;

/** INVARIANT: of the arguments as the validators left them, which is what policy judged and the tool would get. */
export function subjectOf(
  { tenant, agent }: Principal,
  tool: ToolEntry['name'],
  args: Json,
  place: SessionId | null,
  { ports }: Shell,
): string {
  return ports.sha256(canonicalText({ tenant, agent, tool, args, place }));
}

export const rulesOf = (canonical: string, { ports }: Shell): string => ports.sha256(canonical);

/** The call that used it up. One that was taken back while its call was on the way, or in doubt, has been used all the same. */
async function ranUnder({ state, callId }: Approval, { ports }: Shell): Promise<StoredCall | null> {
  if (state !== 'used' && state !== 'revoked') return null;
  const call = await ports.store.call(callId);
  return call !== null && (state === 'used' || isUnderWay(call.state) || mayHaveHappened(call.state)) ? call : null;
}

/**
 * Whether this caller gets the outcome of the call that used the approval. Who has a key of their own would have been answered
 * by it. What the gateway ran by itself is for whoever asks; otherwise only a requester who is gone has left an outcome behind.
 */
function outcomeIsOf(request: Request, onApprove: 'wait' | 'run', call: StoredCall, shell: Shell): boolean {
  if (request.key !== null || call.key !== null) return false;
  const leftAt = call.requesterLeftAtMs;
  const isLeft = leftAt !== null && leftAt > shell.ports.clock.nowMs() - shell.limits.attachWindowMs;
  if (onApprove === 'run' && (isUnderWay(call.state) || mayHaveHappened(call.state) || leftAt !== null)) return true;
  return isLeft && call.effectClass !== 'pure' && mayHaveHappened(call.state);
}
