/**
 * The common case on its short way: one `tools/call` of revision 2026-07-28, complete and by the rules, whose answer is
 * one body of JSON. It needs no server of the SDK and no stream. Whatever differs in anything goes the SDK's way.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type InboundClassificationOutcome,
  type Result,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server';
import { isObject } from '../../../core/values/json.ts';
import { watchClient } from '../../../shell/call/watch-client.ts';
import { clientName, type Exchange } from '../call/exchange.ts';
import { ownTools } from '../own-tools.ts';

const revision = '2026-07-28';

export interface PlainCall {
  readonly id: string | number;
  readonly params: Readonly<Record<string, unknown>>;
}

export function plainCall(outcome: InboundClassificationOutcome, { headers }: IncomingMessage): PlainCall | null {
  if (outcome.kind !== 'modern' || outcome.messageKind !== 'request') return null;
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
  // Answers to questions come with a state, and the SDK reads both.
  if ('requestState' in params || 'inputResponses' in params) return null;
  // Who waits for an approval and wants to hear of it meanwhile needs a stream.
  if (name === ownTools.awaitApproval && isObject(params['_meta']) && 'progressToken' in params['_meta']) return null;
  return { id, params };
}

export interface KnownEnvelopes {
  /** The plain call in this body, if the SDK would let it pass because it let the same envelope pass before. */
  recognise(body: unknown, request: IncomingMessage): PlainCall | null;
  /** `call` was judged by the SDK, and is by the rules. */
  remember(call: PlainCall): void;
}

const maxEnvelopes = 64;
const maxEnvelopeChars = 4_096;

/**
 * A client says the same about itself with every request, and the SDK reads it anew each time: what it found right once need not
 * be judged again. Of a body it reads the four names of a request, the id, and the envelope, which is compared as a whole.
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

/** All of `_meta` but our own words, which the SDK does not read and which differ from call to call. */
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

/** `response` tells when the client has closed it, which is how it cancels; one that we close ourselves is no word of the client's. */
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

/** As the SDK would write it. */
export function writePlain(id: string | number, result: Result, server: ServerInfo, to: ServerResponse): void {
  const told = { resultType: 'complete', ...result, _meta: { [SERVER_INFO_META_KEY]: server, ...result._meta } };
  endPlain(JSON.stringify({ result: told, jsonrpc: '2.0', id }), to);
}

export function endPlain(text: string, to: ServerResponse): void {
  // As a text it leaves together with its headers, in one write.
  to.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text);
}

interface ServerInfo {
  readonly name: string;
  readonly version: string;
}
