/** Routes for tickets and the inbox: list, read, wait, take, comment, answer. Agents only wait for their own. */
import type { DoorCode } from '../../core/http/door-problems.ts';
import { defaultPage } from '../../core/http/http-routes.ts';
import type { Ticket } from '../../core/recovery/ticket.ts';
import { may } from '../../core/call/identity.ts';
import type { TicketAnswer } from '../../core/ticket/answers.ts';
import { unmarked } from '../../core/values/short-id.ts';
import type { TicketProblem } from '../../shell/ticket/ticket-problems.ts';
import type { TicketDone, TicketPerson } from '../../shell/ticket/ticket-service.ts';
import { type Answer, type Asked, json, refuse } from './answer.ts';
import { scopeOf, storeUnavailable } from './call-routes.ts';

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
  own_request: 'OwnRequest',
  not_an_answerer: 'NotAnAnswerer',
  not_open: 'TicketClosed',
  taken: 'TicketTaken',
  not_possible: 'AnswerNotPossible',
  in_quarantine: 'InQuarantine',
  bad_answer: 'BadAnswer',
  too_many_comments: 'TooManyComments',
  outcome_unknown: 'OutcomeUnknown',
} as const satisfies Record<Exclude<TicketProblem, 'store_unavailable'>, DoorCode>;

/** Waits until it is answered and its call has ended. */
export async function awaitTicket({ id: given, query, who, ended, parts }: Asked): Promise<Answer> {
  const id = unmarked(given);
  const found = await parts.tickets.wait(id, scopeOf(who), Number(query['wait'] ?? 0) * 1_000, ended);
  return found === null ? unknownTicket(id) : json(found);
}

export const closeTicket = (asked: Asked): Promise<Answer> =>
  act(asked, 'close_ticket', (id, by) => asked.parts.tickets.close(id, by, asked.body as { readonly note?: string }));

export const takeTicket = (asked: Asked): Promise<Answer> =>
  act(asked, 'take_ticket', (id, by) =>
    asked.parts.tickets.take(id, by, (asked.body as { readonly give_back?: boolean }).give_back === true),
  );

export const commentTicket = (asked: Asked): Promise<Answer> =>
  act(asked, 'comment_ticket', (id, by) =>
    asked.parts.tickets.comment(id, by, (asked.body as { readonly text: string }).text),
  );

export const resolveTicket = (asked: Asked): Promise<Answer> =>
  act(asked, 'resolve_ticket', (id, by) => {
    const { note, ...answer } = asked.body as TicketAnswer & { readonly note?: string };
    return asked.parts.tickets.resolve(id, by, answer, note === undefined ? {} : { note });
  });

/** The routes admit only keys of people who may approve, never an agent's. */
async function act(
  { id: given, who, parts }: Asked,
  requested: string,
  perform: (id: string, by: TicketPerson) => Promise<TicketDone>,
): Promise<Answer> {
  const id = unmarked(given);
  const done = await perform(id, { tenant: who.tenant, name: who.name, maySettle: may(who, 'administer') });
  if (done.ok) return json(done.ticket);
  const { problem, message } = done;
  if (problem === 'store_unavailable') return storeUnavailable(requested, parts.newCallId());
  return problem === 'not_found' ? unknownTicket(id) : refuse(codeOfProblem[problem], message);
}

export async function readInbox({ query, who, parts }: Asked): Promise<Answer> {
  return json(await parts.tickets.inbox(who.tenant, Number(query['limit'] ?? defaultPage)));
}
