/**
 * Builds the reply that every door sends from the outcome of a call. `effect` follows from the recorded state; it is
 * never guessed.
 * Path of a call: 7/7. Next: the caller.
 */
import type { CallId, SessionId } from './call.ts';
import { totalOf } from './offer-tools.ts';
import type { Classification } from '../recovery/classify.ts';
import { renderForModel } from '../recovery/render-error.ts';
import type { Refusal } from './refusal.ts';
import type { ErrorReply, PartialError, PendingReply, Reply, SuccessReply } from './reply.ts';
import type { Compensation, DispatchOutcome, Effect, Resolution } from '../taxonomy.ts';
import type { StepView } from '../workflow/step.ts';

/** What every reply gets from its call. */
export interface Envelope {
  readonly requested: string | null;
  readonly callId: CallId;
  readonly session: SessionId | null;
  readonly nextActions: readonly string[];
  /** Where the session's workflow stands after a success; absent without one. */
  readonly step?: StepView;
  /** What the dispatcher made of failures; absent without any. */
  readonly dispatch?: DispatchView;
  /** With which the call can be undone once it has succeeded. */
  readonly reversalToken?: string;
}

/** `outcome` is null for a success at the first attempt of this process. */
export interface DispatchView {
  readonly attempts: number;
  readonly compensation: Compensation | null;
  readonly outcome: DispatchOutcome | null;
}

/** Replies rest without `seq`, which the store gives them when it records the success. */
export type RestingReply = ErrorReply | Omit<SuccessReply, 'seq'>;

/** A success, and a failure that moved the state, tell the sequence that they were recorded with. */
export function withSeq(reply: RestingReply, seq: number): Reply {
  return 'error' in reply && !('state' in reply) ? reply : { ...reply, seq };
}

export function succeeded(envelope: Envelope, result: unknown, errors: readonly PartialError[]): RestingReply {
  return {
    action: envelope.requested ?? '',
    result,
    state: envelope.step?.state ?? null,
    ...offered(envelope.nextActions),
    call_id: envelope.callId,
    session: envelope.session,
    ...(envelope.reversalToken === undefined ? {} : { reversal_token: envelope.reversalToken }),
    ...attemptsOf(envelope),
    ...(errors.length > 0 ? { errors } : {}),
    ...(envelope.step?.done === true ? { done: true } : {}),
    ...(envelope.step === undefined || envelope.step.schemas === null
      ? {}
      : { next_action_schemas: envelope.step.schemas }),
  };
}

export function refused(envelope: Envelope, refusal: Refusal): ErrorReply {
  const { error, class: kind, code, message, resolution, ...own } = refusal;
  const said = { error, class: kind, code, message, effect: 'none', resolution: possible(resolution) };
  return { ...said, ...own, ...common(envelope) } as unknown as ErrorReply;
}

export interface FailureFacts {
  readonly classification: Classification;
  readonly effect: Effect;
  readonly errorType: string;
  readonly message: string;
  readonly retryAfterSeconds: number | null;
  readonly maxMessageChars: number;
}

export function failed(envelope: Envelope, failure: FailureFacts): ErrorReply {
  const { classification, effect } = failure;
  const { errorType, message } = renderForModel(failure, failure.maxMessageChars);
  const isEgress = classification.code === 'EGRESS_DENIED';
  return {
    error: 'action_error',
    class: classification.class,
    code: classification.code,
    message: `action '${envelope.requested ?? ''}' failed: ${message}`,
    effect,
    resolution: isEgress && effect === 'none' ? ofEgress : afterFailure(envelope, effect, failure.retryAfterSeconds),
    error_type: errorType,
    error_message: message,
    verdict: classification.verdict,
    compensation: envelope.dispatch?.compensation ?? null,
    outcome: envelope.dispatch?.outcome ?? null,
    ...attemptsOf(envelope),
    ...common(envelope),
  };
}

/** The list stays as it is: asking again does not help. */
const ofEgress: Resolution = { type: 'rule_block', rule_id: 'egress' };

export function timedOut(envelope: Envelope, timeoutMs: number, effect: Effect): ErrorReply {
  // A clock that was set forward may have passed the deadline before the call was created.
  const seconds = Math.max(0, timeoutMs) / 1_000;
  return {
    error: 'action_timeout',
    class: 'ToolTransient',
    code: 'ExecutionTimeout',
    message: `action '${envelope.requested ?? ''}' exceeded its ${seconds}s timeout.`,
    effect,
    resolution: afterFailure(envelope, effect, null),
    timeout_seconds: seconds,
    ...dispatchOfTimeout(envelope),
    ...common(envelope),
  };
}

/** What was cancelled: the session, a turn of it, or this one call. */
export type CancelScope = 'SessionCancelled' | 'TurnCancelled' | 'ToolCancelled';

