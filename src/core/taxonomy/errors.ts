/**
 * The error names of replies and the fields each adds. Common fields are in reply.ts; statuses are in http-status.ts.
 */
import type { ClassOfCode, ErrorCode } from './codes.ts';
import type { Effect } from './effects.ts';
import type { Entry } from './entry.ts';

/** What may be claimed about the effect: never any; what is known; unknown until something proves otherwise. */
export type EffectRule = 'none' | 'as_stated' | 'unknown_unless_proven';

interface ErrorEntry extends Entry {
  /** Every status such a reply can have, the usual one first. */
  readonly http: readonly number[];
  readonly effect: EffectRule;
  readonly codes: readonly ErrorCode[];
  readonly fields: readonly string[];
  readonly optional_fields: readonly string[];
}

export const errors = {
  invalid_transition: {
    title: 'Not reachable now',
    meaning: 'The action exists, and the current state does not allow it.',
    agent: 'Pick one of valid_next_actions.',
    operator: 'Nothing, unless agents often try it.',
    http: [409],
    effect: 'none',
    codes: ['InvalidTransition', 'GuardError'],
    fields: ['blocked_by'],
    optional_fields: [],
  },
  unknown_action: {
    title: 'Unknown action',
    meaning: 'No action or tool has the requested name.',
    agent: 'Use a name from known_actions.',
    operator: 'Nothing, unless a tool is missing from the configuration.',
    http: [404],
    effect: 'none',
    codes: ['UnknownAction'],
    fields: ['known_actions', 'did_you_mean'],
    optional_fields: ['known_total'],
  },
  validation_failed: {
    title: 'Input refused',
    meaning: 'The input was refused before anything ran.',
    agent: 'Correct what errors lists and send the call again.',
    operator: 'Describe the input better if agents often get it wrong.',
    http: [422, 413, 400],
    effect: 'none',
    codes: ['InputInvalid', 'KeyReused', 'InputTooLarge'],
    fields: ['reason', 'details', 'errors'],
    optional_fields: [],
  },
  denied: {
    title: 'Denied or held',
    meaning: 'Governance refuses the call, or holds it until something has happened.',
    agent: 'Do what the resolution says.',
    operator: 'The reply names the rule, the limit or the provider.',
    http: [403, 202, 409, 429, 503],
    effect: 'none',
    codes: [
      'POLICY_DENY',
      'POLICY_DEFER',
      'RATE_EXCEEDED',
      'BUDGET_EXCEEDED',
      'DAEMON_NOT_READY',
      'COMPLETION_BLOCKED',
      'EGRESS_DENIED',
      'MODEL_DENIED',
      'CREDENTIAL_UNAVAILABLE',
    ],
    fields: ['human_message'],
    optional_fields: ['rule_ref', 'budget_id', 'provider'],
  },
  fenced: {
    title: 'Operation is fenced',
    meaning: 'An earlier call of the same operation has to be settled first.',
    agent: 'Choose another action while the earlier call is being settled.',
    operator: 'Settle the blocking call or resolve the ticket.',
    http: [409],
    effect: 'none',
    codes: ['Fenced'],
    fields: [],
    // At least one of the two is there; the schema says so.
    optional_fields: ['blocking_call_id', 'ticket_id'],
  },
  action_timeout: {
    title: 'No result in time',
    meaning: 'The action ran and did not finish within its time limit.',
    agent: 'Read the effect before you repeat anything.',
    operator: 'Compare the time limit with how long the tool really takes.',
    http: [504],
    effect: 'unknown_unless_proven',
    codes: ['ExecutionTimeout'],
    fields: ['timeout_seconds'],
    optional_fields: ['verdict', 'compensation', 'outcome', 'attempts'],
  },
  action_error: {
    title: 'The action failed',
    meaning: 'The action passed the gates and failed, or was stopped at the last check before it was sent.',
    agent: 'Read the effect and the resolution; the error type and message are those of the tool.',
    operator: 'Look at the tool; the journal has the whole story of the call.',
    http: [502, 503, 409, 422],
    effect: 'as_stated',
    // The last four are denials met after dispatch: by the egress proxy, or by a gate before a retry.
    codes: [
      'ShapeInvalid',
      'ContractVersionMismatch',
      'ConfigSchemaViolation',
      'NetworkTimeout',
      'Provider5xx',
      'RateLimited',
      'MissingStreaming',
      'MissingToolCalling',
      'ContextWindowTooSmall',
      'ExecutionTimeout',
      'ResourceBusy',
      'InputInvalid',
      'OutputMalformed',
      'Forbidden',
      'NotFound',
      'ExecutionFailed',
      'KeyReused',
      'InputTooLarge',
      'StaleEvidence',
      'ManifestDrift',
      'StoreUnavailable',
      'ResumeMismatch',
      'UnknownSession',
      'SessionCancelled',
      'TurnCancelled',
      'ToolCancelled',
      'LifecycleFailure',
      'DependencyCycle',
      'DependencyMissing',
      'POLICY_DENY',
      'EGRESS_DENIED',
      'MODEL_DENIED',
      'CREDENTIAL_UNAVAILABLE',
    ],
    fields: ['error_type', 'error_message', 'verdict', 'compensation', 'outcome'],
    optional_fields: ['attempts', 'evidence'],
  },
  action_in_flight: {
    title: 'Already running',
    meaning: 'Another call has to finish first; this request started nothing.',
    agent: 'Wait for the call that is in flight.',
    operator: 'Nothing, unless it runs for longer than it should.',
    http: [409],
    effect: 'none',
    codes: ['ActionInFlight'],
    fields: ['in_flight_call_id'],
    optional_fields: [],
  },
  cancelled: {
    title: 'Cancelled',
    meaning: 'The call, its turn or its session was stopped on request.',
    agent: 'Stop this line of work; read the effect.',
    operator: 'Nothing, if the cancellation was wanted.',
    http: [409],
    effect: 'as_stated',
    codes: ['SessionCancelled', 'TurnCancelled', 'ToolCancelled'],
    fields: [],
    optional_fields: [],
  },
  session_error: {
    title: 'Session cannot go on',
    meaning: 'The session is unknown, has moved on, or cannot be used now.',
    agent: 'Do what the resolution says.',
    operator: 'Look at the store and at the history of the session.',
    http: [409, 404, 503],
    effect: 'none',
    codes: [
      'ManifestDrift',
      'StoreUnavailable',
      'ResumeMismatch',
      'UnknownSession',
      'StaleSequence',
      'RefusalLimit',
      'SessionStopped',
      'Busy',
    ],
    fields: [],
    optional_fields: [],
  },
  internal_error: {
    title: 'Defect of the gateway',
    meaning: 'The gateway failed by its own fault.',
    agent: 'Read the effect, then choose another action or tell a person.',
    operator: 'Search the log for the correlation id.',
    http: [500],
    effect: 'as_stated',
    codes: ['Unexpected'],
    fields: ['correlation_id'],
    optional_fields: [],
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorName = keyof typeof errors;
export type CodeOfError<Name extends ErrorName> = (typeof errors)[Name]['codes'][number];
export type ClassOfError<Name extends ErrorName> = ClassOfCode<CodeOfError<Name>>;
export type EffectOfError<Name extends ErrorName> = (typeof errors)[Name]['effect'] extends 'none' ? 'none' : Effect;
