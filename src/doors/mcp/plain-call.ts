/**
 * The common case on its short way: one `tools/call` of revision 2026-07-28, complete and by the rules, whose answer is
 * one body of JSON. It needs no server of the SDK and no stream. Whatever differs in anything goes the SDK's way.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InboundClassificationOutcome,
  type Result,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import { isObject } from '../../core/json.ts';
import type { Exchange } from './exchange.ts';

const revision = '2026-07-28';

export interface PlainCall {
  readonly id: string | number;
  readonly params: Readonly<Record<string, unknown>>;
}

export function plainCall(outcome: InboundClassificationOutcome, { headers }: IncomingMessage): PlainCall | null {
  if (outcome.kind !== 'modern' || outcome.messageKind !== 'request') return null;
  const { message, classification } = outcome;
  const params: unknown = message.params;
  if (message.method !== 'tools/call' || classification.revision !== revision || !isObject(params)) return null;
  if (headers['mcp-protocol-version'] !== revision || headers['mcp-method'] !== 'tools/call') return null;
  const { name } = params;
  if (typeof name !== 'string' || headers['mcp-name'] !== name) return null;
  // Answers to questions come with a state, and the SDK reads both.
  if ('requestState' in params || 'inputResponses' in params) return null;
  return { id: message.id, params };
}

/** `response` tells when the client has gone away. */
export function plainExchange({ params }: PlainCall, response: ServerResponse): Exchange {
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const declared = meta[CLIENT_CAPABILITIES_META_KEY];
  return {
    capabilities: isObject(declared) ? declared : {},
    state: undefined,
    responses: {},
    push: null,
    follow(_cancel, leave) {
      const closed = () => {
        if (!response.writableFinished) leave();
      };
      if (response.closed) closed();
      response.on('close', closed);
      return () => response.off('close', closed);
    },
    project: (result) => result,
  };
}

/** As the SDK would write it. */
export function writePlain(id: string | number, result: Result, server: ServerInfo, to: ServerResponse): void {
  const told = { resultType: 'complete', ...result, _meta: { [SERVER_INFO_META_KEY]: server, ...result._meta } };
  const bytes = Buffer.from(JSON.stringify({ result: told, jsonrpc: '2.0', id }), 'utf8');
  to.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
}

interface ServerInfo {
  readonly name: string;
  readonly version: string;
}
