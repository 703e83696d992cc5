/**
 * The spine: read, admit, decide, carry out, answer. Read this file first. Total: whatever comes in, exactly one
 * reply goes out, and nothing is thrown at the caller.
 * Path of a call: 2/7. Next: core/decide.ts.
 */
import { type Envelope, internalError, refused, replayed } from '../core/answer.ts';
import type { Call, CallId, Principal, Request } from '../core/call.ts';
import { canonicalText } from '../core/canonical.ts';
import { decide, type Decision } from '../core/decide.ts';
import type { FieldError } from '../core/catalogue.ts';
import type { Facts } from '../core/facts.ts';
import { invalidInput } from '../core/gates/invalid-input.ts';
import type { GateName } from '../core/gate.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { readRequest, type ReadRequest } from '../core/request.ts';
import type { Refusal } from '../core/refusal.ts';
import type { Reply } from '../core/reply.ts';
import type { Effect } from '../core/taxonomy.ts';
import { invariant } from '../core/unreachable.ts';
import type { StoredCall, StoreFault } from '../ports/store.ts';
import { type Admission, admitByKey, attach, claimedBy, inFlight } from './admit.ts';
import { awaitElsewhere, awaitOutcome, type Requester } from './await-outcome.ts';
import { expireUnsent, start } from './carry-out.ts';
import { mayBeApplied } from './commit.ts';
import { firstFacts, gather } from './gather-facts.ts';
import { refuse, storeUnavailable } from './refuse.ts';
import { answerStored, unrecorded } from './settle.ts';
import { isFull, nextActions, type Shell } from './shell.ts';
import { factsOf, intentPapers } from './intent-papers.ts';

export function handleCall(raw: unknown, who: Principal, requester: Requester, shell: Shell): Promise<Reply> {
  const reply = answer(raw, who, requester, shell);
  // Whoever closes the gateway waits for these.
  shell.live.unanswered.add(reply);
  return reply.finally(() => shell.live.unanswered.delete(reply));
}

async function answer(raw: unknown, who: Principal, requester: Requester, shell: Shell): Promise<Reply> {
  const read = readRequest(raw, shell.limits);
  const call = newCall(read, who, shell);
  const progress = { started: false };
  try {
    if (!read.ok) return await refuseUnreadable(read, call, shell);
    return await handle({ request: read.request, call, who, requester }, progress, shell);
  } catch (error) {
    return unexpected(error, call, progress.started ? 'unknown' : 'none', shell);
  }
}

/** For a door that cannot tell who asks, or what of it: the same refusal as for a call that cannot be read. */
export async function handleUnfit(errors: readonly FieldError[], who: Principal, shell: Shell): Promise<Reply> {
  const read = { ok: false, requested: null, problem: 'unreadable', errors } as const;
  const call = newCall(read, who, shell);
  try {
    return await refuseUnreadable(read, call, shell);
  } catch (error) {
    return unexpected(error, call, 'none', shell);
  }
}

interface Asked {
  readonly request: Request;
  readonly call: Call;
  readonly who: Principal;
  readonly requester: Requester;
}

/** Before the intent is submitted nothing can have run, whatever goes wrong. */
interface Progress {
  started: boolean;
}

