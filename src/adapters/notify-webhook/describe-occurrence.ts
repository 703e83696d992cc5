/** Makes the message about an occurrence: looks up its approval, ticket, call and session in the store. Sends nothing. */
import type { CallId, SessionId } from '../../core/call/call.ts';
import { recordKinds } from '../../core/journal/record.ts';
import { type TicketId, ticketReasons } from '../../core/recovery/ticket.ts';
import { viewOfTicket } from '../../core/recovery/ticket-view.ts';
import { spellOut } from '../../core/values/quote.ts';
import type { WebhookMessage } from '../../core/http/webhook-message.ts';
import type { Occurrence } from './occurrence.ts';
import { deliveryId } from './positions.ts';
import type { WebhookParts } from './webhook.ts';

/** Without the link, which differs from hook to hook. */
export async function describeOccurrence(
  { at, event, kind, atMs, call: callId, session: sessionId, body, said }: Occurrence,
  storeTag: string,
  { store, approval }: Pick<WebhookParts, 'store' | 'approval'>,
): Promise<Omit<WebhookMessage, 'link'>> {
  const [id, ticketId] = [textIn(body, 'approval'), textIn(body, 'ticket')];
  const [found, call, session, ticket] = await Promise.all([
    id === null ? null : approval(id),
    callId === null ? null : store().call(callId as CallId),
    sessionId === null ? null : store().session(sessionId as SessionId),
    ticketId === null ? null : store().ticket(ticketId as TicketId),
  ]);
  return {
    id: deliveryId(storeTag, at),
    event,
    kind,
    at: time(atMs),
    ...firstKnown([found === null ? null : { ...found.view, tenant: found.tenant }, ticket, call, session], body),
    call_id: callId,
    session: sessionId,
    message: spellOut(said ?? (ticket === null ? recordKinds[kind] : ticketReasons[ticket.reason])),
    approval: found?.view ?? null,
    ticket: ticket === null ? null : viewOfTicket(ticket, time),
  };
}

interface About {
  readonly tenant: string | null;
  readonly agent: string | null;
  readonly tool: string | null;
}

/** From the first source that has it; the record itself comes last. */
function firstKnown(sources: readonly (Partial<About> | null)[], body: Readonly<Record<string, unknown>>): About {
  const known = (name: keyof About) =>
    sources.map((source) => source?.[name] ?? null).find((value) => value !== null) ?? textIn(body, name);
  return { tenant: known('tenant'), agent: known('agent'), tool: known('tool') };
}

/** Later than any clock says; beyond it there is no text for a time. */
const latestTimeMs = 253_402_300_799_000;

/** RFC 3339 in whole seconds. */
const time = (ms: number): string => `${new Date(Math.min(ms, latestTimeMs)).toISOString().slice(0, 19)}Z`;

function textIn(body: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = body[name];
  return typeof value === 'string' ? value : null;
}
