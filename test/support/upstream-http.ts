/**
 * MCP servers over HTTP for tests: the SDK's own in each revision, and one written by hand that answers whatever it is
 * told.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';

export interface Listening {
  readonly url: string;
  readonly http: HttpServer;
  /** Headers of every request, in order. */
  readonly heard: readonly IncomingMessage['headers'][];
  /** No further connections, and every open one is cut. */
  stop(): Promise<void>;
}

export async function listen(t: TestContext, handler: RequestListener, port = 0): Promise<Listening> {
  const heard: IncomingMessage['headers'][] = [];
  const http = createServer((request, response) => {
    heard.push(request.headers);
    handler(request, response);
  });
  http.listen(port, '127.0.0.1');
  await once(http, 'listening');
  const stop = async () => {
    http.closeAllConnections();
    if (!http.listening) return;
    http.close();
    await once(http, 'close');
  };
  t.after(stop);
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, http, heard, stop };
}

/** What the tools of both servers do. */
export interface HttpTools {
  generation: number;
  readonly calls: unknown[];
  readonly aborted: string[];
}

export function httpTools(): HttpTools {
  return { generation: 0, calls: [], aborted: [] };
}

function serverWith(tools: HttpTools): Server {
  const server = new Server(
    { name: 'http-tools', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true } } },
  );
  const region = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } } as const;
  server.setRequestHandler('tools/list', () => ({
    tools: [
      { name: 'echo', inputSchema: region, 'vendor/mark': [1] },
      ...['slow', 'ask'].map((name) => ({ name, inputSchema: { type: 'object' as const } })),
      ...Array.from({ length: tools.generation }, (_, at) => ({
        name: `grown_${at}`,
        inputSchema: { type: 'object' as const },
      })),
    ],
  }));
  server.setRequestHandler('tools/call', async (request, context) => {
    const { name } = request.params;
    tools.calls.push(request.params);
    if (name === 'ask') return { resultType: 'input_required', requestState: 'state', inputRequests: {} } as never;
    if (name === 'slow') {
      await new Promise<void>((resolve) => {
        context.mcpReq.signal.addEventListener('abort', () => {
          tools.aborted.push(name);
          resolve();
        });
      });
    }
    const text = JSON.stringify(request.params);
    return {
      content: [{ type: 'text' as const, text }],
      'vendor/extra': { kept: true },
      _meta: { 'vendor/trace': 'x' },
    };
  });
  return server;
}

/** 2026-07-28 alone: no handshake, no session. */
export async function listenModern(t: TestContext, tools = httpTools()) {
  const handler = createMcpHandler(() => serverWith(tools), { legacy: 'reject' });
  const serve = toNodeHandler(handler) as (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  const listening = await listen(
    t,
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  );
  t.after(() => handler.close());
  return { ...listening, tools, changed: () => handler.notify.toolsChanged() };
}

/** 2025-11-25 with sessions, which it can forget. `unknown` is how it answers a session that it does not know. */
export async function listenLegacy(t: TestContext, tools = httpTools(), unknown = 404, port = 0) {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = request.headers['mcp-session-id'];
    const known = sessions.get(String(id));
    if (known !== undefined) return known.handleRequest(request, response);
    if (id !== undefined) {
      response.writeHead(unknown, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message: 'who are you?' } }));
      return;
    }
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    await serverWith(tools).connect(transport);
    await transport.handleRequest(request, response);
  };
  const listening = await listen(
    t,
    (request, response) => void serve(request, response).catch(() => response.destroy()),
    port,
  );
  return { ...listening, tools, sessions, forget: () => sessions.clear() };
}

/** 2025-11-25 without sessions: every request is served by itself. */
export async function listenStateless(t: TestContext, tools = httpTools()) {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const transport = new NodeStreamableHTTPServerTransport({});
    await serverWith(tools).connect(transport);
    await transport.handleRequest(request, response);
  };
  const listening = await listen(
    t,
    (request, response) => void serve(request, response).catch(() => response.destroy()),
  );
  return { ...listening, tools };
}

export type Answering = (message: { readonly id: number; readonly method: string }, response: ServerResponse) => void;

interface ByHand {
  readonly session?: string;
  readonly lists?: boolean;
  /** How long it takes for each step of the handshake. */
  readonly shakesAfterMs?: number;
}

/**
 * Shakes hands by 2025-11-25, without a session unless one is given; `answering` says what becomes of a call, and of a
 * listing if it does not list by itself.
 */
export function listenByHand(
  t: TestContext,
  answering: Answering,
  { session, lists = true, shakesAfterMs = 0 }: ByHand = {},
): Promise<Listening> {
  const own = session === undefined ? {} : { 'mcp-session-id': session };
  const reply = (response: ServerResponse, id: number, result: unknown) => {
    response.writeHead(200, { 'content-type': 'application/json', ...own });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  };
  return listen(t, (request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const message = JSON.parse(body) as { id: number; method: string };
      if (message.method === 'server/discover')
        return setTimeout(() => response.writeHead(400).end('not here'), shakesAfterMs);
      if (message.method === 'initialize') {
        const capabilities = { tools: {} };
        const serverInfo = { name: 'by-hand', version: '1.0.0' };
        const shaken = { protocolVersion: '2025-11-25', capabilities, serverInfo };
        return setTimeout(() => reply(response, message.id, shaken), shakesAfterMs);
      }
      if (message.method === 'tools/list' && lists) {
        return reply(response, message.id, { tools: [{ name: 'any', inputSchema: { type: 'object' } }] });
      }
      if (message.id === undefined) return response.writeHead(202).end();
      return answering(message, response);
    });
  });
}
