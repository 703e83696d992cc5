/** Which sort of JSON-RPC message is this? Only the envelope is looked at: what is inside passes as it came. */
import { isObject } from '../../core/values/json.ts';

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

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
}

/** The error that an answer is; null if it is a result. */
export function errorIn(body: Readonly<Record<string, unknown>>): RpcError | null {
  const error = body['error'];
  if (!isObject(error)) return null;
  const { code, message, data } = error;
  return {
    code: typeof code === 'number' ? code : 0,
    message: typeof message === 'string' ? message : '',
    data,
  };
}
