/**
 * ToolFailure and partial(): how a body states what went wrong, or that only part of the work was done. Anything else
 * that it throws is `threw`. Must not decide what follows; the taxonomy does.
 */
import type { CodeOfError, Effect, ErrorKind, ErrorSubject } from '../../core/taxonomy.ts';

export interface FailureStatement {
  readonly kind: ErrorKind;
  readonly subject?: ErrorSubject;
  /** Instead of the one that follows from the kind. */
  readonly code?: CodeOfError<'action_error'>;
  readonly message: string;
  /** Only if the body can prove it. */
  readonly effect?: Effect;
  readonly retry_after_seconds?: number;
  /** The `error_type` that the agent reads; 'ToolFailure' if not given. */
  readonly name?: string;
  readonly cause?: unknown;
}

export interface ItemFailureStatement {
  /** Its name, or its place among the items. */
  readonly item: string | number;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly subject?: ErrorSubject;
  /** Only if the body can prove it. */
  readonly effect?: Effect;
}

// Registered symbols, so that objects of another copy of this module are recognised.
const failureMark = Symbol.for('recourse.tool_failure');
const partialMark = Symbol.for('recourse.partial_result');

export class ToolFailure extends Error {
  readonly [failureMark] = true;
  readonly kind: ErrorKind;
  readonly subject: ErrorSubject | undefined;
  readonly code: CodeOfError<'action_error'> | undefined;
  readonly effect: Effect | undefined;
  readonly retry_after_seconds: number | undefined;

  constructor(failure: FailureStatement) {
    super(failure.message, 'cause' in failure ? { cause: failure.cause } : {});
    this.name = failure.name ?? 'ToolFailure';
    this.kind = failure.kind;
    this.subject = failure.subject;
    this.code = failure.code;
    this.effect = failure.effect;
    this.retry_after_seconds = failure.retry_after_seconds;
  }
}

/** A payload in the declared shape, and what is missing from it. */
export interface PartialResult<Result> {
  readonly [partialMark]: true;
  readonly result: Result;
  readonly errors: readonly ItemFailureStatement[];
  readonly of?: number;
}

/** `of`: how many items there were. If all of them failed, the call has failed. */
export function partial<Result>(
  result: Result,
  errors: readonly ItemFailureStatement[],
  { of }: { readonly of?: number } = {},
): PartialResult<Result> {
  return { [partialMark]: true, result, errors, ...(of === undefined ? {} : { of }) };
}

/** Never throws: the value may be a proxy that throws when read. */
export function isToolFailure(value: unknown): boolean {
  return carries(value, failureMark);
}

export function isPartialResult(value: unknown): value is PartialResult<unknown> {
  return carries(value, partialMark);
}

function carries(value: unknown, mark: symbol): boolean {
  try {
    return typeof value === 'object' && value !== null && (value as Record<symbol, unknown>)[mark] === true;
  } catch {
    return false;
  }
}
