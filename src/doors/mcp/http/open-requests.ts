/**
 * The unanswered requests of an MCP session over HTTP. The SDK finds the stream of an answer by the id of its request,
 * so an id in use must not be used again. Also ends requests that the client cancels.
 */
import {
  INTERNAL_ERROR,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type RequestId,
  type WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { isObject } from '../../../core/values/json.ts';

export interface OpenRequests {
  /** Each with the HTTP request that brought it: the requests of a batch share a stream. */
  readonly open: Map<RequestId, Request | undefined>;
  /** Before the SDK sees a body: null if one of its ids is in use, otherwise what to call once the SDK has seen it. */
  expect(body: unknown): (() => void) | null;
}

export function createOpenRequests(): OpenRequests {
  const open = new Map<RequestId, Request | undefined>();
  /** Checked, and not yet seen by the SDK: of two bodies at once with the same id only one may pass. */
  const expected = new Set<RequestId>();
  return {
    open,
    expect(body) {
      const ids = (Array.isArray(body) ? body : [body]).flatMap(idOf);
      const isTwice = new Set(ids).size < ids.length;
      if (isTwice || ids.some((id) => open.has(id) || expected.has(id))) return null;
      for (const id of ids) expected.add(id);
      return () => {
        for (const id of ids) expected.delete(id);
      };
    },
  };
}

/** Of requests only: the id of a response is that of a request of ours. */
function idOf(message: unknown): readonly RequestId[] {
  if (!isObject(message) || !('method' in message)) return [];
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? [id] : [];
}

/**
 * Ends a cancelled request: the SDK never answers it, and would keep it and its stream for as long as the session
 * lives. Other requests on the same stream are not affected. Called after the server was connected; wraps what it
 * receives and sends.
 */
export function endCancelledRequests(
  transport: WebStandardStreamableHTTPServerTransport,
  { open }: Pick<OpenRequests, 'open'> = createOpenRequests(),
): void {
  const receive = transport.onmessage?.bind(transport);
  const send = transport.send.bind(transport);
  const end = (id: RequestId) => {
    const exchange = open.get(id);
    if (!open.delete(id)) return;
    const isShared = exchange !== undefined && [...open.values()].includes(exchange);
    // With its stream closed the answer goes nowhere, and the SDK forgets the request. On a shared stream it is sent.
    if (!isShared) transport.closeSSEStream(id);
    const error = { code: INTERNAL_ERROR, message: 'the client cancelled the request' };
    // Ignored: the client cancelled, and waits for nothing.
    send({ jsonrpc: '2.0', id, error }).catch(() => undefined);
  };
  transport.onmessage = (message, extra) => {
    if (isJSONRPCRequest(message)) open.set(message.id, extra?.request);
    receive?.(message, extra);
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return;
    const id = message.params?.['requestId'];
    if (typeof id === 'string' || typeof id === 'number') end(id);
  };
  transport.send = (message, options) => {
    if (!('method' in message) && message.id !== undefined) open.delete(message.id);
    return send(message, options);
  };
}
