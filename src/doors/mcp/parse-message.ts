/**
 * A message of a client, with the arguments of a call as they were sent. Only those are ours to judge: everything else of a
 * message is the SDK's, which writes it again as JSON. Throws as JSON.parse does.
 */
import { isObject, parseMessages } from '../../core/values/json.ts';

export const parseMessage = (text: string): unknown => parseMessages(text, withArguments);

function withArguments(message: unknown, exact: unknown): unknown {
  if (!isObject(message) || !isObject(exact) || !isObject(message['params']) || !isObject(exact['params']))
    return message;
  if (!('arguments' in exact['params'])) return message;
  return { ...message, params: { ...message['params'], arguments: exact['params']['arguments'] } };
}
