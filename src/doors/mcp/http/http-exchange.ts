/**
 * Converts between node:http and the web-standard Request and Response of the SDK, and writes the refusals of this
 * door.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PARSE_ERROR } from '@modelcontextprotocol/server';
import { whereKeysAre, whyUnknown } from '../../../core/http/door-problems.ts';
import type { WatchedClient } from '../../../shell/call/requester.ts';
import type { Body, BodyLimits } from '../../shared/read-body.ts';

const writtenFor = new WeakMap<Request, Promise<boolean>>();

/** Whether the response to this request was written completely before the client left. */
export const writtenWhole = (request: Request): Promise<boolean> | undefined => writtenFor.get(request);

/** Without the body, which was read already. */
export function webRequest(request: IncomingMessage, { left, written }: WatchedClient): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const web = new Request('http://localhost/mcp', { method: request.method ?? 'GET', headers, signal: left });
  writtenFor.set(web, written);
  return web;
}

export async function writeResponse(from: Response, to: ServerResponse): Promise<void> {
  to.writeHead(from.status, Object.fromEntries(from.headers));
  if (from.body === null) return void to.end();
  if (!(from.headers.get('content-type') ?? '').startsWith('text/event-stream')) {
    to.end(Buffer.from(await from.arrayBuffer()));
    return;
  }
  const reader = from.body.getReader();
  // Ignored: the reader is gone with its connection.
  to.on('close', () => void reader.cancel().catch(() => undefined));
  to.flushHeaders();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || to.destroyed) break;
      if (!to.write(value)) await drained(to);
    }
  } finally {
    to.end();
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
}

/** The code that the SDK's transports use for such refusals. */
export const refused = -32_000;

/** Refuses a body that is not a message. */
export function refuseBody(
  to: ServerResponse,
  kind: Exclude<Body['kind'], 'json' | 'broken'>,
  limits: BodyLimits,
): void {
  if (kind === 'too_large')
    return refuseExchange(to, 413, refused, `the body is larger than ${limits.maxBodyBytes} bytes`);
  if (kind === 'stalled') return refuseExchange(to, 408, refused, 'the body took too long to arrive: send it sooner');
  return refuseExchange(to, 400, PARSE_ERROR, 'the body is not JSON');
}

/** A JSON-RPC error for a request that never becomes a message. */
export function refuseExchange(to: ServerResponse, status: number, code: number, message: string): void {
  const headers = {
    'content-type': 'application/json',
    ...(status === 413 || status === 408 ? { connection: 'close' } : {}),
    ...(status === 503 ? { 'retry-after': '5' } : {}),
    ...(status === 405 ? { allow: 'GET, POST, DELETE' } : {}),
  };
  to.writeHead(status, headers).end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null }));
}

/** A client without a valid key; `no_agent`: the key is valid, but not an agent's. */
export interface Stranger {
  readonly problem: keyof typeof whyUnknown | 'no_agent';
}

const agentNeeded = `the key of an agent is needed: send it as Authorization: Bearer <key>; ${whereKeysAre}`;
const whyTurnedAway = { ...whyUnknown, missing: agentNeeded, no_agent: agentNeeded };

/** HTTP 401, or 503 while the keys cannot be read. */
export function refuseStranger(to: ServerResponse, { problem }: Stranger): void {
  const message = whyTurnedAway[problem];
  if (problem === 'unavailable') return refuseExchange(to, 503, refused, message);
  const headers = { 'content-type': 'application/json', 'www-authenticate': 'Bearer realm="recourse"' };
  to.writeHead(401, headers).end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_001, message }, id: null }));
}