async function handle(asked: Asked, progress: Progress, shell: Shell): Promise<Reply> {
  const { request, who } = asked;
  for (let round = 0; round <= shell.limits.maxRedecisions; round++) {
    const admission: Admission = shell.live.readiness.ready
      ? await admitByKey(request, asked.call.fingerprint, who, shell)
      : { kind: 'new' };
    if (admission.kind !== 'new') return answerAdmission(admission, asked, shell);

    const decided = await decideWithFacts(asked, shell);
    if ('unavailable' in decided)
      return storeUnavailable(refusal(asked.call, 'admit', {}, request, shell), decided.unavailable);
    const { decision, facts } = decided;
    const session = facts.session?.found ? facts.session.id : null;
    if (decision.kind !== 'run') return sayNo({ ...asked.call, session }, decision, facts, request, shell);

    const call = { ...asked.call, session, effectClass: decision.tool.effectClass };
    invariant(session !== null, 'the ladder let a call pass without a session');
    if (asked.requester.cancelled?.aborted) return refuseAtTheDoor(cancelledBefore(shell), { ...asked, call }, shell);
    if (request.key === null) {
      const attached = await attach(call, session, shell);
      if (attached.kind !== 'new') return answerAdmission(attached, { ...asked, call }, shell);
    }
    const papers = intentPapers(call, request, decision, facts, shell);
    if (shell.ports.clock.nowMs() >= call.deadlineAtMs) {
      const expired = await expireUnsent(call, papers, shell);
      if (expired.kind === 'committed') return expired.reply;
      if (expired.kind === 'unavailable')
        return storeUnavailable(refusal(call, 'admit', {}, request, shell), expired.fault);
      continue;
    }
    // The ladder counted when it began to ask; the last look is right before the place is taken.
    if (isFull(shell)) continue;
    progress.started = true;
    const work = { tool: decision.tool, args: decision.args };
    const started = await start(call, [{ kind: 'admitted' }], work, papers, shell, asked.requester.cancelled);
    if (started.kind === 'running') return awaitOutcome(started.running, request.waitMs, asked.requester, shell);
    if (started.kind === 'unavailable')
      return mayBeApplied(started.fault)
        ? unrecorded(call, shell)
        : storeUnavailable(refusal(call, 'admit', {}, request, shell), started.fault);
    if (started.result.on === 'key') {
      const claimed = await claimedBy(started.result, request, call.fingerprint, shell);
      if (claimed.kind !== 'new') return answerAdmission(claimed, { ...asked, call }, shell);
    }
    // The first try of the commit was applied unheard, and somebody has taken the call over: the record speaks.
    if (started.result.on === 'call') return (await answerStored(call.id, shell)).reply;
    // INVARIANT: whoever loses a race for the intent has sent nothing, and decides again with what is true now.
    invariant(started.result.on !== 'illegal', 'an intent is a legal transition');
  }
  return sayBusy(asked, shell);
}

/** Asks the ladder, fetching one fact at a time until it has an answer. */
async function decideWithFacts(
  { request, who }: Asked,
  shell: Shell,
): Promise<{ decision: Exclude<Decision, { kind: 'need' }>; facts: Facts } | { unavailable: StoreFault }> {
  let facts = firstFacts(shell);
  for (let fetched = 0; fetched <= shell.limits.maxFactFetches; fetched++) {
    const decision = decide(request, facts, shell.ladder);
    if (decision.kind !== 'need') return { decision, facts };
    const gathered = await gather(decision.fact, facts, request, who, shell);
    if (gathered.kind === 'store_unavailable') return { unavailable: gathered.fault };
    facts = gathered.facts;
  }
  throw new Error('bug: the gates never stop asking for facts');
}

async function answerAdmission(
  admission: Exclude<Admission, { kind: 'new' }>,
  asked: Asked,
  shell: Shell,
): Promise<Reply> {
  switch (admission.kind) {
    case 'answered':
      return admission.reply;
    case 'refuse':
      return refuseAtTheDoor(admission.refusal, asked, shell);
    case 'unavailable':
      return storeUnavailable(refusal(asked.call, 'admit', {}, asked.request, shell), admission.fault);
    case 'under_way':
      return joinUnderWay(admission.call, admission.attached, asked, shell);
    default:
      return admission satisfies never;
  }
}

function cancelledBefore(shell: Shell): Refusal {
  return {
    error: 'cancelled',
    class: 'Cancellation',
    code: 'ToolCancelled',
    message: 'the caller cancelled before the call was sent.',
    resolution: { type: 'choose_action', actions: nextActions(shell) },
  };
}

/** Refused before the gates: the key says all there is to say. */
async function refuseAtTheDoor(no: Refusal, { call, request, who }: Asked, shell: Shell): Promise<Reply> {
  const gathered = await gather('session', firstFacts(shell), request, who, shell);
  const session = gathered.kind === 'facts' && gathered.facts.session?.found ? gathered.facts.session.id : null;
  return (await refuse({ ...refusal({ ...call, session }, 'admit', {}, request, shell), refusal: no }, shell)).reply;
}

