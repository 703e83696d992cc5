/**
 * What stands at the address before MCP: who may come in, which handler a path belongs to, whether the gateway is ready. Every
 * answer of its own is JSON. Must not read bodies, nor load what takes long: it answers from the first moment.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { randomUUID } from 'node:crypto';
import type { UpstreamStatus } from '../adapters/upstream-mcp/server-link.ts';
import { refused } from '../core/answer.ts';
import type { CallId } from '../core/call.ts';
import type { Readiness } from '../core/facts.ts';
import { ready as readyGate } from '../core/gates/ready.ts';
import type { McpHttpHandler } from '../doors/mcp/http-handler.ts';

export interface Ready {
  readonly file: string;
  readonly role: string;
  readonly upstreams: readonly Pick<UpstreamStatus, 'name' | 'state' | 'tools' | 'problem'>[];
  readonly tools: number;
  readonly url: string;
  readonly workflows: readonly { readonly name: string; readonly url: string }[];
}

export interface Front {
  handle(request: IncomingMessage, response: ServerResponse): void;
  open(opened: Opened): void;
  close(): void;
}

export interface Opened {
  readonly handlers: ReadonlyMap<string, McpHttpHandler>;
  /** Whether a client calls us by a name of ours. */
  readonly isOurs: (host: string | undefined) => boolean;
  readonly ready: () => Ready;
}

type NotReady = Extract<Readiness, { ready: false }>;

export function createFront(version: string): Front {
  let opened: Opened | null = null;
  let readiness: Readiness = { ready: false, doing: 'starting', retryAfterSeconds: 2 };

  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const at = request.url?.split('?')[0] ?? '/';
    if (!readiness.ready || opened === null) return sayNotReady(at, readiness as NotReady, version, response);
    if (!opened.isOurs(request.headers.host))
      return write(response, 403, { error: 'forbidden', message: 'call this server by one of its own names' });
    const handler = opened.handlers.get(at);
    if (handler !== undefined) return handler.handle(request, response);
    const { url, workflows, role, upstreams, tools } = opened.ready();
    const links = { mcp: url, workflows: Object.fromEntries(workflows.map((each) => [each.name, each.url])) };
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (at === '/healthz' && isRead) return write(response, 200, { status: 'ready', version, role, upstreams, tools });
    if (at === '/' && isRead) return write(response, 200, { name: 'recourse', version, ...links });
    const known = [...opened.handlers.keys()].join(', ');
    return write(response, 404, { error: 'not_found', message: `nothing is at this path; MCP is at ${known}` });
  };

  return {
    handle(request, response) {
      request.on('error', () => undefined);
      response.on('error', () => undefined);
      serve(request, response);
      // What nobody reads must not keep the connection.
      if (response.writableEnded) request.resume();
    },
    open(given) {
      opened = given;
      readiness = { ready: true };
    },
    close() {
      readiness = { ready: false, doing: 'closing', retryAfterSeconds: 2 };
    },
  };
}

/** In the words that a call gets, so that a client needs no others for this. */
function sayNotReady(at: string, readiness: NotReady, version: string, response: ServerResponse): void {
  const headers = { 'retry-after': String(readiness.retryAfterSeconds) };
  if (at === '/healthz' || at === '/')
    return write(response, 503, { name: 'recourse', version, status: readiness.doing }, headers);
  const answer = readyGate.check({} as never, { readiness, inFlight: { now: 0, max: 1 } } as never);
  if (answer.kind !== 'refuse') throw new Error('bug: a gateway that is not ready passed its gate');
  const envelope = { requested: null, callId: `call_${randomUUID()}` as CallId, session: null, nextActions: [] };
  return write(response, 503, refused(envelope, answer.refusal), headers);
}

function write(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(`${JSON.stringify(body)}\n`);
}
