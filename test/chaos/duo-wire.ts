/**
 * One request on a connection of its own, over one of the doors, written below every client: so a test can close it at
 * any moment.
 */
import { type ClientRequest, request as httpRequest } from 'node:http';
import type { Reply } from '../../src/index.ts';
import { introduce } from '../support/mcp-raw.ts';

/** Calls over HTTP, steps of a workflow over HTTP, calls over MCP in both revisions. */
export const doors = ['http', 'step', '2025-11-25', '2026-07-28'] as const;
export type Door = (typeof doors)[number];

export type Heard =
  | { readonly kind: 'reply'; readonly status: number; readonly reply: Reply }
  /** Nothing of it reached a gateway. */
  | { readonly kind: 'unsent' }
  /** It was sent, and the connection ended before the answer was whole. */
  | { readonly kind: 'broken' }
  /** An answer that is no reply. */
  | { readonly kind: 'odd'; readonly status: number; readonly body: string };

export interface Payment {
  readonly mark: string;
  readonly key: string | null;
}

export interface Asking {
  readonly heard: Promise<Heard>;
  /** It is on its way to the gateway, or never will be. */
  readonly sent: Promise<unknown>;
  /** The client goes away, without a word. */
  close(): void;
}

interface Raw {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const unsent = 'unsent';
const accepts = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

function post(url: string, key: string, { path, headers, body }: Post) {
  let request: ClientRequest | null = null;
  const { promise: sent, resolve: isSent } = Promise.withResolvers<void>();
  const answered = new Promise<Raw | 'unsent' | 'broken'>((resolve) => {
    request = httpRequest(`${url}${path}`, {
      method: 'POST',
      agent: false,
      headers: { ...accepts, authorization: `Bearer ${key}`, ...headers },
    });
    let connected = false;
    request.on('socket', (socket) => socket.on('connect', () => (connected = true)));
    request.on('error', () => resolve(connected ? 'broken' : 'unsent'));
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', () => resolve('broken'));
      response.on('close', () =>
        resolve(
          response.complete ? { status: response.statusCode ?? 0, headers: response.headers, body: text } : 'broken',
        ),
      );
    });
    request.once('finish', isSent);
    request.end(JSON.stringify(body));
  });
  return { answered, sent, close: () => void request?.destroy() };
}

/** A client of one agent. It keeps an MCP session with each gateway that it has met. */
export interface Wire {
  ask(url: string, door: Door, payment: Payment): Asking;
}

export function createWire(agentKey: string): Wire {
  const sessions = new Map<string, string>();
  let till: string | null = null;
  let lastId = 0;

  const toolCall = ({ mark, key }: Payment) => ({
    id: ++lastId,
    method: 'tools/call',
    params: {
      name: 'ledger/pay',
      arguments: { mark },
      ...(key === null ? {} : { _meta: { 'recourse/key': key } }),
    },
  });

  function writeCall(door: Door, payment: Payment, session: string): Post {
    const { mark, key } = payment;
    switch (door) {
      case 'http':
        return {
          path: '/v1/calls',
          headers: key === null ? {} : { 'idempotency-key': key },
          body: { tool: 'ledger/pay', args: { mark } },
        };
      case 'step':
        return {
          path: `/v1/sessions/${session}/steps`,
          headers: key === null ? {} : { 'idempotency-key': key },
          body: { action: 'pay', inputs: { mark } },
        };
      case '2025-11-25':
        return {
          path: '/mcp',
          headers: { 'mcp-session-id': session, 'mcp-protocol-version': door },
          body: { jsonrpc: '2.0', ...toolCall(payment) },
        };
      case '2026-07-28': {
        const { headers, message } = introduce(toolCall(payment));
        return { path: '/mcp', headers, body: message };
      }
      default:
        return door satisfies never;
    }
  }

  /** Workflow sessions outlive gateways; an MCP session ends with its gateway. */
  async function sessionFor(door: Door, url: string): Promise<string> {
    switch (door) {
      case 'http':
      case '2026-07-28':
        return '';
      case 'step':
        return (till ??= await openTill(url)) ?? unsent;
      case '2025-11-25':
        return mcpSessionAt(url);
      default:
        return door satisfies never;
    }
  }

  async function openTill(url: string): Promise<string | null> {
    const opening = { path: '/v1/sessions', headers: {}, body: { workflow: 'till' } };
    const raw = await post(url, agentKey, opening).answered;
    return typeof raw === 'string' ? null : ((JSON.parse(raw.body) as { session?: string }).session ?? null);
  }

  async function mcpSessionAt(url: string): Promise<string> {
    const known = sessions.get(url);
    if (known !== undefined) return known;
    const clientInfo = { name: 'duo', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const body = { jsonrpc: '2.0', id: ++lastId, method: 'initialize', params };
    const raw = await post(url, agentKey, { path: '/mcp', headers: {}, body }).answered;
    const session = typeof raw === 'string' ? undefined : raw.headers['mcp-session-id'];
    if (typeof session !== 'string') return unsent;
    const told = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
    await post(url, agentKey, { path: '/mcp', headers, body: told }).answered;
    sessions.set(url, session);
    return session;
  }

  return {
    ask(url, door, payment) {
      let close = (): void => undefined;
      let closed = false;
      const { promise: sent, resolve: begin } = Promise.withResolvers<void>();
      const heard = (async (): Promise<Heard> => {
        const session = await sessionFor(door, url);
        if (session === unsent || closed) return { kind: 'unsent' };
        const posted = post(url, agentKey, writeCall(door, payment, session));
        close = posted.close;
        void posted.sent.then(begin);
        const raw = await posted.answered;
        if (typeof raw === 'string') return { kind: raw };
        // An MCP session ends with its process, and the port may be another's by now.
        if (raw.status === 404 && door === '2025-11-25') sessions.delete(url);
        return read(raw, door);
      })();
      return {
        heard,
        sent: Promise.race([sent, heard]),
        close() {
          closed = true;
          close();
        },
      };
    },
  };
}

function read(raw: Raw, door: Door): Heard {
  const { status, body } = raw;
  const odd = { kind: 'odd', status, body: body.slice(0, 500) } as const;
  try {
    if (door === 'http' || door === 'step') {
      const reply = JSON.parse(body) as Reply;
      return 'call_id' in reply ? { kind: 'reply', status, reply } : odd;
    }
    const data = body.split('\n').filter((line) => line.startsWith('data: ') && line.length > 'data: '.length);
    const { result } = JSON.parse(data.at(-1)?.slice('data: '.length) ?? body) as { result?: McpResult };
    const reply = result?._meta?.['recourse/reply'] ?? result?.structuredContent;
    if (reply !== undefined) return { kind: 'reply', status, reply };
  } catch {
    // Told below, with what it was.
  }
  return door === '2025-11-25' && status === 404 ? { kind: 'unsent' } : odd;
}

interface McpResult {
  readonly structuredContent?: Reply;
  readonly _meta?: { readonly 'recourse/reply'?: Reply };
}
