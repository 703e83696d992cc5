/**
 * Puts a call on hold for an approval: records the waiting call and its new approval in one commit, or counts an equal
 * call on the one that waits already. Also records which other sessions wait for the approval. Nothing runs.
 */
import { refused } from '../../core/call/answer.ts';
import { type Approval, joinObligations, type ApprovalId } from '../../core/approval/approval.ts';
import type { Call, Request, SessionId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Decision } from '../../core/call/decide.ts';
import type { ApprovalFact, Facts } from '../../core/gates/facts.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import type { Json } from '../../core/values/json.ts';
import { advance } from '../../core/call/lifecycle.ts';
import type { ErrorReply, Reply } from '../../core/call/reply.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { shownHash } from './approval-service.ts';
import { commit, isDoubtful, mayBeApplied, markAnswered } from '../upkeep/commit.ts';
import { expireOrVoid } from './end-approval.ts';
import { factsOf } from '../call/intent.ts';
import { maskArgs } from '../mask.ts';
import { type Asked, sinceArrival } from '../call/asked.ts';
import { policyOnRecord, rememberBlobs } from '../upkeep/record-runtime.ts';
import { storeUnavailable } from '../call/record-refusal.ts';
import { resumption } from '../session/position.ts';
import { refusal } from '../call/refuse.ts';
import { answerStored, unrecorded } from '../ending/stored-reply.ts';
import type { Shell, BodyOf } from '../shell.ts';
import { bare, note, numbered, toTransition } from '../ending/transition.ts';
import type { RecordDraft } from '../../core/journal/record.ts';

type Hold = Extract<Decision, { kind: 'hold' }>;

/** A call that the gates hold, and all that is known about it. */
interface HeldCall {
  readonly call: Call;
  readonly hold: Hold;
  readonly facts: Facts;
  readonly asked: Asked;
}

/** Null if something changed meanwhile: decide again. */
export async function holdCall(
  call: Call,
  hold: Hold,
  facts: Facts,
  asked: Asked,
  shell: Shell,
): Promise<Reply | null> {
  const { request } = asked;
  const { approval } = hold;
  const fact = facts.approval;
  invariant(approval !== null && fact !== undefined, 'a call is held for an approval');
  if (approval.kind === 'shared') return shareApproval(approval.approval, { call, hold, facts, asked }, shell);
  if (approval.replaces !== null) {
    // The call that used it up may have claimed this very key since the key was looked up.
    if (approval.replaces.state === 'used' && (await isClaimed(request, call, shell))) return null;
    const ending = await expireOrVoid(approval.replaces, shell);
    if (ending === 'store_unavailable')
      return storeUnavailable(refusal(call, { gate: hold.gate, facts: {} }, request, stepOf(facts), shell), 'io');
    if (ending === 'ended') return null;
  }
  return openApproval(fact, { call, hold, facts, asked }, shell);
}

async function isClaimed({ key }: Request, { tenant, agent }: Call, { ports }: Shell): Promise<boolean> {
  return key !== null && (await ports.store.key(tenant, agent, key)) !== null;
}

/** The reply names the call that waits already, since that is the one that will run. */
async function shareApproval(
  approval: Approval,
  { call, hold, facts, asked: { request, requester } }: HeldCall,
  shell: Shell,
): Promise<Reply | null> {
  const waiting = await shell.ports.store.call(approval.callId);
  if (waiting === null || waiting.state !== 'AWAITING_APPROVAL') return null;
  const step = stepOf(facts);
  const about = refusal(call, { gate: hold.gate, facts: {} }, request, step, shell);
  const count = waiting.repeats + 1;
  // Every attempt at a step is recorded in its history; repeats of other calls are recorded at 1, 10, 100 and so on.
  const isRecorded = step !== null || /^10*$/.test(String(count));
  const resumed = step === null || waiting.session !== call.session ? [] : resumption(call.session, step, shell);
  const waiters = await notesOnSharing(waiting, approval.id, call, requester.bodyOf, shell);
  const result = await commit(
    {
      ...bare(shell),
      call: { kind: 'mark', id: waiting.id, requester: null, repeats: 1 },
      // INVARIANT: a session that begins to wait is open: whoever completes it has seen that it waits, or this
      // conflicts.
      session: waiters.length > 0 ? numbered(call, true) : isRecorded ? numbered(waiting) : null,
      records: [...resumed, ...(isRecorded ? [note('refusals_repeated', waiting, { count })] : []), ...waiters],
    },
    shell,
  );
  if (result.kind === 'unavailable') return storeUnavailable(about, result.fault);
  if (result.kind === 'conflict') return null;
  const envelope = { requested: call.tool, callId: waiting.id, session: call.session, nextActions: about.nextActions };
  return refused(envelope, hold.refusal);
}

