/**
 * Refuses a call: by a gate, before the gates, because it could not be read, or because of a bug of ours. Nothing ran.
 * Every refusal of a step is in the history of its session; an agent that is refused again and again is stopped if the
 * author wants that.
 */
import { type Envelope, refused, internalError } from '../../core/call/answer.ts';
import type { Call, Principal, Request, SessionId } from '../../core/call/call.ts';
import type { Decision } from '../../core/call/decide.ts';
import type { Facts } from '../../core/gates/facts.ts';
import type { GateName } from '../../core/gates/gate.ts';
import { invalidInput } from '../../core/gates/invalid-input.ts';
import { stepOf } from '../../core/gates/reachable.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Refusal } from '../../core/call/refusal.ts';
import type { Reply, ErrorReply } from '../../core/call/reply.ts';
import type { ReadRequest } from '../../core/call/request.ts';
import { type StepFact, nextActions as nextOfStep } from '../../core/workflow/step.ts';
import type { Asked, MeantStep } from './asked.ts';
import { fetchSession } from '../session/fetch-session.ts';
import { firstFacts, nextActions, type Shell } from '../shell.ts';
import { gather } from './gather-facts.ts';
import { factsOf } from './intent.ts';
import { refuseAlongEdge } from './refuse-along-edge.ts';
import { recordRefusal, storeUnavailable, sayFault, recordNew, type RefusedCall } from './record-refusal.ts';
import type { Effect } from '../../core/taxonomy.ts';
import { storeFailed, commit } from '../upkeep/commit.ts';
import { StoreUnreadable } from '../upkeep/guard-ports.ts';
import { unrecorded } from '../ending/stored-reply.ts';
import { resumption } from '../session/position.ts';
import { bare, noChange, note } from '../ending/transition.ts';

export function cancelledBefore(shell: Shell, who: Principal, step: StepFact | null = null): Refusal {
  return {
    error: 'cancelled',
    class: 'Cancellation',
    code: 'ToolCancelled',
    message: 'the caller cancelled before the call was sent.',
    resolution: { type: 'choose_action', actions: nextActions(shell, who, step) },
  };
}

/** It waited for its turn until its deadline: the same words as for a call that could not be sent in its time. */
function expiredInQueue({ tool, createdAtMs, deadlineAtMs }: Call, actions: readonly string[]): Refusal {
  const seconds = (deadlineAtMs - createdAtMs) / 1_000;
  return {
    error: 'action_timeout',
    class: 'ToolTransient',
    code: 'ExecutionTimeout',
    message: `action '${tool}' exceeded its ${seconds}s timeout.`,
    resolution: { type: 'choose_action', actions },
    timeout_seconds: seconds,
  };
}

/** Refused before the gates: because of its key, or because its caller left. */
export async function refuseEarly(
  no: Refusal | ((step: StepFact | null) => Refusal),
  { call, request, who }: Asked,
  shell: Shell,
): Promise<Reply> {
  const gathered = await gather('session', firstFacts(who, shell), { request, who, asking: null }, shell);
  const fact = gathered.kind === 'facts' && gathered.facts.session?.found ? gathered.facts.session : null;
  const step = fact?.step ?? null;
  const known = gathered.kind === 'facts' ? ofItsClass(call, gathered.facts) : call;
  const about = refusal({ ...known, session: fact?.id ?? null }, atAdmission, request, step, shell);
  const said = { ...about, refusal: typeof no === 'function' ? no(step) : no };
  return step === null ? (await recordRefusal(said, shell)).reply : refuseStep(said, step, shell);
}

/** Null if the session moved on while a refusal that moves it was written: decide again. */
export async function refuseByGate(
  call: Call,
  decision: Extract<Decision, { kind: 'refuse' }>,
  facts: Facts,
  request: Request,
  shell: Shell,
): Promise<Reply | null> {
  const step = stepOf(facts);
  const about = refusal(
    ofItsClass(call, facts),
    { gate: decision.gate, facts: factsOf(facts, shell) },
    request,
    step,
    shell,
  );
  // What a ticket fences is not offered; a step's next actions know it already.
  if (step === null && decision.refusal.error === 'fenced' && 'ticket_id' in decision.refusal)
    about.nextActions = about.nextActions.filter((name) => name !== request.tool);
  const signIn = facts.credentials?.find((each) => !each.ok && each.signIn !== undefined)?.name;
  const isLate = decision.refusal.error === 'action_in_flight' && shell.ports.clock.nowMs() >= call.deadlineAtMs;
  const no = { ...about, signIn, refusal: isLate ? expiredInQueue(call, about.nextActions) : decision.refusal };
  // Until the store is open and recovered there is nowhere to write, and nothing was decided but to wait.
  const silent = decision.gate === 'ready' && !shell.live.readiness.ready;
  if (silent) return refused(unreadyEnvelope(call, request.tool), decision.refusal);
  if (step === null) return (await recordRefusal(no, shell)).reply;
  const along = await refuseAlongEdge(no, decision.gate, request, step, shell);
  if (along === 'again') return null;
  return along ?? refuseStep(no, step, shell);
}

