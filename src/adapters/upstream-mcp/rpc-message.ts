/** Which sort of JSON-RPC message is this? Only the envelope is looked at: what is inside passes as it came. */
import { isObject } from '../../core/json.ts';

export type MessageId = string | number;

export type RpcMessage =
  | { readonly kind: 'answer'; readonly id: MessageId; readonly body: Readonly<Record<string, unknown>> }
  | { readonly kind: 'request'; readonly id: MessageId; readonly method: string }
  | { readonly kind: 'notification'; readonly method: string };

/** Null: not JSON-RPC, or nothing that anybody could be waiting for. */
export function readMessage(message: unknown): RpcMessage | null {
  if (!isObject(message) || message['jsonrpc'] !== '2.0') return null;
  const { id, method } = message;
  const hasId = typeof id === 'string' || typeof id === 'number';
  if (typeof method === 'string') {
    return hasId ? { kind: 'request', id, method } : id === undefined ? { kind: 'notification', method } : null;
  }
  const isAnswer = message['result'] !== undefined || isObject(message['error']);
  return hasId && isAnswer ? { kind: 'answer', id, body: message } : null;
}
