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
  awaitTicket: {
    method: 'GET',
    path: '/v1/tickets/{id}/outcome',
    needs: 'look_own',
    summary:
      "How a ticket stands, and the reply of its call once there is one: an agent's own, or one of the tenant. With `wait` as soon as it is answered and its call has ended, or as it is after so many seconds.",
    query: { wait: { kind: 'seconds' } },
    body: null,
    answer: 'TicketOutcome',
  },
  takeTicket: {
    method: 'POST',
    path: '/v1/tickets/{id}/take',
    needs: 'approve',
    summary: 'Says that you work on a ticket, or with `give_back` that you do not any more.',
    query: {},
    body: 'TakeTicketRequest',
    answer: 'TicketStory',
  },
  commentTicket: {
    method: 'POST',
    path: '/v1/tickets/{id}/comments',
    needs: 'approve',
    summary: 'Writes something about a ticket, for the other people.',
    query: {},
    body: 'CommentRequest',
    answer: 'TicketStory',
  },
  resolveTicket: {
    method: 'POST',
    path: '/v1/tickets/{id}/resolve',
    needs: 'approve',
    summary:
      'Answers a ticket: one of its `answers`. What becomes of a call in doubt, only the key of an admin may say.',
    query: {},
    body: 'ResolveTicketRequest',
    answer: 'TicketStory',
  },
  closeTicket: {
    method: 'POST',
    path: '/v1/tickets/{id}/close',
    needs: 'approve',
    summary: 'The same as to answer `give_up`: nothing runs, and no call is settled.',
    query: {},
    body: 'CloseTicketRequest',
    answer: 'TicketStory',
  },
  readInbox: {
    method: 'GET',
    path: '/v1/inbox',
    needs: 'look',
    summary: 'Pending approvals and open tickets of the tenant in one list, what is due first at the top.',
    query: { limit },
    body: null,
    answer: 'Inbox',
  },
} as const satisfies Record<string, HttpRoute>;
