/**
 * Messages of MCP over HTTP as a test writes them, in either revision: below every client, which would not send them.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import type { Revision } from './mcp-connect.ts';

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
  /** The message in the body, alone or the last of a stream; null if there is none. */
  readonly message: {
    readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
    readonly result?: Readonly<Record<string, unknown>>;
  } | null;
}

export interface RawMcp {
  /** With an id it is a request; without, a notification. A list is sent as it is. */
  send(message: object, headers?: Readonly<Record<string, string>>): Promise<RawAnswer>;
}

const base = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

interface Introduced {
  readonly id?: number;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** A message of 2026-07-28, with what that revision wants said with every one, in it and beside it. */
export function introduce(message: Introduced, capabilities: object = {}) {
  const { method, params = {} } = message;
  const _meta = {
    [PROTOCOL_VERSION_META_KEY]: '2026-07-28',
    [CLIENT_INFO_META_KEY]: { name: 'raw', version: '1' },
    [CLIENT_CAPABILITIES_META_KEY]: capabilities,
    ...(params['_meta'] as object | undefined),
  };
  const { name } = params;
  const named: Record<string, string> = typeof name === 'string' ? { 'mcp-name': name } : {};
  return {
    headers: { ...base, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named },
    message: { jsonrpc: '2.0', ...message, params: { ...params, _meta } },
  };
}

export async function rawMcp(url: URL, key: string, revision: Revision, capabilities: object = {}): Promise<RawMcp> {
  const authorization = `Bearer ${key}`;
  const post = async (message: object, headers: Readonly<Record<string, string>>): Promise<RawAnswer> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...base, authorization, ...headers },
      body: JSON.stringify(message),
    });
    const body = await response.text();
    return { status: response.status, body, message: messageIn(body) };
  };
  if (revision === '2026-07-28') {
    return {
      send(message, headers = {}) {
        const introduced = introduce(message as Introduced, capabilities);
        return post(introduced.message, { ...introduced.headers, ...headers });
      },
    };
  }
  const clientInfo = { name: 'raw', version: '1' };
  const first = await fetch(url, {
    method: 'POST',
    headers: { ...base, authorization },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: { protocolVersion: revision, capabilities, clientInfo },
    }),
  });
  await first.text();
  const session = { 'mcp-session-id': String(first.headers.get('mcp-session-id')), 'mcp-protocol-version': revision };
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session);
  const whole = (message: object) => ({ jsonrpc: '2.0', ...message });
  return {
    send: (message, headers = {}) =>
      post(Array.isArray(message) ? message.map(whole) : whole(message), { ...session, ...headers }),
  };
}

function messageIn(body: string): RawAnswer['message'] {
  const data = body.split('\n').filter((line) => line.startsWith('data: ') && line.length > 'data: '.length);
  const text = data.at(-1)?.slice('data: '.length) ?? body;
  return text === '' ? null : (JSON.parse(text) as RawAnswer['message']);
}
