/** The replies of the gateway as types, with the field names of the JSON. Every door sends exactly these. Data only. */
import type {
  ClassOfCode,
  ClassOfError,
  CodeOfError,
  Compensation,
  DispatchOutcome,
  EffectOfError,
  ErrorCode,
  ErrorName,
  NoticeCode,
  Resolution,
  Verdict,
} from '../taxonomy.ts';

/** A soft signal beside another reply. */
export interface Notice {
  readonly code: NoticeCode;
  readonly human_message: string;
  readonly resolution: Resolution;
  readonly budget_id?: string;
}

/** One failed item of a partial result. */
export interface PartialError<Code extends ErrorCode = ErrorCode> {
  readonly class: ClassOfCode<Code>;
  readonly code: Code;
  readonly item: string | number;
  readonly message?: string;
  /** Only where nobody knows whether it was done. */
  readonly effect?: 'unknown';
}

export interface SuccessReply<Result = unknown> {
  readonly action: string;
  readonly result: Result;
  /** The projection that the workflow's author chose; null without a workflow. */
  readonly state: unknown;
  readonly valid_next_actions: readonly string[];
  /** How many there are, where the list was cut. */
  readonly next_total?: number;
  readonly call_id: string;
  readonly session: string | null;
  readonly seq: number;
  readonly replayed?: true;
  readonly reversal_token?: string;
  /** How often it was sent, if more than once. */
  readonly attempts?: number;
  readonly errors?: readonly PartialError[];
  readonly done?: true;
  readonly next_action_schemas?: Readonly<Record<string, unknown>>;
  readonly notices?: readonly Notice[];
}

export interface PendingReply {
  readonly pending: true;
  readonly call_id: string;
  readonly requested: string;
  readonly session: string | null;
  readonly retry_after_seconds: number;
  readonly notices?: readonly Notice[];
}

/** What every reply that is neither success nor pending carries. */
export interface CommonErrorFields<Name extends ErrorName> {
  readonly error: Name;
  /** Null when the call could not be read. */
  readonly requested: string | null;
  readonly class: ClassOfError<Name>;
  readonly code: CodeOfError<Name>;
  readonly message: string;
  readonly effect: EffectOfError<Name>;
  readonly resolution: Resolution;
  readonly valid_next_actions: readonly string[];
  /** How many there are, where the list was cut. */
  readonly next_total?: number;
  readonly call_id: string;
  readonly session: string | null;
  /** Only if the workflow has an edge for this error, which moved the state: as in a success. */
  readonly state?: unknown;
  readonly seq?: number;
  readonly done?: true;
  /** The stored reply of an earlier call with the same key. */
  readonly replayed?: true;
  readonly notices?: readonly Notice[];
}

/** An edge out of the current state, and the guard that closed it. */
export interface BlockedEdge {
  readonly from: string;
  /** Null for an edge that stays where it is. */
  readonly to: string | null;
  readonly guard: string;
}

export interface InvalidTransitionReply extends CommonErrorFields<'invalid_transition'> {
  /** Empty when no edge of this name leaves the current state. */
  readonly blocked_by: readonly BlockedEdge[];
}

export interface UnknownActionReply extends CommonErrorFields<'unknown_action'> {
  readonly known_actions: readonly string[];
  /** How many there are, where the list was cut. */
  readonly known_total?: number;
  readonly did_you_mean: string | null;
}

export interface InputError {
  readonly path: string;
  readonly expected: string;
  /** Null when the value is missing. */
  readonly got: unknown;
}

export interface ValidationFailedReply extends CommonErrorFields<'validation_failed'> {
  readonly reason: string;
  readonly details: { readonly field: string; readonly got: unknown };
  readonly errors: readonly InputError[];
}

export interface DeniedReply extends CommonErrorFields<'denied'> {
  readonly human_message: string;
  readonly rule_ref?: string;
  readonly budget_id?: string;
  readonly provider?: string;
}

/** Always names what blocks: a call in doubt, an open ticket, or both. */
export type FencedReply = CommonErrorFields<'fenced'> &
  (
    | { readonly blocking_call_id: string; readonly ticket_id?: string }
    | { readonly ticket_id: string; readonly blocking_call_id?: string }
  );

export interface ActionTimeoutReply extends CommonErrorFields<'action_timeout'> {
  readonly timeout_seconds: number;
  /** As in `action_error`; absent if no playbook was asked. */
  readonly verdict?: Verdict;
  readonly compensation?: Compensation;
  readonly outcome?: DispatchOutcome;
  readonly attempts?: number;
}

/** A read that a call relied on, and that says something else by now. */
export interface ChangedEvidence {
  /** The call that read it first. */
  readonly read: string;
  readonly tool: string;
  /** Hashes of what it said, and of what it says now. */
  readonly was: string;
  readonly is: string;
  /** What it says now; only the beginning of its text if `cut`. */
  readonly says: unknown;
  readonly cut?: true;
}

export interface ActionErrorReply extends CommonErrorFields<'action_error'> {
  readonly error_type: string;
  readonly error_message: string;
  readonly verdict: Verdict;
  /** Null where no playbook was asked: nothing was sent, or the body of a step threw; likewise the outcome. */
  readonly compensation: Compensation | null;
  readonly outcome: DispatchOutcome | null;
  /** How often it was sent, if more than once. */
  readonly attempts?: number;
  /** What it relied on and has changed; absent unless that is why it failed. */
  readonly evidence?: readonly ChangedEvidence[];
}

export interface ActionInFlightReply extends CommonErrorFields<'action_in_flight'> {
  readonly in_flight_call_id: string;
}

export type CancelledReply = CommonErrorFields<'cancelled'>;
export type SessionErrorReply = CommonErrorFields<'session_error'>;

export interface InternalErrorReply extends CommonErrorFields<'internal_error'> {
  readonly correlation_id: string;
}

export type ErrorReply =
  | InvalidTransitionReply
  | UnknownActionReply
  | ValidationFailedReply
  | DeniedReply
  | FencedReply
  | ActionTimeoutReply
  | ActionErrorReply
  | ActionInFlightReply
  | CancelledReply
  | SessionErrorReply
  | InternalErrorReply;

export type Reply<Result = unknown> = SuccessReply<Result> | PendingReply | ErrorReply;

export function isSuccess<Result>(reply: Reply<Result>): reply is SuccessReply<Result> {
  return 'action' in reply;
}

export function isPending(reply: Reply): reply is PendingReply {
  return 'pending' in reply;
}

/** Everything that is neither a success nor pending. */
export function isRefusal(reply: Reply): reply is ErrorReply {
  return 'error' in reply;
}
