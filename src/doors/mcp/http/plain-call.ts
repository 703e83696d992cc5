/**
 * The fast path for the common case: one complete, well-formed `tools/call` of revision 2026-07-28 whose answer is one
 * JSON body. It needs no SDK server and no stream. Everything else is left to the SDK.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type InboundClassificationOutcome,
  ProtocolError,
  type Result,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import { isObject } from '../../../core/values/json.ts';
import { watchClient } from '../../../shell/call/requester.ts';
import { clientName, type Exchange } from '../call/exchange.ts';
import type { Connection } from '../connection.ts';
import type { McpDoor } from '../mcp-door.ts';

const revision = '2026-07-28';

export interface PlainCall {
  readonly id: string | number;
  readonly params: Readonly<Record<string, unknown>>;
}

export function plainCall(
  outcome: InboundClassificationOutcome | null,
  { headers }: IncomingMessage,
): PlainCall | null {
  if (outcome?.kind !== 'modern' || outcome.messageKind !== 'request') return null;
  const { message, classification } = outcome;
  return classification.revision === revision ? readPlain(message.id, message.method, message.params, headers) : null;
}

function readPlain(
  id: string | number,
  method: unknown,
  params: unknown,
  headers: IncomingHttpHeaders,
): PlainCall | null {
  if (method !== 'tools/call' || !isObject(params)) return null;
  if (headers['mcp-protocol-version'] !== revision || headers['mcp-method'] !== 'tools/call') return null;
  const { name } = params;
  if (typeof name !== 'string' || headers['mcp-name'] !== name) return null;
  // The SDK reads answers to questions, and the state that comes with them.
  if ('requestState' in params || 'inputResponses' in params) return null;
  // Progress notifications need a stream.
  if (isObject(params['_meta']) && 'progressToken' in params['_meta']) return null;
  return { id, params };
}

export interface KnownEnvelopes {
  /** The plain call in this body, if the SDK has accepted the same envelope before. */
  recognise(body: unknown, request: IncomingMessage): PlainCall | null;
  /** The SDK has accepted `call`. */
  remember(call: PlainCall): void;
}

const maxEnvelopes = 64;
const maxEnvelopeChars = 4_096;

/**
 * A client sends the same envelope with every request, and the SDK validates it every time. One that it accepted is not
 * validated again: the envelope is compared as a whole, and only the four members of the request and its id are
 * checked.
 */
export function createKnownEnvelopes(): KnownEnvelopes {
  const known = new Set<string>();
  return {
    recognise(body, { method, headers }) {
      if (known.size === 0 || method !== 'POST' || !isObject(body) || Object.keys(body).length !== 4) return null;
      const { id, params } = body;
      if (body['jsonrpc'] !== '2.0' || !(typeof id === 'string' || Number.isSafeInteger(id))) return null;
      const call = readPlain(id as string | number, body['method'], params, headers);
      const envelope = call === null ? null : envelopeOf(call);
      return envelope !== null && known.has(envelope) ? call : null;
    },
    remember(call) {
      const envelope = envelopeOf(call);
      if (envelope === null || envelope.length > maxEnvelopeChars) return;
      if (known.size >= maxEnvelopes) known.clear();
      known.add(envelope);
    },
  };
}

/** `_meta` without our own fields, which the SDK does not read and which differ from call to call. */
function envelopeOf({ params }: PlainCall): string | null {
  const meta = params['_meta'];
  if (!isObject(meta)) return null;
  for (const name in meta) {
    if (!name.startsWith('recourse/')) continue;
    const others = Object.entries(meta).filter(([other]) => !other.startsWith('recourse/'));
    return JSON.stringify(Object.fromEntries(others));
  }
  return JSON.stringify(meta);
}

export async function servePlain(
  call: PlainCall,
  door: McpDoor,
  connection: Connection,
  response: ServerResponse,
  isClosing: () => boolean,
): Promise<void> {
  try {
    const result = await door.call(call.params, plainExchange(call, response, isClosing), connection);
    if (!response.destroyed) writePlain(call.id, result, door.info, response);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    const { code, message } = error;
    endPlain(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: call.id }), response);
  }
}

/** A client cancels by closing the response; one that we close ourselves is not a cancellation. */
export function plainExchange(
  { params }: PlainCall,
  response: ServerResponse,
  isClosing: () => boolean = () => false,
): Exchange {
  const { left, written } = watchClient(response);
  const meta = isObject(params['_meta']) ? params['_meta'] : {};
  const declared = meta[CLIENT_CAPABILITIES_META_KEY];
  return {
    capabilities: isObject(declared) ? declared : {},
    client: clientName(meta[CLIENT_INFO_META_KEY]),
    state: undefined,
    responses: {},
    push: null,
    progress: null,
    written: () => written,
    follow(cancel, leave) {
      const closed = () => (isClosing() ? leave() : cancel());
      if (left.aborted) closed();
      left.addEventListener('abort', closed, { once: true });
      return () => left.removeEventListener('abort', closed);
    },
    project: (result) => result,
  };
}

/** The same bytes as the SDK writes. */
function writePlain(id: string | number, result: Result, server: McpDoor['info'], to: ServerResponse): void {
  const told = { resultType: 'complete', ...result, _meta: { [SERVER_INFO_META_KEY]: server, ...result._meta } };
  endPlain(JSON.stringify({ result: told, jsonrpc: '2.0', id }), to);
}

function endPlain(text: string, to: ServerResponse): void {
  // A string, so that headers and body leave in one write.
  to.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}
