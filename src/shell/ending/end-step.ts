/**
 * What does the end of an attempt do to the workflow? A success moves its state, in the same transaction; everything else
 * gives the turn back and leaves the state alone. An update that throws after a success stops the session.
 */
import { type Envelope, failed, type RestingReply } from '../../core/call/answer.ts';
import type { Call } from '../../core/call/call.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { safeText } from '../../core/values/redact.ts';
import type { Effect } from '../../core/taxonomy.ts';
import { operationOf, type StepFact, viewAfter, withDueFired } from '../../core/workflow/step.ts';
import type { Moved } from '../../core/workflow/workflow.ts';
import type { StoredCall } from '../../ports/store.ts';
import { maskInputs } from '../mask.ts';
import { readAhead } from '../session/drift.ts';
import { digestOf, draftOf, orphansOf } from '../session/position.ts';
import { nextActions, type Shell } from '../shell.ts';
import { givingBack, note, type Papers } from './transition.ts';
import { type Weighed, weighFailure } from '../attempt/weigh.ts';

/** The step under way: where its session stood, and the inputs that passed. */
export interface Step {
  readonly fact: StepFact;
  readonly inputs: Json;
}

export interface StepEnd {
  readonly reply: RestingReply;
  readonly papers: Papers;
  /** Goes into the record of the outcome. */
  readonly facts: JsonObject;
}

export function endStep(from: Call, call: Call, weighed: Weighed, effect: Effect, step: Step, shell: Shell): StepEnd {
  const { fact } = step;
  // A success that comes to light later is adopted by the next equal step: the state does not move behind an agent's back.
  const moves = call.state === 'SUCCEEDED' && from.state === 'DISPATCHED' && weighed.result !== undefined;
  if (!moves) return leave(from, call, weighed, effect, step, shell);
  const now = shell.ports.clock.nowMs();
  const moved = move(call, step, weighed.result ?? null, now, shell);
  if (moved.kind === 'failed') return stopForRepair(call, moved, fact, shell);
  const snapshot = draftOf(moved.snapshot);
  const digest = digestOf(call.session as NonNullable<Call['session']>, snapshot.text, shell);
  const after = withDueFired({ ...fact, snapshot: moved.snapshot, seq: fact.seq + 1, digest }, now);
  const envelope = { ...envelopeOfStep(call, after, shell), step: viewAfter(fact, after) };
  return {
    reply: weighed.reply(envelope, effect),
    papers: { workflow: { ...givingBack(call, from.state), snapshot }, expectSeq: fact.seq },
    facts: { state_before: fact.digest, state_after: digest, step: after.seq },
  };
}

/** INVARIANT: guards are asked about the inputs that came; the state is made of nothing that must not be shown. */
function move({ tool, agent }: Call, { fact, inputs }: Step, result: Json, nowMs: number, shell: Shell): Moved {
  const shown = maskInputs(inputs, agent, shell);
  return fact.workflow.machine.apply(fact.snapshot, tool, inputs, result, nowMs, shown);
}

function leave(from: Call, call: Call, weighed: Weighed, effect: Effect, step: Step, shell: Shell): StepEnd {
  const { fact } = step;
  const envelope = envelopeOfStep(call, fact, shell, step.inputs);
  const ended = weighed.reply(envelope, effect);
  // The session was open when the step began; if it was cancelled meanwhile, nothing is next in it.
  const isOver = 'code' in ended && ended.code === 'SessionCancelled';
  const reply = isOver ? weighed.reply({ ...envelope, nextActions: [] }, effect) : ended;
  return {
    reply: fact.workflow.debugMessages ? withCause(reply, weighed, shell) : reply,
    papers: { workflow: givingBack(call, from.state) },
    facts: { state_before: fact.digest, state_after: fact.digest, step: fact.seq },
  };
}

/** A read whose result the workflow cannot take has had no effect: it failed, and the session stays where it is. */
export function asFailedRead(call: Call, weighed: Weighed, step: Step, shell: Shell): Weighed {
  if (call.effectClass !== 'pure' || weighed.result === undefined) return weighed;
  const moved = move(call, step, weighed.result, shell.ports.clock.nowMs(), shell);
  if (moved.kind !== 'failed') return weighed;
  const failure = {
    ...unfollowed,
    errorType: moved.errorType,
    message: `the workflow cannot follow: ${moved.problem}`,
  };
  return weighFailure(call, failure, shell.limits);
}

