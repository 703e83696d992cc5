/** Whom and what is an occurrence about, in the words of a message? Reads the store; sends nothing. */
import type { CallId, SessionId } from '../../core/call/call.ts';
import { recordKinds } from '../../core/journal/record.ts';
import { spellOut } from '../../core/values/quote.ts';
import type { WebhookMessage } from '../../core/http/webhook-message.ts';
import type { Occurrence } from './occurrence.ts';
import { deliveryId } from './positions.ts';
import type { WebhookParts } from './webhook.ts';

/** The message without its link, which each hook has of its own. */
export async function describeOccurrence(
  { at, event, kind, atMs, call: callId, session: sessionId, body, said }: Occurrence,
  storeTag: string,
  { store, approval }: Pick<WebhookParts, 'store' | 'approval'>,
): Promise<Omit<WebhookMessage, 'link'>> {
  const id = textIn(body, 'approval');
  const [found, call, session] = await Promise.all([
    id === null ? null : approval(id),
    callId === null ? null : store().call(callId as CallId),
    sessionId === null ? null : store().session(sessionId as SessionId),
  ]);
  return {
    id: deliveryId(storeTag, at),
    event,
    kind,
    at: `${new Date(Math.min(atMs, latestTimeMs)).toISOString().slice(0, 19)}Z`,
    tenant: found?.tenant ?? call?.tenant ?? session?.tenant ?? textIn(body, 'tenant'),
    agent: found?.view.agent ?? call?.agent ?? session?.agent ?? textIn(body, 'agent'),
    tool: found?.view.tool ?? call?.tool ?? textIn(body, 'tool'),
    call_id: callId,
    session: sessionId,
    message: spellOut(said ?? recordKinds[kind]),
    approval: found?.view ?? null,
  };
}

/** Later than any clock says; beyond it there is no text for a time. */
const latestTimeMs = 253_402_300_799_000;

function textIn(body: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = body[name];
  return typeof value === 'string' ? value : null;
}
