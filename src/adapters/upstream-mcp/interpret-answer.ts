/**
 * Maps the end of a request (result, JSON-RPC error, HTTP status, fault) to the outcome of the call. States the
 * effect only where it is certain; the core decides the rest. Does not read message texts.
 */
import { canonicalise, cut } from '../../core/values/canonical.ts';
import { isObject, type Json } from '../../core/values/json.ts';
import { egressSentence } from '../../core/policy/policy-refusal.ts';
import { redacted } from '../../core/policy/redact-paths.ts';
import type { ErrorKind } from '../../core/taxonomy.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import { type Failure, makeFailure, type UpstreamResult } from '../../ports/upstream.ts';
import type { ErrorMeaning } from './mcp-config.ts';
import type { McpLimits } from './mcp-limits.ts';
import type { RpcError } from './rpc-message.ts';
import type { WireAnswer } from './wire-answer.ts';

const maxCanonicalDepth = 256;

export function failed(kind: ErrorKind, message: string, more: Partial<Failure> = {}): UpstreamResult {
  return { kind: 'failed', failure: makeFailure(kind, message, { errorType: 'McpError', ...more }) };
}

/** `onError`: what the configuration says that an error answer of this tool proves. */
export function interpretAnswer(
  answer: WireAnswer,
  server: string,
  limits: McpLimits,
  onError: ErrorMeaning = 'unknown',
): UpstreamResult {
  switch (answer.kind) {
    case 'result':
      return interpretResult(answer.result, limits, onError);
    case 'error':
      return interpretError(answer, null, limits);
    case 'refused':
      return answer.said === null
        ? interpretRefusal(answer, server)
        : interpretError(answer.said, answer.status, limits);
    case 'unsent':
      if (answer.isDenied === true) return denied('never_sent', answer.reason);
      return failed('never_sent', `server '${server}': ${answer.reason}`, {
        errorType: 'NotConnected',
        subject: answer.retryAfterSeconds === undefined ? null : 'not_connected',
        effect: 'none',
        retryAfterSeconds: answer.retryAfterSeconds ?? null,
        cause: answer.cause,
      });
    case 'lost':
      return failed('unknown', `server '${server}' was lost while the call ran: ${answer.reason}`, {
        errorType: 'ConnectionLost',
        cause: answer.cause,
      });
    case 'timed_out':
      return failed('timeout', `server '${server}' did not answer in time`, { errorType: 'TimeoutError' });
    case 'aborted':
      return failed('cancelled', answer.sent ? 'stopped: its server was told' : 'stopped before it was sent', {
        errorType: 'AbortError',
        effect: answer.sent ? null : 'none',
      });
    default:
      return unreachable(answer);
  }
}

/** Stopped by an egress list: before it was sent, or while it ran. */
const denied = (kind: ErrorKind, message: string, more: Partial<Failure> = {}): UpstreamResult =>
  failed(kind, message, { errorType: 'EgressDenied', subject: 'egress', ...more });

/**
 * What a failure means while which the server was denied a host. What it did before and after that is not known, so the
 * effect is what the failure itself proves.
 */
export function deniedOnTheWay(result: UpstreamResult, host: string): UpstreamResult {
  if (result.kind !== 'failed' || result.failure.kind === 'never_sent' || result.failure.kind === 'cancelled')
    return result;
  const { kind, effect, cause, given } = result.failure;
  const message = egressSentence(host);
  const tell = given && { ...given, tell: (output: Json) => ({ message, cause: given.tell(output).cause }) };
  return denied(kind === 'threw' ? 'threw' : 'unknown', message, { effect, cause, ...(tell && { given: tell }) });
}

/** The same ends in a few words, for the status of a server. */
export function describeAnswer(answer: WireAnswer): string {
  switch (answer.kind) {
    case 'result':
      return 'it answered';
    case 'error':
      return `it answered with error ${answer.code}`;
    case 'refused':
      return answer.redirectsTo === null
        ? `it answered with HTTP status ${answer.status}`
        : `it redirects to ${answer.redirectsTo}; write that address as its url`;
    case 'unsent':
    case 'lost':
      return answer.reason;
    case 'timed_out':
      return 'it did not answer in time';
    case 'aborted':
      return 'nobody waited';
    default:
      return unreachable(answer);
  }
}

function interpretResult(result: unknown, limits: McpLimits, onError: ErrorMeaning): UpstreamResult {
  if (!isObject(result)) return noToolResult(result, limits);
  const { resultType, ...rest } = result;
  if (resultType === 'input_required') {
    const message = 'the tool asks for input before it goes on, and this gateway does not pass such questions on yet';
    return failed('unknown', message, { errorType: 'InputRequired', ...givenAs(result, () => message, limits) });
  }
  if (resultType !== undefined && resultType !== 'complete') {
    const message = 'the server answered with a kind of result that this gateway does not know';
    return failed('unknown', message, { errorType: 'UnsupportedResult', ...givenAs(result, () => message, limits) });
  }
  if (result['isError'] === true) {
    const messageIn = (given: unknown) =>
      (isObject(given) ? textIn(given['content'], limits.maxMessageChars) : null) ?? 'the tool failed without a word';
    const effect = onError === 'none' ? 'none' : null;
    return failed('threw', messageIn(result), {
      errorType: 'ToolError',
      effect,
      ...givenAs(result, messageIn, limits),
    });
  }
  // No client could read it, so it must not be reported as a success.
  if (result['content'] !== undefined && !Array.isArray(result['content'])) return noToolResult(result, limits);
  // `resultType` belongs to the protocol, not to the tool. The rest passes unchanged.
  return { kind: 'returned', output: resultType === undefined ? result : rest, errors: [] };
}

