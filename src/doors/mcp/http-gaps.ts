/** Which exchanges over HTTP are gaps? Requests of revision 2026-07-28 that nobody here knows, and headers that contradict them. */
import type { IncomingMessage } from 'node:http';
import type { InboundClassificationOutcome } from '@modelcontextprotocol/server';
import { isObject } from '../../core/json.ts';
import { isKnownRequest } from './watch-gaps.ts';

const revision = '2026-07-28';
const badRequest = 400;
/** The code that revision 2026-07-28 has for it. */
const headerMismatch = -32_020;

export interface UnknownRequest {
  readonly id: string | number;
  readonly method: string;
}

/** Null for everything else, also for what is to be refused for its headers first: that is for the SDK to say. */
export function unknownRequest(
  outcome: InboundClassificationOutcome,
  { headers }: IncomingMessage,
): UnknownRequest | null {
  if (outcome.kind !== 'modern' || outcome.messageKind !== 'request') return null;
  const { id, method } = outcome.message;
  if (outcome.classification.revision !== revision || isKnownRequest(method)) return null;
  const isByTheRules = headers['mcp-protocol-version'] === revision && headers['mcp-method'] === method;
  return isByTheRules ? { id, method } : null;
}

/** Whether the SDK has refused it for headers that say something else than the message, or are missing. */
export async function isMismatch(answer: Response): Promise<boolean> {
  if (answer.status !== badRequest || answer.headers.get('content-type')?.startsWith('application/json') !== true)
    return false;
  const said: unknown = await answer.clone().json();
  return isObject(said) && isObject(said['error']) && said['error']['code'] === headerMismatch;
}

/** What a message is about, for the record. */
export function aboutMessage(message: unknown): string {
  if (!isObject(message) || typeof message['method'] !== 'string') return 'a message';
  const { method, params } = message;
  const name = method === 'tools/call' && isObject(params) ? params['name'] : undefined;
  return typeof name === 'string' ? `${method} ${name}` : method;
}