/** On record with the class of what was asked for; before the session is known, nobody knows what a name means. */
function ofItsClass(call: Call, { catalogue, session }: Facts): Call {
  const tool = session === undefined ? undefined : catalogue.get(call.tool);
  return tool === undefined ? call : { ...call, effectClass: tool.effectClass };
}

function unreadyEnvelope(call: Call, requested: string | null): Envelope {
  return { requested, callId: call.id, session: call.session, nextActions: [] };
}

export async function refuseBusy(asked: Asked, shell: Shell): Promise<Reply> {
  return storeUnavailable(refusal(asked.call, atAdmission, asked.request, null, shell), 'overloaded');
}

/** Where a call is refused, and what was known there. */
interface RefusedAt {
  readonly gate: GateName | 'admit';
  readonly facts: JsonObject;
}

export const atAdmission: RefusedAt = { gate: 'admit', facts: {} };

export function refusal(call: Call, { gate, facts }: RefusedAt, request: Request, step: StepFact | null, shell: Shell) {
  const known = call.session !== null || gate === 'admit';
  const next = known ? nextActions(shell, call, step) : [];
  return { call, gate, facts, argsText: request.argsText, nextActions: next, step };
}

/** `meant`: the session in which a step was meant, so that even what cannot be read hears what is next there. */
export async function refuseUnreadable(
  read: Extract<ReadRequest, { ok: false }>,
  call: Call,
  meant: MeantStep | null,
  shell: Shell,
): Promise<Reply> {
  const handle = (meant?.session ?? null) as SessionId | null;
  const code = read.problem === 'too_large' ? 'InputTooLarge' : 'InputInvalid';
  const no: Refusal = invalidInput(read.requested, read.errors, code);
  if (!shell.live.readiness.ready) return refused(unreadyEnvelope(call, read.requested), no);
  const fact = handle === null ? null : await fetchSession(handle, call, null, shell);
  const about = { call, gate: 'admit', facts: {}, argsText: null, refusal: no } as const;
  if (fact !== null && 'found' in fact && fact.found && fact.step !== null) {
    const nextActionsThere = nextActions(shell, call, fact.step);
    return refuseStep(
      { ...about, call: { ...call, session: fact.id }, nextActions: nextActionsThere },
      fact.step,
      shell,
    );
  }
  // A step in no session that could be read has no next action; the tools of the gateway are none.
  const next = read.requested === null || meant !== null ? [] : nextActions(shell, call);
  return (await recordRefusal({ ...about, nextActions: next }, shell)).reply;
}

/** The caller gets a typed reply, the operator the cause, under one correlation id. */
export function unexpected(error: unknown, call: Call, effect: Effect, shell: Shell): Reply {
  if (error instanceof StoreUnreadable) return notRead(error, call, effect, shell);
  const correlationId = shell.ports.ids.random('err_');
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  shell.ports.notify({ kind: 'unexpected', correlationId, message: `call ${call.id} met a bug`, cause });
  const requested = call.tool === '' ? null : call.tool;
  // Where there are workflows, what is next depends on a session that a bug may have kept from being read.
  const next = requested === null || shell.workflows.size > 0 ? [] : nextActions(shell, call);
  const envelope = { requested, callId: call.id, session: null, nextActions: next };
  return internalError(envelope, correlationId, effect);
}

/** A file that cannot be read is the store's trouble, and told as one that cannot be written. */
function notRead({ message }: StoreUnreadable, call: Call, effect: Effect, shell: Shell): Reply {
  storeFailed({ fault: 'io', message }, shell);
  return effect === 'none' ? sayFault(call.tool, null, 'io', shell) : unrecorded(call, shell);
}

/** Sessions whose refusals are counted at once. */
const maxCounted = 10_000;

