/**
 * Records a refusal and answers it. The same refusal within a minute is counted on the first one, so an agent in a loop
 * does not fill the journal; the count is durable before the reply.
 */
import { type Envelope, refused, resolvedThere, withSeq } from '../../core/call/answer.ts';
import type { Call, CallId, SessionId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { GateName } from '../../core/gates/gate.ts';
import { notReady, whileClosing } from '../../core/gates/ready.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { advance } from '../../core/call/lifecycle.ts';
import type { RecordDraft } from '../../core/journal/record.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import type { StepView } from '../../core/workflow/step.ts';
import { commit, markAnswered } from '../upkeep/commit.ts';
import { maskArgs, maskRefusal } from '../mask.ts';
import { sinceArrival } from './asked.ts';
import { policyOnRecord, rememberBlobs } from '../upkeep/record-runtime.ts';
import type { Answer, Shell } from '../shell.ts';
import { openedNote, ticketOf } from '../ending/recovery-rider.ts';
import { bare, type CommitParts, note, numbered, toTransition, mergeParts } from '../ending/transition.ts';

export interface RefusedCall {
  readonly call: Call;
  readonly argsText: string | null;
  readonly gate: GateName | 'admit';
  readonly refusal: Refusal;
  readonly facts: JsonObject;
  readonly nextActions: readonly string[];
  /** The credential for which somebody must sign in: a ticket asks them to. */
  readonly signIn?: string | undefined;
  /** What comes before it in the journal, if it is the first that this process writes to a workflow session. */
  readonly resumption?: readonly RecordDraft[];
  /** Records beside that of the refusal. */
  readonly notes?: readonly RecordDraft[];
  /** Where the session stands after it, if it moved the state. */
  readonly view?: StepView | null;
}

/** What the commit of a refusal carries, and what the reply says of it. */
export interface RefusalMove {
  readonly parts: CommitParts;
  readonly body: CommitParts['body'];
  readonly nextActions: readonly string[];
  readonly view: StepView | null;
}

export async function recordRefusal(said: RefusedCall, shell: Shell): Promise<Answer> {
  const refusedCall = masked(said, shell);
  const { call, refusal } = refusedCall;
  // Under another policy it is another decision, in the same words or not.
  const { policy = null } = policyOnRecord(shell.policy(), shell).body;
  const what = canonicalText([call.tenant, call.agent, call.session, call.tool, call.fingerprint, refusal, policy]);
  // Only its hash is kept: a refusal may name every tool there is, and a thousand of them are remembered.
  const name = shell.ports.sha256(what);
  const earlier = shell.live.refusals.get(name);
  const now = shell.ports.clock.nowMs();
  if (earlier !== undefined && now - earlier.atMs < shell.limits.coalesceWindowMs) {
    earlier.count += 1;
    const again = await countAgain({ ...call, id: earlier.callId }, earlier.count, shell);
    if (again) return { reply: reply(refusedCall, { ...call, id: earlier.callId }), position: null };
  }
  const answer = await recordNew(refusedCall, shell);
  if ('code' in answer.reply && answer.reply.code === refusal.code) {
    remember(name, { callId: call.id, atMs: now, count: 0 }, shell);
  }
  return answer;
}

/** Records it as a call of its own, however often it was refused before. */
export async function recordNew(said: RefusedCall, shell: Shell): Promise<Answer> {
  const answer = await recordMoving(said, null, shell);
  if (answer === null) throw new Error('bug: a refusal that moves nothing met a conflict');
  return answer;
}

/** The same, and what it does to the state of its workflow. Null if somebody moved that first. */
export async function recordMoving(said: RefusedCall, move: RefusalMove | null, shell: Shell): Promise<Answer | null> {
  const unmoved = masked(said, shell);
  const refusedCall = move === null ? unmoved : { ...unmoved, nextActions: move.nextActions, view: move.view };
  const { call, refusal, gate, facts, argsText } = refusedCall;
  const [next, effects] = advance(call, { kind: 'refused' });
  const answer = reply(refusedCall, next);
  const payloads = [
    ...(argsText === null ? [] : [{ part: 'args', text: argsText }]),
    { part: 'reply', text: canonicalText(answer) },
  ];
  const policy = policyOnRecord(shell.policy(), shell);
  const rule = 'rule_ref' in refusal ? { rule: refusal.rule_ref ?? null } : {};
  const what = { gate, error: refusal.error, code: refusal.code, tool: call.tool };
  const body = { ...what, elapsed_ms: sinceArrival(call, shell), facts, ...rule, ...policy.body };
  const parts = { body: { refused: { ...body, ...move?.body?.refused } }, payloads: { refused: payloads } };
  const asking = signInTicket(refusedCall, next, shell);
  const carried = mergeParts([{ ...besideRefusal(refusedCall, move), ...parts, blobs: policy.blobs }, asking]);
  const result = await commit(toTransition(call, next, effects, carried, shell), shell);
  markAnswered(result, shell);
  if (result.kind === 'committed') {
    rememberBlobs(policy.blobs, shell);
    return { reply: withSeq(answer, result.seq), position: result.position };
  }
  if (result.kind === 'unavailable') return { reply: storeUnavailable(refusedCall, result.fault), position: null };
  if (move !== null && result.on === 'session') return null;
  throw new Error(`bug: a refusal met a conflict on ${result.on}`);
}

const signInQueue = { reason: 'auth_expired', queue: 'sign_in' } as const;
/** How many sign-ins are remembered. */
const maxSignIns = 1_000;

/** One for each sign-in that waits, however often it is asked for: as far as this process knows. */
function signInTicket({ refusal, signIn }: RefusedCall, call: Call, shell: Shell): CommitParts {
  if (signIn === undefined || refusal.resolution.type !== 'authenticate') return {};
  const { asked } = shell.live.tickets;
  const { interaction_id: interaction } = refusal.resolution;
  if (asked.has(interaction)) return {};
  if (asked.size >= maxSignIns) asked.clear();
  asked.add(interaction);
  const ticket = ticketOf(call, signInQueue, shell, { fence: null, credential: signIn });
  return { tickets: [{ kind: 'open', ticket }], notes: [openedNote(call, ticket)] };
}

/** What the commit carries beside the refusal itself. */
function besideRefusal({ resumption = [], notes = [] }: RefusedCall, move: RefusalMove | null): CommitParts {
  return { ...move?.parts, resumption, notes: [...(move?.parts.notes ?? []), ...notes] };
}

/** Masking what is masked changes nothing, so it does not matter who comes by twice. */
function masked(said: RefusedCall, shell: Shell): RefusedCall {
  const { call, argsText, refusal } = said;
  return {
    ...said,
    argsText: argsText === null ? null : maskArgs(argsText, call.agent, shell),
    refusal: maskRefusal(refusal, argsText, call.agent, shell),
  };
}

/** True once the repeat is durable. The journal hears of it at 1, 10, 100 … and from the sweeper. */
async function countAgain(call: Call, count: number, shell: Shell): Promise<boolean> {
  const speaks = /^10*$/.test(String(count));
  const result = await commit(
    {
      ...bare(shell),
      call: { kind: 'mark', id: call.id, requester: null, repeats: 1 },
      session: speaks ? numbered(call) : null,
      records: speaks ? [note('refusals_repeated', call, { count })] : [],
    },
    shell,
  );
  return result.kind === 'committed';
}

/** Puts counts into the journal that it has not heard of: at start, at each sweep, at close. */
export async function countRepeats(shell: Shell): Promise<void> {
  const uncounted = await shell.ports.store.uncounted(shell.limits.sweepBatch);
  for (const call of uncounted) {
    const records = [note('refusals_repeated', call, { count: call.repeats })];
    const mark = { kind: 'mark', id: call.id, requester: null, repeats: 0 } as const;
    await commit({ ...bare(shell), call: mark, session: numbered(call), records }, shell);
  }
}

function remember(name: string, entry: { callId: Call['id']; atMs: number; count: number }, shell: Shell): void {
  const { refusals } = shell.live;
  refusals.delete(name);
  refusals.set(name, entry);
  // A Map keeps the order of insertion: the first key is the oldest.
  const [oldest] = refusals.keys();
  if (refusals.size > shell.limits.maxCoalesced && oldest !== undefined) refusals.delete(oldest);
}

function envelopeOf(refusedCall: RefusedCall, call: Call): Envelope {
  const requested = call.tool === '' ? null : call.tool;
  const { nextActions, view = null } = refusedCall;
  const envelope = { requested, callId: call.id, session: call.session, nextActions };
  return view === null ? envelope : { ...envelope, step: view };
}

function reply(refusedCall: RefusedCall, call: Call): ErrorReply {
  const said = refused(envelopeOf(refusedCall, call), refusedCall.refusal);
  return (refusedCall.view ?? null) === null ? said : resolvedThere(said);
}

/** What cannot be recorded is not decided: the caller hears about the store, and that nothing ran. */
export function storeUnavailable(refusedCall: Omit<RefusedCall, 'refusal'>, fault: string): ErrorReply {
  const envelope = envelopeOf({ ...refusedCall, refusal: unavailable }, refusedCall.call);
  return refused(envelope, refusalFor(fault));
}

/** The same for what is no call: nothing is recorded of it. */
export function sayFault(requested: string, session: SessionId | null, fault: string, shell: Shell): ErrorReply {
  const callId = shell.ports.ids.ordered('call_', shell.ports.clock.nowMs()) as CallId;
  return refused({ requested, callId, session, nextActions: [] }, refusalFor(fault));
}

/** A store that we closed ourselves has no fault, and no operator was told of any. */
function refusalFor(fault: string): Refusal {
  if (fault === 'closed') return notReady(whileClosing);
  return fault === 'overloaded' ? busy : unavailable;
}

const unavailable: Refusal = {
  error: 'session_error',
  class: 'Session',
  code: 'StoreUnavailable',
  message: 'the store cannot record calls at the moment, so nothing runs; an operator was told.',
  resolution: { type: 'retry_after', retry_after_seconds: 6 },
};

const busy: Refusal = {
  error: 'session_error',
  class: 'Workflow',
  code: 'Busy',
  message: 'more calls are waiting to be recorded than the queue holds; ask again in a moment.',
  resolution: { type: 'retry_after', retry_after_seconds: 1 },
};
