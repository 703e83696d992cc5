/**
 * Turns an answer into status, headers and bytes. A reply keeps its members in every form: as it is if it is good news or has
 * to wait, as a problem of RFC 9457 otherwise.
 */
import type { ServerResponse } from 'node:http';
import { httpStatusOf } from '../../core/http/http-status.ts';
import { problemType } from '../../core/http/door-problems.ts';
import { type ErrorReply, isPending, isSuccess, type Reply } from '../../core/call/reply.ts';
import { codes } from '../../core/taxonomy.ts';
import type { Answer, Headers } from './answer.ts';

type Written = Exclude<Answer, { kind: 'stream' }>;

export function writeAnswer(answer: Written, response: ServerResponse, isClosing: boolean): void {
  const { status, type, text, headers } = inWords(answer);
  response
    .writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
      // Whoever comes again should not find the door that is about to close.
      ...(isClosing ? { connection: 'close' } : {}),
    })
    // As a text, so that head and body leave in one write.
    .end(text);
}

interface Words {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers: Headers;
}

const plain = 'application/json';
const problem = 'application/problem+json';

function inWords(answer: Written): Words {
  const headers = 'headers' in answer ? (answer.headers ?? {}) : {};
  switch (answer.kind) {
    case 'reply':
      return replyInWords(answer.reply, headers);
    case 'json':
      return { status: answer.status, type: plain, text: JSON.stringify(answer.value), headers };
    case 'problem':
      return { status: answer.problem.status, type: problem, text: JSON.stringify(answer.problem), headers };
    case 'text':
      return { status: 200, type: answer.type, text: answer.text, headers };
    default:
      return answer satisfies never;
  }
}

function replyInWords(reply: Reply, more: Headers): Words {
  const status = httpStatusOf(reply);
  if (isSuccess(reply)) return { status, type: plain, text: JSON.stringify(reply), headers: more };
  const headers = { ...retryAfter(reply, status), ...more };
  if (isPending(reply)) {
    const location = `/v1/calls/${encodeURIComponent(reply.call_id)}`;
    return { status, type: plain, text: JSON.stringify(reply), headers: { location, ...headers } };
  }
  if (status < 300) return { status, type: plain, text: JSON.stringify(reply), headers };
  return { status, type: problem, text: JSON.stringify(problemOf(reply, status)), headers };
}

export function problemOf(reply: ErrorReply, status: number) {
  const rfc9457 = {
    type: problemType(reply.code),
    title: codes[reply.code].title,
    status,
    detail: reply.message,
    instance: `urn:recourse:call:${encodeURIComponent(reply.call_id)}`,
  };
  return { ...rfc9457, ...reply };
}

const atLeastSeconds = 1;

/** 429 and 503 always say when; others if the reply does. */
function retryAfter(reply: Exclude<Reply, { action: string }>, status: number): Headers {
  const seconds = isPending(reply) ? reply.retry_after_seconds : secondsIn(reply);
  if (seconds === null && status !== 429 && status !== 503) return {};
  return { 'retry-after': String(Math.max(atLeastSeconds, Math.ceil(seconds ?? atLeastSeconds))) };
}

function secondsIn({ resolution }: ErrorReply): number | null {
  if (resolution.type === 'retry_after') return resolution.retry_after_seconds;
  if (resolution.type !== 'budget_reset') return null;
  return (Date.parse(resolution.resets_at) - Date.now()) / 1_000;
}
