/** The HTTP routes about tickets. Part of the table in http-routes.ts. Data only. */
import { ticketStates } from '../recovery/ticket-view.ts';
import { type HttpRoute, limit, text } from './http-route.ts';

export const ticketRoutes = {
  listTickets: {
    method: 'GET',
    path: '/v1/tickets',
    needs: 'look',
    summary: 'Tickets of the tenant, the last opened first.',
    query: { queue: text, state: { kind: 'choice', of: ticketStates }, before: text, limit },
    body: null,
    answer: 'TicketList',
  },
  readTicket: {
    method: 'GET',
    path: '/v1/tickets/{id}',
    needs: 'look',
    summary: 'One ticket, with the call that it is about.',
    query: {},
    body: null,
    answer: 'TicketStory',
  },
  closeTicket: {
    method: 'POST',
    path: '/v1/tickets/{id}/close',
    needs: 'administer',
    summary: 'Closes a ticket: somebody took care of it. Settles no call.',
    query: {},
    body: 'CloseTicketRequest',
    answer: 'TicketStory',
  },
} as const satisfies Record<string, HttpRoute>;