/** What an agent can mend by choosing otherwise; waiting for others is no mistake of its own. */
const mistakes: ReadonlySet<Refusal['error']> = new Set([
  'invalid_transition',
  'unknown_action',
  'validation_failed',
  'fenced',
] as const);

export async function refuseStep(refused: RefusedCall, step: StepFact, shell: Shell): Promise<ErrorReply> {
  const facts = { ...refused.facts, state: step.digest, step: step.seq };
  const session = refused.call.session as SessionId;
  // A session that rests is stopped by nobody, and no choice of an action leads on in it.
  const rests = !step.isOpen || step.drift !== null;
  const counts = !rests && mistakes.has(refused.refusal.error);
  const streak = counts ? countUp(session, shell) : 0;
  const { stopAfter } = step.workflow.refusals;
  const stops = counts && stopAfter !== null && streak >= stopAfter;
  const said = step.snapshot.done && !rests ? overFor(refused.refusal) : refused.refusal;
  const refusal = stops ? stopping(said, refused.call.tool, streak) : sharpened(said, refused.call.tool, streak, step);
  const next = stops ? [] : refused.nextActions;
  // What the gate of sessions refuses, or a session that rests, does not go on with it.
  const goesOn = !rests && refused.gate !== 'session';
  const before = goesOn ? resumption(session, step, shell) : [];
  const { reply } = await recordNew({ ...refused, refusal, facts, nextActions: next, resumption: before }, shell);
  if (stops) await stop(session, refused, streak, shell);
  return reply as ErrorReply;
}

function countUp(session: SessionId, { live }: Shell): number {
  const streak = (live.streaks.get(session) ?? 0) + 1;
  if (live.streaks.size >= maxCounted && !live.streaks.has(session)) live.streaks.clear();
  live.streaks.set(session, streak);
  return streak;
}

/** After the end no action is possible any more, whatever was wrong with this one. */
function overFor(refusal: Refusal): Refusal {
  const reason = 'the workflow has ended: reset the session, or open another, to begin anew';
  const message = `${refusal.message} The workflow has ended: reset the session, or open another, to begin anew.`;
  return { ...refusal, message, resolution: { type: 'replan', reason } };
}

/** The session rests from here on: no action is possible in it, and none is named. */
function stopping(refusal: Refusal, requested: string, streak: number): Refusal {
  const what =
    refusal.error === 'invalid_transition'
      ? `action '${requested}' is not reachable from current state.`
      : refusal.message;
  const hint = 'The session is stopped now: reset it, or tell the person you work for.';
  const resolution = { type: 'replan', reason: 'the session is stopped: reset it, or open a new one' } as const;
  return { ...refusal, message: `${what} Refused ${streak} times in a row. ${hint}`, resolution };
}

/** The form of the refusal stays; what follows it gets plainer. */
function sharpened(refusal: Refusal, requested: string, streak: number, step: StepFact): Refusal {
  if (streak < step.workflow.refusals.sharpenAfter) return refusal;
  const hint = hintAt(step, requested, refusal);
  return { ...refusal, message: `${refusal.message} Refused ${streak} times in a row.${hint}` };
}

/** Where the action itself is possible its inputs were the mistake: it is no way out to take it once more as it was. */
function hintAt(step: StepFact, requested: string, { error }: Refusal): string {
  const next = nextOfStep(step);
  // That was said.
  if (step.snapshot.done) return '';
  if (next.length === 0) return ' No action is possible here: tell the person you work for.';
  const again = error === 'validation_failed' ? 'Do not send the same inputs again' : 'Do not send it again like this';
  const other = next.find((action) => action !== requested);
  if (!next.includes(requested)) return ` ${again}: call one of valid_next_actions, such as '${other}'.`;
  const change = ` ${again}: change the inputs of '${requested}'`;
  return other === undefined ? `${change}.` : `${change}, or call another of valid_next_actions, such as '${other}'.`;
}

async function stop(session: SessionId, { call }: RefusedCall, streak: number, shell: Shell): Promise<void> {
  const workflow = { ...noChange, becomes: { state: 'stopped', reason: 'refusal_limit' } as const };
  await commit(
    {
      ...bare(shell),
      session: { kind: 'step', id: session, advance: false, expectSeq: null, expectOpen: true, workflow },
      records: [note('session_stopped', { ...call, session }, { reason: 'refusal_limit', refusals: streak })],
    },
    shell,
  );
  shell.live.streaks.delete(session);
}
