/**
 * A call that a person must decide waits on record, with the approval it waits for, in one commit. An equal call that comes
 * meanwhile is counted on the one that waits. Nothing runs, and no turn is kept.
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
import { commit, isDoubtful, mayBeApplied, nobodyWaits } from '../upkeep/commit.ts';
import { lapse } from './end-approval.ts';
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

/** Null if something moved meanwhile: decide again. */
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
  if (approval.kind === 'shared') return shareApproval(call, approval.approval, hold, facts, asked, shell);
  if (approval.replaces !== null) {
    // The call that used it up may have claimed this very key since the key was looked up.
    if (approval.replaces.state === 'used' && (await isClaimed(request, call, shell))) return null;
    const lapsed = await lapse(approval.replaces, shell);
    if (lapsed === 'store_unavailable')
      return storeUnavailable(refusal(call, hold.gate, {}, request, stepOf(facts), shell), 'io');
    if (lapsed === 'lapsed') return null;
  }
  return openApproval(call, fact, hold, facts, asked, shell);
}

async function isClaimed({ key }: Request, { tenant, agent }: Call, { ports }: Shell): Promise<boolean> {
  return key !== null && (await ports.store.key(tenant, agent, key)) !== null;
}

/** The reply names the call that waits: whoever asked, it is that one which will run. */
async function shareApproval(
  call: Call,
  approval: Approval,
  hold: Hold,
  facts: Facts,
  { request, requester }: Asked,
  shell: Shell,
): Promise<Reply | null> {
  const waiting = await shell.ports.store.call(approval.callId);
  if (waiting === null || waiting.state !== 'AWAITING_APPROVAL') return null;
  const step = stepOf(facts);
  const about = refusal(call, hold.gate, {}, request, step, shell);
  const count = waiting.repeats + 1;
  // Every attempt of a step is in its history; of other calls the journal hears at 1, 10, 100 …
  const speaks = step !== null || /^10*$/.test(String(count));
  const goesOn = step === null || waiting.session !== call.session ? [] : resumption(call.session, step, shell);
  const waiters = await notesOnSharing(waiting, approval.id, call, requester.bodyOf, shell);
  const result = await commit(
    {
      ...bare(shell),
      call: { kind: 'mark', id: waiting.id, requester: null, repeats: 1 },
      // INVARIANT: a session that begins to wait is open: whoever completes it has seen that it waits, or this conflicts.
      session: waiters.length > 0 ? numbered(call, true) : speaks ? numbered(waiting) : null,
      records: [...goesOn, ...(speaks ? [note('refusals_repeated', waiting, { count })] : []), ...waiters],
    },
    shell,
  );
  if (result.kind === 'unavailable') return storeUnavailable(about, result.fault);
  if (result.kind === 'conflict') return null;
  const envelope = { requested: call.tool, callId: waiting.id, session: call.session, nextActions: about.nextActions };
  return refused(envelope, hold.refusal);
}

async function openApproval(
  asked: Call,
  fact: ApprovalFact,
  hold: Hold,
  facts: Facts,
  { request, requester }: Asked,
  shell: Shell,
): Promise<Reply | null> {
  const step = stepOf(facts);
  const about = refusal(asked, hold.gate, {}, request, step, shell);
  const terms = joinObligations(hold.obligations);
  const openedAtMs = shell.ports.clock.nowMs();
  const expiresAtMs = openedAtMs + terms.expiresMs;
  // The clock of a call stands still while a person thinks: until then it is the approval's.
  const call: Call = { ...asked, deadlineAtMs: expiresAtMs };
  const argsText = facts.arguments?.ok ? canonicalText(facts.arguments.args) : request.argsText;
  const shownArgs = maskArgs(argsText, call.agent, shell);
  const sentArgs = maskArgs(request.argsText, call.agent, shell);
  const draft: Approval = {
    id: fact.freshId,
    version: 1,
    tenant: call.tenant,
    agent: call.agent,
    session: call.session,
    tool: call.tool,
    subject: fact.subject,
    rules: fact.rules,
    evidence: fact.evidence,
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
  const approval: Approval = { ...draft, shown: shownHash(draft, shownArgs, shell) };
  const [next, effects] = advance(call, { kind: 'held' });
  const envelope = { requested: call.tool, callId: call.id, session: call.session, nextActions: about.nextActions };
  const reply: ErrorReply = refused(envelope, hold.refusal);
  const policy = policyOnRecord(shell.policy(), shell);
  const body = {
    gate: hold.gate,
    error: hold.refusal.error,
    code: hold.refusal.code,
    tool: call.tool,
    tenant: call.tenant,
    agent: call.agent,
    rule: approval.refs[0] ?? null,
    elapsed_ms: sinceArrival(asked, shell),
    facts: { ...factsOf(facts, shell), ...(step === null ? {} : { state: step.digest, step: step.seq }) },
    ...(request.evidence === undefined ? {} : { evidence_refs: request.evidence }),
    ...(request.expectedSeq === null ? {} : { expected_seq: request.expectedSeq }),
    ...policy.body,
  };
  // INVARIANT: no hash of the arguments as they are: what is masked in them, or erased later, could be found by trying.
  const opened = {
    approval: approval.id,
    rules: approval.rules,
    evidence: approval.evidence,
    refs: approval.refs,
    shown: approval.shown,
    roles: terms.roles,
    needed: terms.needed,
    on_approve: terms.onApprove,
    client_may_approve: terms.clientMayApprove,
    expires_at_ms: expiresAtMs,
  };
  const payloads = [
    { part: 'args', text: shownArgs },
    ...(sentArgs === shownArgs ? [] : [{ part: 'args_as_sent', text: sentArgs }]),
    { part: 'reply', text: canonicalText(reply) },
  ];
  const parts = {
    body: { held: body },
    payloads: { held: payloads },
    blobs: policy.blobs,
    expectOpen: true,
    resumption: step === null ? [] : resumption(call.session, step, shell),
    notes: [note('approval_opened', call, opened), ...notesOnOpening(call, approval.id, requester.bodyOf)],
    approvals: [{ approval, expect: null, maxPending: shell.limits.maxPendingApprovals }],
  };
  const result = await commit(toTransition(call, next, effects, parts, shell), shell);
  nobodyWaits(result, shell);
  if (result.kind === 'unavailable' && mayBeApplied(result.fault)) {
    // It may be on record, and somebody may approve it: nobody can say that nothing will come of it.
    return unrecorded(call, shell, step === null ? null : { fact: step, inputs: JSON.parse(argsText) as Json });
  }
  if (result.kind === 'unavailable') return storeUnavailable(about, result.fault);
  // The first try was applied unheard, and somebody has moved the call on: the record speaks.
  if (result.kind === 'conflict' && result.on === 'call' && isDoubtful(result))
    return (await answerStored(call.id, shell)).reply;
  // An equal call was faster, the session ended, or too many are pending by now.
  if (result.kind === 'conflict') return null;
  rememberBlobs(policy.blobs, shell);
  return reply;
}

export interface Waiter {
  readonly session: SessionId;
  /** The tool whose body asks as soon as it is asked for itself; null where an equal call does. */
  readonly through: string | null;
}

/** On record from the moment when it begins to wait. */
export function notesOnOpening(
  waiting: Call,
  approval: ApprovalId,
  bodyOf: BodyOf | undefined,
): readonly RecordDraft[] {
  return waitersElsewhere(waiting, waiting, bodyOf).map((waiter) => noteOf(waiter, waiting, approval));
}

/** Those that are not on record yet: `asked` is told to wait for what `waiting` waits for. */
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

/** As they are on record. The session of the call itself is none of them. */
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
