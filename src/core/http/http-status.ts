/**
 * Maps every reply to its HTTP status. Must not read message texts, and no program should read meaning from the status
 * alone.
 */
import { isPending, isSuccess, type ActionErrorReply, type Reply, type ValidationFailedReply } from '../call/reply.ts';
import { codes, errors, type CodeOfError, type DeniedCode, type ErrorCode, type ErrorName } from '../taxonomy.ts';
import { unreachable } from '../values/unreachable.ts';

export function httpStatusOf(reply: Reply): number {
  if (isSuccess(reply)) return 200;
  if (isPending(reply)) return 202;
  switch (reply.error) {
    case 'validation_failed':
      return statusOfValidation(reply);
    case 'denied':
      return codes[reply.code].http;
    case 'action_error':
      return statusOfActionError(reply);
    case 'session_error':
      return statusOfSession(reply.code);
    case 'invalid_transition':
    case 'unknown_action':
    case 'fenced':
    case 'action_timeout':
    case 'action_in_flight':
    case 'cancelled':
    case 'internal_error':
      return errors[reply.error].http[0];
    default:
      return unreachable(reply);
  }
}

/** Every status that a reply with this name and code can have, the usual one first; empty if they never meet. */
export function statusesOf(error: ErrorName, code: ErrorCode): readonly number[] {
  const carried: readonly ErrorCode[] = errors[error].codes;
  if (!carried.includes(code)) return [];
  switch (error) {
    case 'validation_failed':
      return code === 'InputTooLarge' ? [413] : code === 'InputInvalid' ? [422, 400] : [422];
    case 'denied':
      return [codes[code as DeniedCode].http];
    case 'action_error':
      return statusesOfActionError(code);
    case 'session_error':
      return [statusOfSession(code as CodeOfError<'session_error'>)];
    case 'invalid_transition':
    case 'unknown_action':
    case 'fenced':
    case 'action_timeout':
    case 'action_in_flight':
    case 'cancelled':
    case 'internal_error':
      return errors[error].http;
    default:
      return unreachable(error);
  }
}

function statusesOfActionError(code: ErrorCode): readonly number[] {
  if (code === 'StaleEvidence') return [409];
  if (codes[code].class === 'ProviderCapability') return [422];
  return code === 'ResourceBusy' ? [502, 503] : [502];
}

function statusOfValidation(reply: ValidationFailedReply): number {
  if (reply.code === 'InputTooLarge') return 413;
  // Nothing is requested only when the call could not be read.
  return reply.requested === null ? 400 : 422;
}

function statusOfActionError(reply: ActionErrorReply): number {
  if (reply.code === 'StaleEvidence') return 409;
  if (reply.class === 'ProviderCapability') return 422;
  // An open breaker knows when it will let calls through again, and a 503 must carry Retry-After.
  return reply.code === 'ResourceBusy' && reply.resolution.type === 'retry_after' ? 503 : 502;
}

function statusOfSession(code: CodeOfError<'session_error'>): number {
  switch (code) {
    case 'UnknownSession':
      return 404;
    case 'StoreUnavailable':
    case 'Busy':
      return 503;
    case 'ManifestDrift':
    case 'ResumeMismatch':
    case 'StaleSequence':
    case 'RefusalLimit':
    case 'SessionStopped':
      return 409;
    default:
      return unreachable(code);
  }
}
