/**
 * What becomes of a request that its client cancels, in a session over HTTP? The SDK never answers it, and so keeps its place and its
 * stream for as long as the session lives. Here both end with the cancellation. Must not cut off others on the same stream.
 */
import {
  INTERNAL_ERROR,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type RequestId,
  type WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createOpenRequests, type OpenRequests } from './open-requests.ts';

/** After the server was connected: what it is handed, and what it sends, is looked at on the way. */
export function endCancelled(
  transport: WebStandardStreamableHTTPServerTransport,
  { open }: Pick<OpenRequests, 'open'> = createOpenRequests(),
): void {
  const receive = transport.onmessage?.bind(transport);
  const send = transport.send.bind(transport);
  const end = (id: RequestId) => {
    const exchange = open.get(id);
    if (!open.delete(id)) return;
    const isShared = exchange !== undefined && [...open.values()].includes(exchange);
    // Nobody waits for an answer: with its stream closed it goes nowhere, and the SDK forgets the request. Beside others it is sent.
    if (!isShared) transport.closeSSEStream(id);
    const error = { code: INTERNAL_ERROR, message: 'the client cancelled the request' };
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
