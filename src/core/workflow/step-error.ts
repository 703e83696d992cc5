/**
 * Events that a machine hears when a step ends otherwise than by its result: `<action>.failed`, and the outcomes that a
 * stage names. Says which replies are such an end: what was refused because of the session itself is none.
 */
import type { RestingReply } from '../call/answer.ts';
import type { Effect, ErrorCode, ErrorName, Verdict } from '../taxonomy.ts';
import type { JsonObject } from '../values/json.ts';

/** What guards and assigns of an error edge see as `event.error`. The names are those of the reply. */
export interface StepError {
  readonly error: ErrorName;
  readonly class: string;
  readonly code: ErrorCode;
  /** Null where nothing was sent. */
  readonly verdict: Verdict | null;
  readonly effect: Effect;
  readonly message: string;
}

/** Which outcomes each action may have beside its success: its edges are `<action>.<outcome>`. */
export type Outcomes = ReadonlyMap<string, readonly string[]>;

export const failedOutcome = 'failed';
export const skippedOutcome = 'skipped';

export const outcomeEvent = (action: string, outcome: string): string => `${action}.${outcome}`;

/** Null unless the event is the outcome of a known action; an action of that very name comes first. */
export function readOutcome(
  event: string,
  outcomes: Outcomes,
): { readonly action: string; readonly outcome: string } | null {
  if (outcomes.has(event)) return null;
  const dot = event.lastIndexOf('.');
  const action = event.slice(0, Math.max(0, dot));
  const outcome = event.slice(dot + 1);
  return outcomes.get(action)?.includes(outcome) === true ? { action, outcome } : null;
}

/** The action of an outcome as a graph writes it. */
export const actionOfOutcome = (event: string): string => event.slice(0, Math.max(0, event.lastIndexOf('.')));

const ends: ReadonlySet<ErrorName> = new Set([
  'action_error',
  'action_timeout',
  'validation_failed',
  'denied',
] as const);

/** Nothing was decided about the step: it waits for a person, or the gateway is not ready. */
const openCodes: ReadonlySet<ErrorCode> = new Set(['POLICY_DEFER', 'DAEMON_NOT_READY'] as const);

/** Null for a success, and for what says nothing about the step itself. */
export function stepErrorOf(reply: RestingReply): StepError | null {
  if (!('error' in reply) || !ends.has(reply.error) || openCodes.has(reply.code)) return null;
  const { error, code, effect, message } = reply;
  const verdict = 'verdict' in reply ? (reply.verdict ?? null) : null;
  return { error, class: reply.class, code, verdict, effect, message };
}

export const errorAsJson = (error: StepError): JsonObject => ({ ...error });
