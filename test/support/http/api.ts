/** A small HTTP API for a test, and the parts of an HTTP upstream that calls it. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import {
  defaultKeyPlace,
  type HttpTarget,
  type HttpTool,
  noConflictCodes,
} from '../../../src/adapters/upstream-http/http-config.ts';
import { createHttpUpstream } from '../../../src/adapters/upstream-http/http-upstream.ts';
import { planRequest, type WrittenRequest } from '../../../src/adapters/upstream-http/plan-request.ts';
import type { Attempt, HearLate, UpstreamResult } from '../../../src/ports/upstream.ts';
import { attemptOf } from '../function-upstream.ts';

export interface Heard {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Api {
  readonly url: string;
  readonly heard: readonly Heard[];
  /** How many connections were opened. */
  connections(): number;
  stop(): Promise<void>;
}

export type Answer = (request: Heard, response: ServerResponse) => void;

/** Reads each request whole, keeps it, and answers as it is told. */
export async function listenApi(t: Pick<TestContext, 'after'>, answer: Answer): Promise<Api> {
  const heard: Heard[] = [];
  const listener: RequestListener = (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body };
      heard.push(one);
      answer(one, response);
    });
  };
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  let opened = 0;
  server.on('connection', () => opened++);
  const stop = async () => {
    server.closeAllConnections();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
  t.after(stop);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, heard, connections: () => opened, stop };
}

/** A server that gets the bare connection. */
export async function listenTcp(t: Pick<TestContext, 'after'>, serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const targetOf = (url: string, more: Partial<HttpTarget> = {}): HttpTarget => ({
  name: 'api',
  url,
  headers: {},
  redirects: 'none',
  key: defaultKeyPlace,
  conflicts: noConflictCodes,
  limits: {},
  ...more,
});

export const toolOf = (request: Partial<WrittenRequest> = {}, more: Partial<HttpTool> = {}): HttpTool => ({
  name: 'it',
  effectClass: 'plain',
  plan: planRequest({ method: 'POST', path: '/it', ...request }),
  checkOutput: null,
  ...more,
});

const unstopped = new AbortController().signal;

export type Invoke = (
  args?: unknown,
  signal?: AbortSignal,
  more?: { readonly late?: HearLate; readonly attempt?: Partial<Attempt> },
) => Promise<UpstreamResult>;

/** An upstream with one tool, closed when the test ends. */
export function upstreamOf(t: Pick<TestContext, 'after'>, target: HttpTarget, tool: HttpTool = toolOf()): Invoke {
  const { upstream, close } = createHttpUpstream(target, new Map([[tool.name, tool]]));
  t.after(close);
  return (args = {}, signal = unstopped, { late, attempt } = {}) =>
    upstream.invoke({ ...attemptOf(tool.name, args), timeoutMs: 60_000, ...attempt }, signal, late);
}

export class TimedOut extends Error {
  override name = 'TimeoutError';
}
