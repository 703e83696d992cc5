/** Writes refusals and failures for clients of models: the provider's error object, with a status that errors have. */
import { httpStatusOf } from '../../../core/http/http-status.ts';
import type { ErrorReply, Notice, Reply } from '../../../core/call/reply.ts';
import { isRefusal } from '../../../core/call/reply.ts';
import type { ModelOperation } from '../../../core/model/protocol.ts';
import { type ErrorShape, providerError } from '../../../core/model/provider-error.ts';
import type { JsonObject } from '../../../core/values/json.ts';
import type { Headers, Written } from '../answer.ts';
import { retryAfter } from '../write-answer.ts';

/** In place of a status that is no error, such as 202 of a call that is held. */
const heldStatus = 403;

export function statusOf(reply: ErrorReply): number {
  if (reply.error === 'action_error' && reply.compensation !== null) {
    // What the provider itself answered has its status, so that a client throws what it would throw without us.
    if (reply.verdict === 'auth_expired') return 401;
    return statusesOfProviders[reply.code] ?? httpStatusOf(reply);
  }
  const status = httpStatusOf(reply);
  return status < 300 ? heldStatus : status;
}

const statusesOfProviders: Readonly<Partial<Record<ErrorReply['code'], number>>> = {
  InputInvalid: 400,
  ContextWindowTooSmall: 400,
  Forbidden: 403,
  NotFound: 404,
  RateLimited: 429,
  Provider5xx: 500,
};

export function errorAnswer(reply: ErrorReply, say: ModelOperation['sayError'], more: Headers = {}): Written {
  const status = statusOf(reply);
  const { call_id: id, notices } = reply;
  const headers = { ...idHeaders(id), ...noticeHeader(notices), ...retryHeaders(reply, status), ...more };
  return { kind: 'json', status, value: say(reply, status), headers };
}

/** What was made for every client, for one that reads only errors of a provider. */
export function asProviderError(made: Written, shape: ErrorShape): Written {
  if (made.kind === 'problem') {
    const { status, detail: message, code } = made.problem;
    const value = providerError(shape, { status, message, code, id: null });
    return { kind: 'json', status, value, headers: { ...doNotRetry, ...made.headers } };
  }
  if (made.kind !== 'reply' || !isRefusal(made.reply)) return made;
  return errorAnswer(made.reply, (reply, status) => sayIn(shape, reply, status), made.headers);
}

function sayIn(shape: ErrorShape, reply: ErrorReply, status: number): JsonObject {
  const { message, code, call_id: id } = reply;
  return providerError(shape, { status, message, code, members: reply, id });
}

const doNotRetry = { 'x-should-retry': 'false' };

/** The gateway retries; the client waits only on denials that say for how long, where nothing ran. */
function retryHeaders(reply: ErrorReply, status: number): Headers {
  const mayRetry = reply.error === 'denied' && reply.resolution.type === 'retry_after';
  return { 'x-should-retry': String(mayRetry), ...retryAfter(reply, status) };
}

/** Under the names that the clients of the providers read. */
export const idHeaders = (callId: string): Headers => {
  const id = encodeURIComponent(callId);
  return { 'recourse-call-id': id, 'x-request-id': id, 'request-id': id };
};

/** More notices are left out: they are in the reply at GET /v1/calls/{id}. */
const maxNoticeChars = 4_096;

export function noticeHeader(notices: readonly Notice[] = []): Headers {
  let written = '';
  for (let count = notices.length; count > 0; count--) {
    written = asAscii(JSON.stringify(notices.slice(0, count)));
    if (written.length <= maxNoticeChars) return { 'recourse-notices': written };
  }
  return {};
}

/** JSON as it may stand in a header. */
const asAscii = (json: string): string =>
  json.replaceAll(/[^ -~]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);

export function successHeaders(reply: Extract<Reply, { action: string }>): Headers {
  const { call_id: id, notices, replayed } = reply;
  return { ...idHeaders(id), ...noticeHeader(notices), ...(replayed === true ? { 'recourse-replayed': 'true' } : {}) };
}
