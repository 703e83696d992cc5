/**
 * A message of a client, with the arguments of a call as they were sent. Only those are ours to judge: everything else of a
 * message is the SDK's, which writes it again as JSON. Throws as JSON.parse does.
 */
import { isObject } from '../../core/json.ts';
import { isSuspect, parseExactly } from '../../core/parse-json.ts';

export function parseMessage(text: string): unknown {
  const message: unknown = JSON.parse(text);
  if (!isSuspect(text) || !isObject(message) || !isObject(message['params'])) return message;
  const exact = parseExactly(text) as { readonly params: Readonly<Record<string, unknown>> };
  if (!('arguments' in exact.params)) return message;
  return { ...message, params: { ...message['params'], arguments: exact.params['arguments'] } };
}
