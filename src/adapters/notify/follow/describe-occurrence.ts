/** Makes the message about an occurrence: looks up its approval, ticket, call and session in the store. Sends nothing. */
import type { CallId, SessionId } from '../../../core/call/call.ts';
import { recordKinds } from '../../../core/journal/record.ts';
import { type TicketId, ticketReasons } from '../../../core/recovery/ticket.ts';
import { viewOfTicket } from '../../../core/recovery/ticket-view.ts';
import { spellOut } from '../../../core/values/quote.ts';
import type { WebhookMessage } from '../../../core/http/webhook-message.ts';
import type { Batch, Listed } from './batch.ts';
import { textIn } from './occurrence.ts';
import { deliveryId } from './positions.ts';
import type { NoticeParts } from './subscriber.ts';

/** What happened, without the link, which differs from subscriber to subscriber. */
export type Described = Omit<WebhookMessage, 'link' | 'batch'>;

/** What is sent at once. */
export interface Message {
  /** The same at every try. */
  readonly id: string;
  readonly batch: Batch;
  /** Of those that are listed, in order. */
  readonly told: readonly [Described, ...Described[]];
}

export async function describeOccurrence(
  { event, occurrence }: Listed,
  storeTag: string,
  { store, approval }: Pick<NoticeParts, 'store' | 'approval'>,
): Promise<Described> {
  const { at, kind, atMs, call: callId, session: sessionId, body, said } = occurrence;
  const [id, ticketId, upstream] = [textIn(body, 'approval'), textIn(body, 'ticket'), textIn(body, 'upstream')];
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
    ...(upstream === null ? {} : { upstream: spellOut(upstream) }),
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