function noToolResult(result: unknown, limits: McpLimits): UpstreamResult {
  const message = 'the server answered with something that is no tool result';
  return failed('schema_validation', message, {
    subject: 'response',
    errorType: 'OutputMalformed',
    ...givenAs(result, () => message, limits),
  });
}

interface KindOfCode {
  readonly kind: ErrorKind;
  readonly errorType: string;
  /** The HTTP status with which the protocol sends this code, only before anything was done. */
  readonly beforehandAs?: number;
}

/** The codes that JSON-RPC and MCP define. Other codes are a server's own and prove nothing. */
const kindOfCode: Readonly<Record<number, KindOfCode>> = {
  [-32_700]: { kind: '400_invalid', errorType: 'ParseError' },
  [-32_600]: { kind: '400_invalid', errorType: 'InvalidRequest' },
  [-32_601]: { kind: '404_not_found', errorType: 'MethodNotFound' },
  [-32_602]: { kind: '400_invalid', errorType: 'InvalidParams' },
  [-32_603]: { kind: '5xx', errorType: 'InternalError' },
  [-32_002]: { kind: '404_not_found', errorType: 'ResourceNotFound' },
  [-32_020]: { kind: '400_invalid', errorType: 'HeaderMismatch' },
  // The tool needs a client capability that this gateway does not offer yet.
  [-32_021]: { kind: 'unknown', errorType: 'MissingClientCapability', beforehandAs: 400 },
  [-32_022]: { kind: 'unknown', errorType: 'UnsupportedProtocolVersion', beforehandAs: 400 },
  [-32_042]: { kind: 'unknown', errorType: 'UrlElicitationRequired' },
};

/** `status`: of the HTTP refusal with which the error came; null if it came as a normal answer. */
function interpretError({ code, message, data }: RpcError, status: number | null, limits: McpLimits): UpstreamResult {
  const known = Object.hasOwn(kindOfCode, code) ? kindOfCode[code] : undefined;
  const { kind, errorType, beforehandAs } = known ?? { kind: 'unknown' as const, errorType: 'ProtocolError' };
  const messageIn = (given: unknown) => {
    const said = isObject(given) && typeof given['message'] === 'string' ? given['message'] : '';
    return cut(said, limits.maxMessageChars).toWellFormed() || `the server answered with error ${code}`;
  };
  const given = { code, message, data };
  const withoutWords = { code, message: redacted, ...(data === undefined ? {} : { data: redacted }) };
  return failed(kind, messageIn(given), {
    errorType,
    // INVARIANT: a code proves nothing. The SDKs answer a malformed result, and whatever code a tool throws, like a
    // malformed request.
    effect: beforehandAs !== undefined && beforehandAs === status ? 'none' : 'unknown',
    ...givenAs(given, messageIn, limits, withoutWords),
  });
}

function interpretRefusal(answer: Extract<WireAnswer, { kind: 'refused' }>, server: string): UpstreamResult {
  const { status, retryAfterSeconds, cause } = answer;
  const message = `server '${server}' answered with HTTP status ${status}`;
  const errorType = `Http${status}`;
  // These redirects ask to send the same request elsewhere, so it was not carried out here. It is not sent on.
  const effect = status === 307 || status === 308 ? 'none' : null;
  const tell = (shown: Json) => ({ message, cause: String(shown) });
  const given = { output: cause, withoutWords: redacted, tell };
  return failed(kindOfStatus(status), message, { errorType, effect, retryAfterSeconds, cause, given });
}

function kindOfStatus(status: number): ErrorKind {
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return '400_invalid';
    case 401:
      return '401_unauthenticated';
    case 403:
      return '403_forbidden';
    case 404:
    case 405:
    case 410:
      return '404_not_found';
    case 409:
      return '409_conflict';
    case 412:
      return '412_precondition';
    case 429:
      return '429';
    default:
      return status >= 500 ? '5xx' : 'unknown';
  }
}

/**
 * What came with a failure goes to the audit. It can be masked first; then message and cause are made again from it.
 */
export function givenAs(
  output: unknown,
  messageIn: (output: unknown) => string,
  limits: McpLimits,
  withoutWords?: Json,
): Pick<Failure, 'cause' | 'given'> {
  const tell = (shown: unknown) => ({ message: messageIn(shown), cause: written(shown, limits) });
  const given = { output: output as Json, tell, ...(withoutWords === undefined ? {} : { withoutWords }) };
  return { cause: written(output, limits), given };
}

function textIn(content: unknown, maxChars: number): string | null {
  if (!Array.isArray(content)) return null;
  let text = '';
  for (const item of content as unknown[]) {
    if (!isObject(item) || item['type'] !== 'text' || typeof item['text'] !== 'string') continue;
    text += `${text === '' ? '' : '\n'}${item['text'].slice(0, maxChars)}`;
    if (text.length > maxChars) break;
  }
  return text === '' ? null : cut(text, maxChars).toWellFormed();
}

export function written(value: unknown, limits: McpLimits): string | null {
  const canonical = canonicalise(value, { maxDepth: maxCanonicalDepth });
  return canonical.ok ? cut(canonical.text, limits.maxCauseChars) : null;
}