/** Its result for a caller who waits, `action_in_flight` for one who does not; an attached caller always waits. */
async function joinUnderWay(call: StoredCall, attached: boolean, asked: Asked, shell: Shell): Promise<Reply> {
  const { request, requester } = asked;
  if (!attached && request.waitMs === null) return refuseAtTheDoor(inFlight(call), asked, shell);
  const waiting: Requester = attached ? requester : { joined: requester.cancelled ?? requester.left };
  const running = shell.live.running.get(call.id);
  if (running !== undefined) return replayed(await awaitOutcome(running, request.waitMs, waiting, shell));
  const waitMs = request.waitMs ?? Math.max(0, call.deadlineAtMs - shell.ports.clock.nowMs());
  return replayed(await awaitElsewhere(call, waitMs, waiting, shell));
}

async function sayNo(
  call: Call,
  decision: Extract<Decision, { kind: 'refuse' | 'hold' }>,
  facts: Facts,
  request: Request,
  shell: Shell,
): Promise<Reply> {
  invariant(decision.kind !== 'hold', 'no gate holds a call until approvals are configured');
  const no = { ...refusal(call, decision.gate, factsOf(facts, shell), request, shell), refusal: decision.refusal };
  // Until the store is open and recovered there is nowhere to write, and nothing was decided but to wait.
  const silent = decision.gate === 'ready' && !shell.live.readiness.ready;
  if (silent) return refused(unreadyEnvelope(call, request.tool), decision.refusal);
  return (await refuse(no, shell)).reply;
}

function unreadyEnvelope(call: Call, requested: string | null): Envelope {
  return { requested, callId: call.id, session: call.session, nextActions: [] };
}

async function sayBusy(asked: Asked, shell: Shell): Promise<Reply> {
  return storeUnavailable(refusal(asked.call, 'admit', {}, asked.request, shell), 'overloaded');
}

function refusal(call: Call, gate: GateName | 'admit', facts: JsonObject, request: Request, shell: Shell) {
  const known = call.session !== null || gate === 'admit';
  return { call, gate, facts, argsText: request.argsText, nextActions: known ? nextActions(shell) : [] };
}

async function refuseUnreadable(read: Extract<ReadRequest, { ok: false }>, call: Call, shell: Shell): Promise<Reply> {
  const code = read.problem === 'too_large' ? 'InputTooLarge' : 'InputInvalid';
  const no: Refusal = invalidInput(read.requested, read.errors, code);
  const next = read.requested === null ? [] : nextActions(shell);
  if (!shell.live.readiness.ready) return refused(unreadyEnvelope(call, read.requested), no);
  return (await refuse({ call, gate: 'admit', facts: {}, argsText: null, nextActions: next, refusal: no }, shell))
    .reply;
}

function newCall(read: ReadRequest, who: Principal, shell: Shell): Call {
  const now = shell.ports.clock.nowMs();
  const request = read.ok ? read.request : null;
  const tool = read.ok ? read.request.tool : (read.requested ?? '');
  const identity = read.ok ? read.request.argsText : canonicalText(read.errors as unknown as Json);
  return {
    id: shell.ports.ids.ordered('call_', now) as CallId,
    ...who,
    session: null,
    turn: request?.turn ?? null,
    tool,
    key: request?.key ?? null,
    // INVARIANT: the fingerprint is of the arguments as they were sent, before any validator touched them.
    fingerprint: shell.ports.sha256(`${tool}\u0000${identity}`),
    effectClass: 'plain',
    state: '(none)',
    attempt: 0,
    owner: null,
    tainted: false,
    createdAtMs: now,
    deadlineAtMs: now + (request?.deadlineMs ?? shell.limits.defaultDeadlineMs),
    dueAtMs: null,
  };
}

/** A bug of ours: the caller gets a typed reply, the operator the cause, under one correlation id. */
function unexpected(error: unknown, call: Call, effect: Effect, shell: Shell): Reply {
  const correlationId = shell.ports.ids.random('err_');
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  shell.ports.notify({ kind: 'unexpected', correlationId, message: `call ${call.id} met a bug`, cause });
  const requested = call.tool === '' ? null : call.tool;
  const next = requested === null ? [] : nextActions(shell);
  const envelope = { requested, callId: call.id, session: null, nextActions: next };
  return internalError(envelope, correlationId, effect);
}
