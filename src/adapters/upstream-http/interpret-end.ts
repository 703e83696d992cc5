/**
 * Maps the end of an HTTP request to the outcome of the call. The status decides the kind; fields of the body add
 * words, a subject and a wait, and never override what the status proves. States the effect only where it is certain.
 */
import { cut } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import { redacted } from '../../core/policy/redact-paths.ts';
import { egressSentence } from '../../core/policy/policy-refusal.ts';
import { describeMismatch } from '../../core/schema/field-errors.ts';
import type { ErrorKind } from '../../core/taxonomy.ts';
import { safeText } from '../../core/values/redact.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import { type Failure, makeFailure, type UpstreamResult } from '../../ports/upstream.ts';
import { isRedirect, provesNothingDone } from './follow-redirects.ts';
import type { HideSecrets } from '../shared/http/hide-secrets.ts';
import type { HttpTarget, HttpTool } from './http-config.ts';
import type { HttpLimits } from './http-limits.ts';
import { conflictSubject, isStaleEvidence, readErrorBody } from './read-error-body.ts';
import { readRetryAfter } from '../shared/http/retry-after.ts';
import type { HttpAnswer, HttpEnd } from '../shared/http/send-request.ts';

export interface Reading {
  readonly target: HttpTarget;
  readonly tool: HttpTool;
  readonly limits: HttpLimits;
  readonly hide: HideSecrets;
  readonly nowMs: () => number;
}

export function failed(kind: ErrorKind, message: string, more: Partial<Failure> = {}): UpstreamResult {
  return { kind: 'failed', failure: makeFailure(kind, message, { errorType: 'HttpError', ...more }) };
}

export async function interpretEnd(end: HttpEnd, reading: Reading): Promise<UpstreamResult> {
  const { name } = reading.target;
  switch (end.kind) {
    case 'answered':
      return end.status < 300 ? interpretSuccess(end, reading) : interpretRefusal(end, reading);
    case 'unsent':
      return failed('never_sent', `'${name}': ${end.reason}`, {
        errorType: 'NotConnected',
        effect: 'none',
        cause: reading.hide(end.cause),
      });
    case 'denied':
      // After a redirect another server had the request: only its refusal proves that it did nothing.
      return failed(end.after === 'nothing' ? 'never_sent' : 'unknown', egressSentence(end.host), {
        errorType: 'EgressDenied',
        subject: 'egress',
        effect: end.after === 'redirects' ? null : 'none',
      });
    case 'lost':
      return interpretLoss(end, reading);
    case 'stopped':
      return failed('cancelled', end.sent ? 'stopped: its connection was closed' : 'stopped before it was sent', {
        errorType: 'AbortError',
        effect: end.sent ? null : 'none',
      });
    default:
      return unreachable(end);
  }
}

/** An answer that is lost is one that did not come in time: the request may have been carried out, or may be yet. */
function interpretLoss(end: Extract<HttpEnd, { kind: 'lost' }>, { target, hide }: Reading): UpstreamResult {
  const { name } = target;
  const cause = hide(end.cause);
  switch (end.how) {
    case 'timeout':
      return failed('timeout', `'${name}' did not answer in time`, { errorType: 'TimeoutError', cause });
    case 'closed':
      return failed('timeout', `'${name}' closed the connection without an answer`, {
        errorType: 'ConnectionLost',
        cause,
      });
    case 'malformed':
    case 'too_large': {
      const says = end.how === 'malformed' ? 'something that is no HTTP' : 'a body that is too large';
      return malformed(`'${name}' answered with ${says}`, { cause });
    }
    default:
      return unreachable(end.how);
  }
}

function malformed(message: string, more: Partial<Failure>): UpstreamResult {
  return failed('schema_validation', message, { subject: 'response', errorType: 'OutputMalformed', ...more });
}

type ReadBody = { readonly ok: true; readonly output: Json } | { readonly ok: false; readonly problem: string };

const emptyStatuses: readonly number[] = [204, 205];
const isJson = (type: string | undefined): boolean => /^[^;]*[/+]json\s*(?:;|$)/i.test(type ?? '');