async function openApproval(fact: ApprovalFact, held: HeldCall, shell: Shell): Promise<Reply | null> {
  const { hold, facts, asked } = held;
  const step = stepOf(facts);
  const about = refusal(held.call, { gate: hold.gate, facts: {} }, asked.request, step, shell);
  const { call, approval, argsText, shownArgs, sentArgs } = newApproval(fact, held, shell);
  const [next, effects] = advance(call, { kind: 'held' });
  const envelope = { requested: call.tool, callId: call.id, session: call.session, nextActions: about.nextActions };
  const reply: ErrorReply = refused(envelope, hold.refusal);
  const policy = policyOnRecord(shell.policy(), shell);
  const payloads = [
    { part: 'args', text: shownArgs },
    ...(sentArgs === shownArgs ? [] : [{ part: 'args_as_sent', text: sentArgs }]),
    { part: 'reply', text: canonicalText(reply) },
  ];
  const parts = {
    body: { held: { ...recordBody(approval, held, shell), ...policy.body } },
    payloads: { held: payloads },
    blobs: policy.blobs,
    expectOpen: true,
    resumption: step === null ? [] : resumption(call.session, step, shell),
    notes: [openingNote(call, approval), ...notesOnOpening(call, approval.id, asked.requester.bodyOf)],
    approvals: [{ approval, expect: null, maxPending: shell.limits.maxPendingApprovals }],
  };
  const result = await commit(toTransition(call, next, effects, parts, shell), shell);
  markAnswered(result, shell);
  if (result.kind === 'unavailable' && mayBeApplied(result.fault)) {
    // It may be on record and be approved later, so the reply must not say that nothing will happen.
    return unrecorded(call, shell, step === null ? null : { fact: step, inputs: JSON.parse(argsText) as Json });
  }
  if (result.kind === 'unavailable') return storeUnavailable(about, result.fault);
  // The first try was applied without an answer, and the call has changed since: reply from the record.
  if (result.kind === 'conflict' && result.on === 'call' && isDoubtful(result))
    return (await answerStored(call.id, shell)).reply;
  // An equal call was faster, the session ended, or too many approvals are pending by now.
  if (result.kind === 'conflict') return null;
  rememberBlobs(policy.blobs, shell);
  return reply;
}

interface NewApproval {
  /** With the deadline of the approval. */
  readonly call: Call;
  readonly approval: Approval;
  /** As policy judged them; `shownArgs` is the same, masked. */
  readonly argsText: string;
  readonly shownArgs: string;
  /** As the caller sent them, masked. */
  readonly sentArgs: string;
}

function newApproval(
  { freshId: id, subject, rules, evidence }: ApprovalFact,
  { call, hold, facts, asked: { request } }: HeldCall,
  shell: Shell,
): NewApproval {
  const terms = joinObligations(hold.obligations);
  const openedAtMs = shell.ports.clock.nowMs();
  const expiresAtMs = openedAtMs + terms.expiresMs;
  const argsText = facts.arguments?.ok ? canonicalText(facts.arguments.args) : request.argsText;
  const shownArgs = maskArgs(argsText, call.agent, shell);
  const sentArgs = maskArgs(request.argsText, call.agent, shell);
  const draft: Approval = {
    id,
    version: 1,
    tenant: call.tenant,
    agent: call.agent,
    session: call.session,
    tool: call.tool,
    subject,
    rules,
    evidence,
    callId: call.id,
    state: 'pending',
    refs: hold.obligations.map(({ ref }) => ref),
    reason: hold.obligations.find(({ reason }) => reason !== null)?.reason ?? null,
    terms,
    shown: '',
    model: request.model,
    votes: [],
    edit: null,
    decided: null,
    openedAtMs,
    expiresAtMs,
  };
  const approval = { ...draft, shown: shownHash(draft, shownArgs, shell) };
  // While a person decides, the deadline of the call is that of the approval.
  return { call: { ...call, deadlineAtMs: expiresAtMs }, approval, argsText, shownArgs, sentArgs };
}

