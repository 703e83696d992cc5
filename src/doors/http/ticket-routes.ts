/** Routes for tickets: list, read, close. The table admits only keys of people. */
import type { DoorCode } from '../../core/http/door-problems.ts';
import { defaultPage } from '../../core/http/http-routes.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import { unmarked } from '../../core/values/short-id.ts';
import type { CloseProblem } from '../../shell/ticket/ticket-service.ts';
import { type Answer, type Asked, json, refuse } from './answer.ts';
import { storeUnavailable } from './call-routes.ts';

export async function listTickets({ query, who, parts }: Asked): Promise<Answer> {
  const limit = Number(query['limit'] ?? defaultPage);
  if (limit === 0) return json({ tickets: [], next: null });
  const { queue, state, before } = query as Readonly<Record<string, string | undefined>>;
  const found = await parts.tickets.list(who.tenant, {
    ...(queue === undefined ? {} : { queue }),
    ...(state === undefined ? {} : { state: state as Ticket['state'] }),
    ...(before === undefined ? {} : { before }),
    limit,
  });
  return json({ tickets: found, next: found.length < limit ? null : (found.at(-1)?.ticket_id ?? null) });
}

export async function readTicket({ id: given, who, parts }: Asked): Promise<Answer> {
  const id = unmarked(given);
  const found = await parts.tickets.show(id, who.tenant);
  return found === null ? unknownTicket(id) : json(found);
}

const unknownTicket = (id: string): Answer =>
  refuse('UnknownTicket', `no ticket '${id}' is known to this key; GET /v1/tickets lists those that are`);

/** The door's code for each problem; an unavailable store is answered as for a call. */
export const codeOfProblem = {
  not_found: 'UnknownTicket',
  not_open: 'TicketClosed',
  outcome_unknown: 'OutcomeUnknown',
} as const satisfies Record<Exclude<CloseProblem, 'store_unavailable'>, DoorCode>;

export async function closeTicket({ id: given, body, who, parts }: Asked): Promise<Answer> {
  const id = unmarked(given);
  const closed = await parts.tickets.close(id, who, body as { readonly note?: string });
  if (closed.ok) return json(closed.ticket);
  const { problem, message } = closed;
  if (problem === 'store_unavailable') return storeUnavailable('close_ticket', parts.newCallId());
  return problem === 'not_found' ? unknownTicket(id) : refuse(codeOfProblem[problem], message);
}