const cancelledWhat: Readonly<Record<CancelScope, string>> = {
  SessionCancelled: 'its session was cancelled',
  TurnCancelled: 'its turn was cancelled',
  ToolCancelled: 'the call was cancelled',
};

export function cancelled(envelope: Envelope, scope: CancelScope, effect: Effect): ErrorReply {
  return {
    error: 'cancelled',
    class: 'Cancellation',
    code: scope,
    message: `action '${envelope.requested ?? ''}' was stopped: ${cancelledWhat[scope]}.`,
    effect,
    resolution: afterCancellation(envelope, scope, effect),
    ...common(envelope),
  };
}

export function internalError(envelope: Envelope, correlationId: string, effect: Effect): ErrorReply {
  return {
    error: 'internal_error',
    class: 'Internal',
    code: 'Unexpected',
    message: `the gateway failed by its own fault; an operator finds it under ${correlationId}.`,
    effect,
    resolution: afterFailure(envelope, effect, null),
    correlation_id: correlationId,
    ...common(envelope),
  };
}

export function pending(envelope: Envelope, retryAfterSeconds: number): PendingReply {
  return {
    pending: true,
    call_id: envelope.callId,
    requested: envelope.requested ?? '',
    session: envelope.session,
    retry_after_seconds: retryAfterSeconds,
  };
}

export function replayed(reply: Reply): Reply {
  return 'pending' in reply ? reply : { ...reply, replayed: true };
}

/** A cancelled session has no next action. */
function afterCancellation(envelope: Envelope, scope: CancelScope, effect: Effect): Resolution {
  if (scope !== 'SessionCancelled' || effect === 'unknown') return afterFailure(envelope, effect, null);
  return { type: 'replan', reason: 'the session was cancelled; open a new one' };
}

/** A day: an upstream that asks for more is told of as if it had asked for this. */
const maxRetryAfterSeconds = 86_400;

/** Where an effect may have happened, finding out comes before anything else. */
function afterFailure(envelope: Envelope, effect: Effect, retryAfterSeconds: number | null): Resolution {
  if (effect === 'unknown') return { type: 'reconcile', call_id: envelope.callId };
  const outcome = envelope.dispatch?.outcome ?? null;
  if (outcome?.kind === 'escalated') return { type: 'escalated', ticket_id: outcome.ticket_id, queue: outcome.queue };
  if (outcome?.kind === 'deprecated') return { type: 'replan', reason: outcome.reason };
  if (effect === 'none' && retryAfterSeconds !== null)
    return { type: 'retry_after', retry_after_seconds: Math.min(Math.ceil(retryAfterSeconds), maxRetryAfterSeconds) };
  return chooseFrom(envelope.nextActions);
}

const attemptsOf = ({ dispatch }: Envelope): { readonly attempts?: number } =>
  dispatch === undefined || dispatch.attempts <= 1 ? {} : { attempts: dispatch.attempts };

function dispatchOfTimeout(envelope: Envelope) {
  const { compensation = null, outcome = null } = envelope.dispatch ?? {};
  if (compensation === null || outcome === null) return {};
  return { verdict: 'transient_timeout', compensation, outcome, ...attemptsOf(envelope) } as const;
}

/** INVARIANT: nobody is told to choose from nothing. */
export function chooseFrom(actions: readonly string[]): Resolution {
  if (actions.length > 0) return { type: 'choose_action', actions };
  return { type: 'replan', reason: 'no action is possible now; tell the person you work for' };
}

/** What helped where the step was refused helps no more where an edge has led, unless the step is legal there too. */
export function resolvedThere<Reply extends RestingReply>(reply: Reply): Reply {
  if (!('error' in reply)) return reply;
  const { resolution, valid_next_actions: next, requested } = reply;
  const isStale = ['choose_action', 'fix_input', 'retry_after', 'replan', 'budget_reset'].includes(resolution.type);
  const isLegal = requested !== null && next.includes(requested);
  if (!isStale || (isLegal && resolution.type !== 'choose_action')) return reply;
  return { ...reply, resolution: chooseFrom(next) };
}

function possible(resolution: Resolution): Resolution {
  return resolution.type === 'choose_action' ? chooseFrom(resolution.actions) : resolution;
}

/** What comes next, as every reply says it. */
export function offered(actions: readonly string[]): Pick<SuccessReply, 'valid_next_actions' | 'next_total'> {
  const total = totalOf(actions);
  return { valid_next_actions: actions, ...(total === null ? {} : { next_total: total }) };
}

function common(envelope: Envelope) {
  const { step } = envelope;
  return {
    requested: envelope.requested,
    ...offered(envelope.nextActions),
    call_id: envelope.callId,
    session: envelope.session,
    ...(step === undefined ? {} : { state: step.state, ...(step.done ? { done: true as const } : {}) }),
  };
}