const unfollowed = {
  kind: 'threw',
  subject: null,
  effect: 'none',
  retryAfterSeconds: null,
  code: null,
  cause: null,
} as const;

/** For authors at work: the cause chain reaches the agent too, because the workflow says so. Secrets still do not. */
function withCause(reply: RestingReply, { payloads }: Weighed, { limits }: Shell): RestingReply {
  const cause = payloads.find(({ part }) => part === 'cause')?.text;
  if (cause === undefined || !('error' in reply) || reply.error !== 'action_error') return reply;
  const told = safeText(`${reply.error_message}\n${String(JSON.parse(cause))}`, limits.maxMessageChars);
  return { ...reply, error_message: told };
}

function stopForRepair(
  call: Call,
  { errorType, problem }: { readonly errorType: string; readonly problem: string },
  fact: StepFact,
  shell: Shell,
): StepEnd {
  const message = `the action succeeded, and the workflow's state could not follow: ${problem}`;
  const reply = failed(
    { ...envelopeOfStep(call, fact, shell), nextActions: [] },
    {
      classification: {
        class: 'ToolTerminal',
        code: 'ExecutionFailed',
        verdict: 'server_error_5xx',
        detail: 'state_update',
        recognised: false,
        effect: 'applied',
      },
      effect: 'applied',
      errorType,
      message,
      retryAfterSeconds: null,
      maxMessageChars: shell.limits.maxMessageChars,
    },
  );
  const becomes = { state: 'stopped', reason: 'repair' } as const;
  const resolution = { type: 'replan', reason: 'the session is stopped: reset or fork it' } as const;
  return {
    reply: { ...reply, resolution },
    papers: {
      workflow: { ...givingBack(call, 'DISPATCHED'), becomes },
      notes: [note('session_stopped', call, { reason: 'repair', state: fact.digest })],
    },
    facts: { state_before: fact.digest, state_after: fact.digest, step: fact.seq, state_update: 'failed' },
  };
}

/** The next actions as they are now: this step's own doubt and its running body count already. `inputs`: if they are known here. */
export function envelopeOfStep(call: Call, fact: StepFact, shell: Shell, inputs: Json | null = null): Envelope {
  const session = call.session as NonNullable<Call['session']>;
  const action = fact.workflow.actions.get(call.tool);
  const operation = action === undefined || inputs === null ? (action?.operation ?? '') : operationOf(action, inputs);
  const doubt = { operation, callId: call.id, session, fingerprint: call.fingerprint, inDoubt: true };
  const others = fact.fences.filter(({ callId }) => callId !== call.id);
  const fences = call.state === 'IN_DOUBT' ? [...others, doubt] : others;
  const standing: StepFact = { ...fact, fences, running: orphansOf(session, shell) };
  // A timer may have fallen due while the body ran.
  const now = fact.drift === null ? withDueFired(standing, shell.ports.clock.nowMs()) : standing;
  return { requested: call.tool, callId: call.id, session, nextActions: nextActions(shell, call, now) };
}

/** For a call that this process does not run: where its session stands is read. */
export async function envelopeElsewhere(call: Call, shell: Shell): Promise<Envelope> {
  const session = call.session === null ? null : await shell.ports.store.session(call.session);
  const fact = session === null ? null : await readAhead(session, shell);
  if (fact !== null) return envelopeOfStep(call, fact, shell);
  // Of a workflow that is not served here nobody can say what is next.
  const next = session !== null && session.workflow !== null ? [] : nextActions(shell, call);
  return { requested: call.tool, callId: call.id, session: call.session, nextActions: next };
}

/** A call that nobody runs here is moved: does its session have a turn to give back? */
export async function turnOf(call: StoredCall, next: Call, shell: Shell): Promise<Papers> {
  const session = call.session === null ? null : await shell.ports.store.session(call.session);
  return session === null || session.workflow === null ? {} : { workflow: givingBack(next, call.state) };
}
