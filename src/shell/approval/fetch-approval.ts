/**
 * Looks up the approval of a call that needs one, and the call that already ran under it. Also computes the hashes that
 * identify an approval: its subject and its rules. Reads only.
 */
import { isUnderWay } from '../../core/call/lifecycle.ts';
import { type Approval, type ApprovalId, stateAt } from '../../core/approval/approval.ts';
import type { CallId, Principal, Request, SessionId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import { type ApprovalFact, argumentsIn, type Facts } from '../../core/gates/facts.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import type { Json } from '../../core/values/json.ts';
import { invariant } from '../../core/values/unreachable.ts';
import type { StoredCall } from '../../ports/store.ts';
import { mayHaveHappened } from '../call/attach.ts';
import { adoptable } from '../ending/adopt.ts';
import type { Shell } from '../shell.ts';

/** The call that asks; null where somebody only explains what would happen. */
export interface ApprovalAsker {
  readonly fingerprint: string;
  /** The approval whose edited arguments the call carries, or under which the gateway runs it by itself. */
  readonly under: ApprovalId | null;
}

/** Placeholder for the id of a new approval where none may be opened. */
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
  const subject = subjectOf(who, request.tool, argumentsIn(request, facts), sessionOfStep(facts), shell);
  const rules = rulesOf(agent.canonicalFor(entry.policyName), shell);
  const found = await findApproval(subject, rules, who, asker?.under ?? null, shell);
  const now = await store.pendingApprovals(who.tenant, who.agent);
  const earlier = found === null ? null : await findReusableCall(found, request, shell);
  return {
    subject,
    rules,
    evidence: facts.evidence?.ok === true ? facts.evidence.hash : null,
    found,
    ran:
      findAdoptable(asker, request, facts, shell) ??
      earlier?.id ??
      (await continuedFor(asker, request, facts, shell))?.call ??
      null,
    freshId: asker === null ? notOpened : (ids.ordered('apr_', clock.nowMs()) as ApprovalId),
    open: { now, max: shell.limits.maxPendingApprovals },
  };
}

/** The approval named by the asker if it is for this subject, otherwise the agent's latest one for the subject. */
async function findApproval(
  subject: string,
  rules: string,
  { tenant, agent }: Principal,
  under: ApprovalId | null,
  { ports: { store, clock } }: Shell,
): Promise<Approval | null> {
  const named = under === null ? null : await store.approval(under);
  const latest = await store.approvalOf(tenant, agent, subject);
  // INVARIANT: a denial of exactly this call stands, also against another call that an approver has edited into it.
  const isDenied = latest?.rules === rules && stateAt(latest, clock.nowMs()) === 'denied';
  const isForSubject = named?.subject === subject || named?.edit?.subject === subject;
  return isForSubject && !isDenied ? named : latest;
}

/** The answered ticket about an equal call: its outcome answers this request, and needs no approval of its own. */
async function continuedFor(
  asker: ApprovalAsker | null,
  { key }: Request,
  { session }: Facts,
  { ports }: Shell,
): Promise<Ticket | null> {
  if (asker === null || key !== null || session?.found !== true) return null;
  const ticket = await ports.store.continuing(session.id, asker.fingerprint);
  // What has not begun needs its approval like every other call.
  return ticket?.work === 'untold' ? ticket : null;
}

/** A step that ran already and that this call may adopt. */
function findAdoptable(asker: ApprovalAsker | null, request: Request, facts: Facts, shell: Shell): CallId | null {
  if (asker === null) return null;
  const fences = stepOf(facts)?.fences ?? facts.fences ?? [];
  return adoptable(asker.fingerprint, request, fences, shell)?.callId ?? null;
}

/** The call that ran under the approval, if its outcome answers this request too. */
async function findReusableCall(approval: Approval, request: Request, shell: Shell): Promise<StoredCall | null> {
  const { onApprove } = approval.terms;
  const call = await callThatUsed(approval, shell);
  if (call === null || !mayReuseOutcome(request, onApprove, call, shell)) return null;
  return onApprove === 'wait' || shell.ports.clock.nowMs() < approval.expiresAtMs ? call : null;
}

/**
 * The session if the call is a step of its workflow. Any other call is the same in every session of its agent: null.
 */
export const sessionOfStep = (facts: Facts): SessionId | null =>
  facts.session?.found && facts.session.step !== null ? facts.session.id : null;

/**
 * The hash that identifies what an approval is for. INVARIANT: it covers the arguments as the validators left them,
 * which is what policy judged and the tool would get.
 */
export function subjectOf(
  { tenant, agent }: Principal,
  tool: ToolEntry['name'],
  args: Json,
  place: SessionId | null,
  { ports }: Shell,
): string {
  return ports.sha256(canonicalText({ tenant, agent, tool, args, place }));
}

/** The hash of the rules that an approval is bound to. */
export const rulesOf = (canonical: string, { ports }: Shell): string => ports.sha256(canonical);

/** The call that used the approval. A revoked one counts as used if its call was under way or in doubt by then. */
async function callThatUsed({ state, callId }: Approval, { ports }: Shell): Promise<StoredCall | null> {
  if (state !== 'used' && state !== 'revoked') return null;
  const call = await ports.store.call(callId);
  return call !== null && (state === 'used' || isUnderWay(call.state) || mayHaveHappened(call.state)) ? call : null;
}

/**
 * Whether this caller gets the outcome of the call that used the approval. A call with an idempotency key is answered
 * by the key instead. The outcome of a call that the gateway ran by itself is for whoever asks; otherwise its own
 * requester must have left.
 */
function mayReuseOutcome(request: Request, onApprove: 'wait' | 'run', call: StoredCall, shell: Shell): boolean {
  if (request.key !== null || call.key !== null) return false;
  const leftAt = call.requesterLeftAtMs;
  const isLeft = leftAt !== null && leftAt > shell.ports.clock.nowMs() - shell.limits.attachWindowMs;
  if (onApprove === 'run' && (isUnderWay(call.state) || mayHaveHappened(call.state) || leftAt !== null)) return true;
  return isLeft && call.effectClass !== 'pure' && mayHaveHappened(call.state);
}
