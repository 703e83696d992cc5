/**
 * Maps how a request to a provider ended to the outcome of the call. Which error an answer is, its protocol says; here
 * is what is known of the transport, of what was relayed, and of what was used.
 */
import { cut } from '../../core/values/canonical.ts';
import type { Metered } from '../../core/model/model-use.ts';
import type { ModelOperation, ProviderFailure } from '../../core/model/protocol.ts';
import { redacted } from '../../core/policy/redact-paths.ts';
import { egressSentence } from '../../core/policy/policy-refusal.ts';
import type { ErrorKind } from '../../core/taxonomy.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { safeText } from '../../core/values/redact.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import { type Failure, makeFailure, type UpstreamResult } from '../../ports/upstream.ts';
import type { HideSecrets } from '../shared/http/hide-secrets.ts';
import { readRetryAfter } from '../shared/http/retry-after.ts';
import type { HttpAnswer, HttpEnd } from '../shared/http/send-request.ts';
import type { StreamedAnswer, StreamEnd } from './streamed-answer.ts';
import type { WireLimits } from './wire-limits.ts';

export interface Reading {
  /** The name of the provider. */
  readonly name: string;
  readonly operation: ModelOperation;
  readonly metered: Metered;
  readonly args: JsonObject;
  /** Absent: the answer was collected. */
  readonly streamed: StreamedAnswer | undefined;
  readonly limits: WireLimits;
  readonly hide: HideSecrets;
  readonly nowMs: () => number;
}

export function failed(kind: ErrorKind, message: string, more: Partial<Failure> = {}): UpstreamResult {
  return { kind: 'failed', failure: makeFailure(kind, message, { errorType: 'ProviderError', ...more }) };
}

/** The end of the connection, where the stream did not end before it. */
export function interpretHttpEnd(end: HttpEnd, reading: Reading): UpstreamResult {
  const { name, hide, streamed } = reading;
  switch (end.kind) {
    case 'answered':
      if (streamed !== undefined) return broken(endedEarly(name), reading);
      return end.status >= 200 && end.status < 300 ? interpretSuccess(end, reading) : interpretRefusal(end, reading);
    case 'unsent':
      return failed('never_sent', `'${name}': ${end.reason}`, {
        errorType: 'NotConnected',
        effect: 'none',
        cause: hide(end.cause),
      });
    case 'denied':
      return failed('never_sent', egressSentence(end.host), {
        errorType: 'EgressDenied',
        subject: 'egress',
        effect: 'none',
      });
    case 'lost':
      return broken(lossOf(end, reading), reading);
    case 'stopped':
      return failed('cancelled', end.sent ? 'stopped: its connection was closed' : 'stopped before it was sent', {
        errorType: 'AbortError',
        effect: end.sent ? null : 'none',
      });
    default:
      return unreachable(end);
  }
}

/** The end of a stream that says itself how it ended. */
export function interpretStreamEnd(end: StreamEnd, streamed: StreamedAnswer, reading: Reading): UpstreamResult {
  const { name, limits } = reading;
  switch (end.kind) {
    case 'done':
      return { kind: 'returned', output: streamed.answer(), errors: [] };
    case 'failed': {
      const { kind, message, ...more } = toldBy(end.failure, name, limits);
      // An error in place of an answer used nothing.
      const used = end.isFirst ? { used: null } : {};
      return broken(makeFailure(kind, message, { ...more, ...used }), reading);
    }
    case 'malformed':
      return broken(malformed(`the stream of '${name}' has ${end.problem}`), reading);
    case 'left':
      return failed('cancelled', 'whoever asked does not read the answer any more', {
        errorType: 'AbortError',
        ...arrivedOf(reading),
      });
    default:
      return unreachable(end);
  }
}

const endedEarly = (name: string): Failure =>
  makeFailure('5xx', `'${name}' ended its stream before the last event`, { errorType: 'StreamEnded' });

