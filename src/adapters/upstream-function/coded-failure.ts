/**
 * Makes the failure that a body names by class and code. The two must belong together and be legal for a failed
 * action. The kind follows from the code, and the effect from the kind. Does not throw: the caller throws what it
 * returns.
 */
import {
  classes,
  codes,
  effects,
  errors,
  type ClassOfError,
  type CodeOfError,
  type CodesOfClass,
  type Effect,
  type ErrorKind,
  type ErrorSubject,
} from '../../core/taxonomy.ts';
import { ToolFailure, type FailureStatement } from './tool-failure.ts';

export interface FailureDetails {
  /** Only if the body can prove it. */
  readonly effect?: Effect;
  readonly retry_after_seconds?: number;
  readonly cause?: unknown;
}

export interface Fail {
  (failure: FailureStatement): never;
  <Class extends ClassOfError<'action_error'>>(
    errorClass: Class,
    code: CodesOfClass<Class> & CodeOfError<'action_error'>,
    message?: string,
    details?: FailureDetails,
  ): never;
}

type ActionCode = CodeOfError<'action_error'>;

/** The kind that leads to each code elsewhere, so that verdict and effect are the same. */
export const kindOfCode: Readonly<Partial<Record<ActionCode, readonly [ErrorKind, ErrorSubject?]>>> = {
  NetworkTimeout: ['timeout'],
  ExecutionTimeout: ['timeout'],
  Provider5xx: ['5xx'],
  RateLimited: ['429'],
  ResourceBusy: ['never_sent'],
  InputInvalid: ['400_invalid'],
  InputTooLarge: ['400_invalid'],
  NotFound: ['404_not_found'],
  Forbidden: ['403_forbidden'],
  POLICY_DENY: ['403_forbidden'],
  EGRESS_DENIED: ['403_forbidden'],
  MODEL_DENIED: ['403_forbidden'],
  CREDENTIAL_UNAVAILABLE: ['401_unauthenticated'],
  KeyReused: ['409_conflict', 'mismatch'],
  StaleEvidence: ['412_precondition', 'evidence'],
  OutputMalformed: ['schema_validation', 'response'],
  ToolCancelled: ['cancelled'],
  TurnCancelled: ['cancelled'],
  SessionCancelled: ['cancelled'],
  ExecutionFailed: ['threw'],
};

export function codedFailure(errorClass: string, code: unknown, message: unknown, details: unknown): ToolFailure {
  const text = typeof message === 'string' && message !== '' ? message : null;
  const more = typeof details === 'object' && details !== null ? (details as FailureDetails) : {};
  const stated = statedOf(more);
  if (!isActionCode(code) || codes[code].class !== errorClass) {
    const named = `${errorClass.slice(0, 80)}/${typeof code === 'string' ? code.slice(0, 80) : 'no code'}`;
    const known = Object.hasOwn(classes, errorClass) ? '' : `; '${errorClass.slice(0, 80)}' is no class`;
    const said = text === null ? '' : `: ${text}`;
    const problem = `failed with ${named}, which no failed action can have${known}${said}`;
    return new ToolFailure({ kind: 'unknown', message: problem, ...stated });
  }
  const [kind, subject] = kindOfCode[code] ?? ['unknown'];
  return new ToolFailure({
    kind,
    ...(subject === undefined ? {} : { subject }),
    code,
    message: text ?? codes[code].meaning,
    ...stated,
  });
}

function statedOf({ effect, retry_after_seconds, cause }: FailureDetails): Partial<FailureStatement> {
  return {
    ...(typeof effect === 'string' && Object.hasOwn(effects, effect) ? { effect } : {}),
    ...(typeof retry_after_seconds === 'number' ? { retry_after_seconds } : {}),
    ...(cause === undefined ? {} : { cause }),
  };
}

function isActionCode(code: unknown): code is ActionCode {
  return typeof code === 'string' && (errors.action_error.codes as readonly string[]).includes(code);
}