/** JSON is parsed, any other text is a text, nothing is null. */
function readBody({ headers, body }: HttpAnswer, hide: HideSecrets): ReadBody {
  if (body === null || body.length === 0) return { ok: true, output: null };
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') return { ok: false, problem: 'is compressed, which nobody asked for' };
  try {
    const text = hide(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (!isJson(headers['content-type'])) return { ok: true, output: text };
    return { ok: true, output: JSON.parse(text) as Json };
  } catch {
    return { ok: false, problem: isJson(headers['content-type']) ? 'is no JSON' : 'is no UTF-8' };
  }
}

async function interpretSuccess(answer: HttpAnswer, { target, tool, hide, limits }: Reading): Promise<UpstreamResult> {
  const read = readBody(answer, hide);
  if (!read.ok) return malformed(`the answer of '${target.name}' ${read.problem}`, {});
  const { output } = read;
  const isEmpty = output === null && (emptyStatuses.includes(answer.status) || tool.plan.method === 'HEAD');
  const errors = isEmpty ? [] : ((await tool.checkOutput?.(output)) ?? []);
  const mixed = answer.status === 207 ? ({ mixed: true } as const) : {};
  if (errors.length === 0) return { kind: 'returned', output, errors: [], ...mixed };
  const message = describeMismatch(tool.name, errors);
  const tell = (shown: Json) => ({ message, cause: cut(JSON.stringify(shown), limits.maxCauseChars) });
  return malformed(message, { ...tell(output), given: { output, tell } });
}

function interpretRefusal(answer: HttpAnswer, reading: Reading): UpstreamResult {
  const { target, limits, hide } = reading;
  const { status, headers } = answer;
  const read = readBody(answer, hide);
  const text = read.ok && read.output !== null ? read.output : '';
  const said = readErrorBody(text, limits.maxRetryAfterSeconds);
  const plain = plainMessage(status, target);
  const words = said.words === null ? '' : `: ${said.words}`;
  const message = safeText(`${plain}${words}`, limits.maxMessageChars);
  const cause = cut(typeof text === 'string' ? text : JSON.stringify(text), limits.maxCauseChars);
  const waits = readRetryAfter(headers, reading.nowMs(), limits.maxRetryAfterSeconds) ?? said.retryAfterSeconds;
  const kind = kindOfStatus(status);
  // Paths into results say nothing about a refusal, so where something is masked all of its words are.
  const tell = (shown: Json) => (shown === cause ? { message, cause } : { message: plain, cause: String(shown) });
  return failed(kind, message, {
    subject: subjectOf(kind, said.codes, target),
    errorType: `Http${status}`,
    effect: provesNothingDone(status) ? 'none' : null,
    retryAfterSeconds: kind === '429' || kind === '5xx' ? waits : null,
    cause,
    given: { output: cause, withoutWords: redacted, tell },
  });
}

function plainMessage(status: number, { name, redirects }: HttpTarget): string {
  const message = `'${name}' answered with HTTP status ${status}`;
  if (!isRedirect(status)) return message;
  return `${message}, a redirect that ${redirects === 'none' ? 'redirects: none does' : 'these redirects do'} not follow`;
}

function subjectOf(kind: ErrorKind, codes: readonly string[], { conflicts }: HttpTarget): string | null {
  if (kind === '409_conflict') return conflictSubject(codes, conflicts);
  return kind === '412_precondition' && isStaleEvidence(codes, conflicts) ? 'evidence' : null;
}

const kinds: Readonly<Record<number, ErrorKind>> = {
  401: '401_unauthenticated',
  403: '403_forbidden',
  404: '404_not_found',
  // The server gave up waiting for the request, and says nothing of what it did with what it had.
  408: 'timeout',
  409: '409_conflict',
  412: '412_precondition',
  425: '429',
  429: '429',
  // Forbidden by law.
  451: '403_forbidden',
};

const invalidStatuses: readonly number[] = [400, 405, 406, 410, 411, 413, 414, 415, 416, 422, 431];

/** 501 and 505 stay 5xx: a proxy on the way may have said so after the request was passed on. */
function kindOfStatus(status: number): ErrorKind {
  const known = Object.hasOwn(kinds, status) ? kinds[status] : undefined;
  if (known !== undefined) return known;
  if (invalidStatuses.includes(status)) return '400_invalid';
  return status >= 500 ? '5xx' : 'unknown';
}
