/**
 * A message of a server, with the result of a call as it was sent. A listing is left as JSON has it: schemas name the limits of
 * large integers, and nobody counts with those. Throws as JSON.parse does.
 */
import { isObject, parseMessages } from '../../core/values/json.ts';

export const parseAnswer = (text: string): unknown => parseMessages(text, withResult);

function withResult(message: unknown, exact: unknown): unknown {
  if (!isObject(message) || !isObject(exact) || !isObject(message['result'])) return message;
  const isOfCall = 'content' in message['result'] || 'structuredContent' in message['result'];
  return isOfCall ? { ...message, result: exact['result'] } : message;
}
