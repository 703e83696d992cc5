/**
 * Writes an answer as status, headers and body. A success or a pending reply is written as it is.
 * Every other reply is a problem document (RFC 9457) with the members of the reply.
 */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { httpStatusOf } from '../../core/http/http-status.ts';
import { type DoorProblem, doorProblem, problemType } from '../../core/http/door-problems.ts';
import { type ErrorReply, isPending, isSuccess, type Reply } from '../../core/call/reply.ts';
import { codes } from '../../core/taxonomy.ts';
import type { Headers, Written as Writable } from './answer.ts';

export function writeAnswer(answer: Writable, response: ServerResponse, isClosing: boolean): void {
  const { status, type, text, headers } = write(answer);
  response
    .writeHead(status, {
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
      // The client should not send its next request to a door that is about to close.
      ...(isClosing ? { connection: 'close' } : {}),
    })
    // A string, so that headers and body leave in one write.
    .end(text);
}

interface Written {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers: Headers;
}

const plain = 'application/json';
const problem = 'application/problem+json';

function write(answer: Writable): Written {
  const headers = 'headers' in answer ? (answer.headers ?? {}) : {};
  switch (answer.kind) {
    case 'reply':
      return writeReply(answer.reply, headers);
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

function writeReply(reply: Reply, more: Headers): Written {
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

/** 429 and 503 have Retry-After, unless waiting does not help; others if the reply says when. */
export function retryAfter(reply: Exclude<Reply, { action: string }>, status: number): Headers {
  if (!isPending(reply) && reply.resolution.type === 'rule_block') return {};
  const seconds = isPending(reply) ? reply.retry_after_seconds : secondsIn(reply);
  if (seconds === null && status !== 429 && status !== 503) return {};
  return { 'retry-after': String(Math.max(atLeastSeconds, Math.ceil(seconds ?? atLeastSeconds))) };
}

function secondsIn({ resolution }: ErrorReply): number | null {
  if (resolution.type === 'retry_after') return resolution.retry_after_seconds;
  if (resolution.type !== 'budget_reset') return null;
  return (Date.parse(resolution.resets_at) - Date.now()) / 1_000;
}

/** Answers a client that sent something other than HTTP with a problem document, and closes the connection. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex, mayAnswer: boolean): void {
  // If it may not be answered, the client would take the answer for that of another request on the connection.
  if (error.code === 'ECONNRESET' || !socket.writable || !mayAnswer) return void socket.destroy();
  const problem = problemFor(error.code);
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function problemFor(code: string | undefined): DoorProblem {
  if (code === 'HPE_HEADER_OVERFLOW') return doorProblem('HeadersTooLarge', 'send fewer or shorter headers');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return doorProblem('RequestTimeout', 'send the whole request sooner');
  return doorProblem('MalformedRequest', 'this cannot be read as HTTP');
}
