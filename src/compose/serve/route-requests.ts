/**
 * Routes requests at the address to the MCP and HTTP doors, and answers "not ready" until they are open. Every answer
 * is typed JSON. Must not load anything slow: it answers from the first moment.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import { refused } from '../../core/call/answer.ts';
import type { CallId } from '../../core/call/call.ts';
import type { Readiness } from '../../core/gates/facts.ts';
import { notReady as refusalOf, whileClosing } from '../../core/gates/ready.ts';
import { errorShapeAt, type ErrorShape, providerError } from '../../core/model/provider-error.ts';
import { isObject } from '../../core/values/json.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import type { ConsoleDoor } from '../../doors/console/console-door.ts';
import { writeText } from '../../doors/mcp/call/write-text.ts';

export interface Handler {
  handle(request: IncomingMessage, response: ServerResponse): void;
}

export interface Router {
  handle(request: IncomingMessage, response: ServerResponse): void;
  open(opened: RoutedDoors): void;
  close(): void;
}

export interface RoutedDoors {
  /** MCP, by path. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** Everything else. */
  readonly http: Handler;
}

type NotReady = Extract<Readiness, { ready: false }>;

const maxWaitingBodyBytes = 1 << 20;

/** `page`: the console, which is served from the first moment, and asks by itself when the gateway is ready. */
export function createRouter(page: Pick<ConsoleDoor, 'handle'>): Router {
  let opened: RoutedDoors | null = null;
  let readiness: Readiness = { ready: false, doing: 'starting', retryAfterSeconds: 2 };
  return {
    handle(request, response) {
      request.on('error', () => undefined);
      response.on('error', () => undefined);
      const at = request.url?.split('?')[0] ?? '/';
      if (page.handle(request, response)) return;
      if (!readiness.ready || opened === null) return sayNotReady(at, request, readiness as NotReady, response);
      (opened.handlers.get(at) ?? opened.http).handle(request, response);
    },
    open(given) {
      opened = given;
      readiness = { ready: true };
    },
    close() {
      readiness = whileClosing;
    },
  };
}

/** In the format of a reply, so that a client needs no other. */
function sayNotReady(at: string, request: IncomingMessage, readiness: NotReady, response: ServerResponse): void {
  if (at === '/healthz') {
    request.resume();
    return write(response, 200, 'application/json', { status: readiness.doing });
  }
  if (at.startsWith('/mcp') && request.method === 'POST') return sayToMcp(request, readiness, response);
  request.resume();
  const shape = errorShapeAt(at);
  return shape === null ? sayProblem(readiness, response) : sayToModels(shape, readiness, response);
}

function sayToModels(shape: ErrorShape, readiness: NotReady, response: ServerResponse): void {
  const reply = notReady(null, readiness);
  response.setHeader('x-should-retry', 'true');
  const { message, code, call_id: id } = reply;
  return write(
    response,
    503,
    'application/json',
    providerError(shape, { status: 503, message, code, members: reply, id }),
    readiness,
  );
}

function sayProblem(readiness: NotReady, response: ServerResponse): void {
  const reply = notReady(null, readiness);
  const problem = { type: `urn:recourse:code:${reply.code}`, title: 'Gateway is not ready', status: 503 };
  return write(response, 503, 'application/problem+json', { ...problem, detail: reply.message, ...reply }, readiness);
}

/** A call gets its reply as a tool result; other requests get a problem. */
function sayToMcp(request: IncomingMessage, readiness: NotReady, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxWaitingBodyBytes) chunks.push(chunk);
  });
  request.on('end', () => {
    const asked = bytes <= maxWaitingBodyBytes ? calledIn(Buffer.concat(chunks)) : null;
    if (asked === null) return sayProblem(readiness, response);
    const reply = notReady(asked.tool, readiness);
    const result = {
      content: [{ type: 'text', text: writeText(reply, false) }],
      structuredContent: reply,
      isError: true,
      resultType: 'complete',
    };
    write(response, 200, 'application/json', { jsonrpc: '2.0', id: asked.id, result }, readiness);
  });
}

function calledIn(bytes: Buffer): { readonly id: string | number; readonly tool: string | null } | null {
  try {
    const message: unknown = JSON.parse(bytes.toString('utf8'));
    if (!isObject(message) || message['method'] !== 'tools/call') return null;
    const { id, params } = message;
    if (typeof id !== 'string' && typeof id !== 'number') return null;
    const name = isObject(params) ? params['name'] : null;
    return { id, tool: typeof name === 'string' ? name : null };
  } catch {
    return null;
  }
}

function notReady(requested: string | null, readiness: NotReady): ErrorReply {
  const envelope = { requested, callId: `call_${randomUUID()}` as CallId, session: null, nextActions: [] };
  return refused(envelope, refusalOf(readiness));
}

function write(response: ServerResponse, status: number, type: string, body: object, readiness?: NotReady): void {
  const wait = readiness === undefined ? {} : { 'retry-after': String(readiness.retryAfterSeconds) };
  response.writeHead(status, { 'content-type': type, ...wait }).end(`${JSON.stringify(body)}\n`);
}