/** INVARIANT: a failure after anything was relayed is a broken stream, which nobody asks for again. */
function broken(failure: Failure, reading: Reading): UpstreamResult {
  const more = reading.streamed === undefined ? {} : { ...arrivedOf(reading), ...usedIn(failure) };
  if (reading.streamed?.hasRelayed() !== true) return { kind: 'failed', failure: { ...failure, ...more } };
  const isBroken = { kind: '5xx', subject: 'stream_broken', code: null, retryAfterSeconds: null } as const;
  return { kind: 'failed', failure: { ...failure, ...more, ...isBroken } };
}

const usedIn = ({ used }: Failure): Pick<Failure, 'used'> => (used === undefined ? {} : { used });

/** What had come of the answer, and what the provider said of its use; if it did not, nobody knows. */
function arrivedOf({ streamed, metered, args }: Reading): Pick<Failure, 'partial' | 'used'> {
  if (streamed === undefined) return {};
  const partial = streamed.answer();
  const used = metered.used(args, partial);
  return { partial, ...(used === null ? {} : { used }) };
}

/** Before an answer, and without one: the request may have been carried out all the same. */
function lossOf(end: Extract<HttpEnd, { kind: 'lost' }>, { name, hide }: Reading): Failure {
  const cause = hide(end.cause);
  const lost = { code: 'NetworkTimeout', cause } as const;
  switch (end.how) {
    case 'timeout':
      return makeFailure('timeout', `'${name}' did not answer in time`, { ...lost, errorType: 'TimeoutError' });
    case 'closed':
      return makeFailure('timeout', `'${name}' closed the connection without its whole answer`, {
        ...lost,
        errorType: 'ConnectionLost',
      });
    case 'malformed':
      return { ...malformed(`'${name}' answered with something that is no HTTP`), cause };
    case 'too_large':
      return { ...malformed(`'${name}' answered with a body that is too large`), cause };
    default:
      return unreachable(end.how);
  }
}

const malformed = (message: string): Failure =>
  makeFailure('schema_validation', message, { subject: 'response', errorType: 'OutputMalformed' });

function interpretSuccess(answer: HttpAnswer, { name, hide }: Reading): UpstreamResult {
  const output = jsonIn(answer, hide);
  if (isObject(output)) return { kind: 'returned', output, errors: [] };
  return { kind: 'failed', failure: malformed(`the answer of '${name}' is no JSON object`) };
}

/** Null if it is no JSON. */
function jsonIn({ headers, body }: HttpAnswer, hide: HideSecrets): Json {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (body === null || encoding !== 'identity') return null;
  try {
    return JSON.parse(hide(new TextDecoder('utf-8', { fatal: true }).decode(body))) as Json;
  } catch {
    return null;
  }
}

function interpretRefusal(answer: HttpAnswer, reading: Reading): UpstreamResult {
  const { name, operation, limits, hide, nowMs } = reading;
  const { status, headers } = answer;
  const said = operation.readError({ status, headers, body: jsonIn(answer, hide) });
  const plain = `'${name}' answered with HTTP status ${status}`;
  if (said === null) return failed(status >= 500 ? '5xx' : 'unknown', plain, { used: null });
  const failure = toldBy(said, name, limits);
  const { message } = failure;
  const cause = cut(hide(answer.body?.toString() ?? ''), limits.maxCauseChars);
  const waits = said.retryAfterSeconds ?? readRetryAfter(headers, nowMs(), limits.maxRetryAfterSeconds);
  const isWaitedFor = (said.kind === '429' && said.subject !== 'quota') || said.kind === '5xx';
  // Paths into results say nothing about a refusal, so where something is masked all of its words are.
  const tell = (shown: Json) => (shown === cause ? { message, cause } : { message: plain, cause: String(shown) });
  return {
    kind: 'failed',
    failure: {
      ...failure,
      retryAfterSeconds: isWaitedFor ? waits : null,
      cause,
      // An error answer uses nothing.
      used: null,
      given: { output: cause, withoutWords: redacted, tell },
    },
  };
}

function toldBy(said: ProviderFailure, name: string, { maxMessageChars }: WireLimits): Failure {
  const { kind, subject, code, errorType, message } = said;
  return makeFailure(kind, safeText(`'${name}' refused: ${message}`, maxMessageChars), {
    subject,
    code,
    errorType: safeText(errorType, maxMessageChars),
    retryAfterSeconds: said.retryAfterSeconds ?? null,
  });
}
