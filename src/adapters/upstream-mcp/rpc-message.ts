/**
 * Parses JSON-RPC messages of a server and reads their envelope. What is inside passes unchanged: the result of a tool
 * call keeps large integers exactly, and everything else, such as schemas, is as JSON.parse gives it.
 */
import { isObject, parseMessages } from '../../core/values/json.ts';

/** Throws as JSON.parse does. */
export const parseAnswer = (text: string): unknown => parseMessages(text, withResult);

/** The messages in a JSON body: one or a list. None if it is no JSON. A byte order mark at the beginning is skipped. */
export function messagesIn(text: string): readonly unknown[] {
  try {
    const value = parseAnswer(text.startsWith('\ufeff') ? text.slice(1) : text);
    return Array.isArray(value) ? value : [value];
  } catch {
    return [];
  }
}

function withResult(message: unknown, exact: unknown): unknown {
  if (!isObject(message) || !isObject(exact) || !isObject(message['result'])) return message;
  const isOfCall = 'content' in message['result'] || 'structuredContent' in message['result'];
  return isOfCall ? { ...message, result: exact['result'] } : message;
}

export type MessageId = string | number;

export type RpcMessage =
  | { readonly kind: 'answer'; readonly id: MessageId; readonly body: Readonly<Record<string, unknown>> }
  | { readonly kind: 'request'; readonly id: MessageId; readonly method: string }
  | { readonly kind: 'notification'; readonly method: string };

/** Null if it is not JSON-RPC, or nothing that could be expected. */
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
