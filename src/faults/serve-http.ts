/** The HTTP front: reads requests within limits, finds the operation, and writes what the fault makes of its answer. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { isObject, type JsonObject } from '../core/values/json.ts';
import { unreachable } from '../core/values/unreachable.ts';
import type { Desk, Written } from './carry-out.ts';
import { control, type ControlParts } from './control.ts';
import { routeOf } from './operations.ts';
import { problem, type Reply } from './plan-behaviour.ts';
import { callIn, serveMcp } from './serve-mcp.ts';

export interface HttpLimits {
  readonly maxBodyBytes: number;
  readonly maxConnections: number;
  readonly requestTimeoutMs: number;
}

export const defaultHttpLimits: HttpLimits = {
  maxBodyBytes: 256 << 10,
  maxConnections: 1_000,
  requestTimeoutMs: 30_000,
};

export interface HttpParts extends ControlParts {
  readonly desk: Desk;
  readonly limits: HttpLimits;
  /** Stops listening for a while. */
  readonly refuse: (ms: number) => void;
}

export function createHttpFront(parts: HttpParts): Server {
  const { limits } = parts;
  const numbers = new WeakMap<Socket, number>();
  let connections = 0;
  const server = createServer({ requestTimeout: limits.requestTimeoutMs }, (request, response) => {
    // A connection that breaks is no trouble of ours.
    response.on('error', () => undefined);
    void serve(request, response, parts, numbers.get(request.socket) ?? 0).catch(() => response.destroy());
  });
  server.maxConnections = limits.maxConnections;
  server.on('connection', (socket) => {
    connections += 1;
    numbers.set(socket, connections);
  });
  return server;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  parts: HttpParts,
  connection: number,
): Promise<void> {
  const { method = '', headers } = request;
  // A page in a browser must not reach it by a name of its own (DNS rebinding).
  const url = URL.parse(request.url ?? '', `http://${headers.host ?? ''}`);
  if (url === null || !['127.0.0.1', 'localhost'].includes(url.hostname))
    return writeReply(response, problem(403, 'not_local', {}, 'call it as 127.0.0.1 or localhost'));
  const body = await readBody(request, parts.limits.maxBodyBytes);
  if (body === null) return writeReply(response, problem(413, 'too_large', { connection: 'close' }));
  if (url.pathname === '/mcp') return answerMcp(request, response, body, parts, connection);
  const controlled = control(method, url, body, parts);
  if (controlled !== null) return writeReply(response, controlled);
  const route = routeOf(method, url);
  if (route === null) return writeReply(response, problem(404, 'no_such_route', {}, 'GET /openapi.json lists them'));
  const sent = body === '' ? {} : parsed(body);
  if (!isObject(sent)) return writeReply(response, problem(400, 'invalid_json', {}, 'the body is not a JSON object'));
  const key = headers['idempotency-key'];
  const written = await parts.desk.handle({
    operation: route.operation,
    args: { ...(sent as JsonObject), ...route.args },
    key: typeof key === 'string' ? key : null,
    connection,
  });
  write(response, written, parts);
}

async function answerMcp(
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  parts: HttpParts,
  connection: number,
): Promise<void> {
  const message = parsed(body);
  const asked = request.method === 'POST' ? callIn(message, connection) : null;
  const written = asked === null ? null : await parts.desk.handle(asked);
  if (written !== null && belowJsonRpc.has(written.kind)) return write(response, written, parts);
  // An unreadable body is the SDK's to refuse.
  await serveMcp(request, response, request.method === 'POST' ? (message ?? 'not JSON') : undefined, written);
}

const belowJsonRpc: ReadonlySet<Written['kind']> = new Set([
  'reply',
  'malformed',
  'truncated',
  'drop',
  'nothing',
  'refuse',
]);

function write(response: ServerResponse, written: Written, { refuse }: HttpParts): void {
  switch (written.kind) {
    case 'outcome':
    case 'reply':
      return writeReply(response, written.reply);
    case 'instead':
      return writeText(response, JSON.stringify(written.body));
    case 'malformed':
      return writeText(response, '{"id": "re_');
    case 'truncated':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
      return void response.write('{"id":', () => response.socket?.destroySoon());
    case 'drop':
      return void response.socket?.destroy();
    case 'nothing':
      return;
    case 'refuse':
      return refuse(written.ms);
    case 'tool_error':
      return writeReply(response, problem(422, 'tool_error'));
    case 'rpc_error':
      return writeReply(response, problem(500, 'rpc_error'));
    default:
      return unreachable(written);
  }
}

function writeReply(response: ServerResponse, { status, headers, body }: Reply): void {
  response.writeHead(status, headers).end(JSON.stringify(body));
}

function writeText(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(text);
}

/** Null if it is longer than allowed. Rejects if the connection breaks. */
async function readBody(request: IncomingMessage, maxBytes: number): Promise<string | null> {
  // Refused by its announced length, it can still be answered; beyond the limit without one, the connection is cut.
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: no value of a request is undefined.
    return undefined;
  }
}
