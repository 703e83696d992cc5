/**
 * Parses JSON of a server. The result of a tool call keeps large integers exactly; everything else, such as schemas with
 * large limits, is as JSON.parse gives it.
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