function recordBody(approval: Approval, { call, hold, facts, asked: { request } }: HeldCall, shell: Shell) {
  const step = stepOf(facts);
  return {
    gate: hold.gate,
    error: hold.refusal.error,
    code: hold.refusal.code,
    tool: call.tool,
    tenant: call.tenant,
    agent: call.agent,
    rule: approval.refs[0] ?? null,
    elapsed_ms: sinceArrival(call, shell),
    facts: { ...factsOf(facts, shell), ...(step === null ? {} : { state: step.digest, step: step.seq }) },
    ...(request.evidence === undefined ? {} : { evidence_refs: request.evidence }),
    ...(facts.evidence?.ok === true && facts.evidence.own.length > 0 ? { evidence_reads: facts.evidence.own } : {}),
    ...(request.expectedSeq === null ? {} : { expected_seq: request.expectedSeq }),
  };
}

/** INVARIANT: holds no hash of the raw arguments: values that are masked, or erased later, could be guessed from it. */
function openingNote(call: Call, { terms, ...approval }: Approval): RecordDraft {
  return note('approval_opened', call, {
    approval: approval.id,
    rules: approval.rules,
    evidence: approval.evidence,
    refs: approval.refs,
    shown: approval.shown,
    roles: terms.roles,
    needed: terms.needed,
    on_approve: terms.onApprove,
    client_may_approve: terms.clientMayApprove,
    expires_at_ms: approval.expiresAtMs,
  });
}

/** A session that waits for an approval whose call belongs to another session. */
export interface Waiter {
  readonly session: SessionId;
  /** The tool whose own code made the call; null where the session made an equal call itself. */
  readonly through: string | null;
}

/** The waiters to record with a new approval. */
export function notesOnOpening(
  waiting: Call,
  approval: ApprovalId,
  bodyOf: BodyOf | undefined,
): readonly RecordDraft[] {
  return waitersElsewhere(waiting, waiting, bodyOf).map((waiter) => noteOf(waiter, waiting, approval));
}

/** The waiters to record when `asked` shares the approval of `waiting`; those on record already are left out. */
export async function notesOnSharing(
  waiting: Call,
  approval: ApprovalId,
  asked: Call,
  bodyOf: BodyOf | undefined,
  shell: Shell,
): Promise<readonly RecordDraft[]> {
  const waiters = waitersElsewhere(waiting, asked, bodyOf);
  if (waiters.length === 0) return [];
  const known = await recordedWaiters(waiting, shell);
  const isNew = ({ session, through }: Waiter) =>
    !known.some((other) => other.session === session && other.through === through);
  return waiters.filter(isNew).map((waiter) => noteOf(waiter, waiting, approval));
}

/** The recorded waiters of a call. The session of the call itself is not among them. */
export async function recordedWaiters({ id }: Call, { ports }: Shell): Promise<readonly Waiter[]> {
  return (await ports.store.recordsOf(id)).flatMap(({ kind, session, body }) => {
    if (kind !== 'approval_awaited' || session === null) return [];
    const { through = null } = JSON.parse(body) as { through?: string };
    return [{ session: session as SessionId, through }];
  });
}

function waitersElsewhere(waiting: Call, asked: Call, bodyOf: BodyOf | undefined): readonly Waiter[] {
  const own = { session: asked.session, through: null };
  const above = bodyOf === undefined ? [] : [{ session: bodyOf.session, through: bodyOf.tool }];
  return [own, ...above].flatMap(({ session, through }) =>
    session === null || session === waiting.session ? [] : [{ session, through }],
  );
}

const noteOf = ({ session, through }: Waiter, waiting: Call, approval: ApprovalId): RecordDraft =>
  note('approval_awaited', { ...waiting, session }, { approval, ...(through === null ? {} : { through }) });
