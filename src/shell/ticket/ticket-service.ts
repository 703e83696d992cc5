/**
 * The ticket service: lists and shows the tickets of a tenant, and lets people take, comment and answer them, for every
 * door. Tickets of other tenants are treated as absent. INVARIANT: what people decide is committed against the version
 * that was read, so two of them cannot overwrite each other.
 */
import { changed, type Ticket } from '../../core/recovery/ticket.ts';
import {
  type TicketOutcome,
  type TicketStory,
  type TicketView,
  viewOfTicket,
} from '../../core/recovery/ticket-view.ts';
import type { TicketAnswer } from '../../core/ticket/answers.ts';
import { inboxOf, type Inbox } from '../../core/ticket/inbox.ts';
import { mayAnswer, termsOf } from '../../core/ticket/terms.ts';
import type { Principal } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { Json } from '../../core/values/json.ts';
import { safeText } from '../../core/values/redact.ts';
import type { TicketFilter } from '../../ports/store.ts';
import { viewOf } from '../approval/approval-service.ts';
import type { Scope, Shell } from '../shell.ts';
import { awaitTicket } from './await-ticket.ts';
import { changing } from './change-ticket.ts';
import { commentsOn, findTicket, readTicket, time } from './read-ticket.ts';
import { resolveTicket } from './resolve-ticket.ts';
import { ticketRulesOf } from './live-tickets.ts';
import {
  changesTooOften,
  notOpen,
  problem,
  type TicketDone,
  type TicketPerson,
  unknownTicket,
} from './ticket-problems.ts';
import { writtenNote } from './written-note.ts';

export type { Inbox, TicketDone, TicketOutcome, TicketPerson, TicketStory, TicketView };

export interface TicketService {
  /** The last opened first. */
  list(tenant: string, filter: Omit<TicketFilter, 'tenant'>): Promise<readonly TicketView[]>;
  /** Null if the tenant has no such ticket. */
  show(id: string, tenant: string): Promise<TicketStory | null>;
  /** Somebody works on it from now on; `giveBack` says that nobody does. */
  take(id: string, by: TicketPerson, giveBack?: boolean): Promise<TicketDone>;
  comment(id: string, by: TicketPerson, text: string): Promise<TicketDone>;
  resolve(id: string, by: TicketPerson, answer: TicketAnswer, input?: { readonly note?: string }): Promise<TicketDone>;
  /** The same as to resolve it with `give_up`. */
  close(id: string, by: TicketPerson, input: { readonly note?: string }): Promise<TicketDone>;
  /** For the agent too: waits while it is open or its call goes on, for `waitMs` at most or until the signal. */
  wait(id: string, scope: Scope, waitMs: number, signal?: AbortSignal): Promise<TicketOutcome | null>;
  /** What the user of the agent's own client is asked about a ticket of the agent; null if they may not answer it. */
  askedOfClient(id: string, who: Principal): Promise<AskedOfClient | null>;
  /** Everything of the tenant that waits for a person, the most urgent first. */
  inbox(tenant: string, limit: number): Promise<Inbox>;
}

/** What the user of a client is shown. */
export interface AskedOfClient {
  readonly tool: string;
  readonly says: string;
  readonly args: Json;
}

type Attempted = TicketDone | 'moved';

export function createTickets(shell: Shell): TicketService {
  const resolve: TicketService['resolve'] = (id, by, answer, input = {}) =>
    decide(id, by, (ticket) => resolveTicket(ticket, by, answer, writtenNote(input.note), shell), shell);
  return {
    async list(tenant, filter) {
      // INVARIANT: the tenant overrides whatever a filter says.
      return (await shell.ports.store.listTickets({ ...filter, tenant })).map((ticket) => viewOfTicket(ticket, time));
    },
    async show(id, tenant) {
      const found = await findTicket(id, tenant, shell);
      return found === null ? null : (await readTicket(found, shell)).story;
    },
    take: (id, by, giveBack = false) => decide(id, by, (ticket) => take(ticket, by, giveBack, shell), shell),
    comment: (id, by, text) => commentOn(id, by, text, shell),
    resolve,
    close: (id, by, input) => resolve(id, by, { answer: 'give_up' }, input),
    wait: (id, scope, waitMs, signal) => awaitTicket(id, scope, waitMs, signal, shell),
    askedOfClient: (id, who) => askedOfClient(id, who, shell),
    inbox: (tenant, limit) => readInbox(tenant, limit, shell),
  };
}

async function askedOfClient(id: string, { tenant, agent }: Principal, shell: Shell): Promise<AskedOfClient | null> {
  const found = await findTicket(id, tenant, shell);
  if (found === null || found.agent !== agent || found.state !== 'open') return null;
  if (!termsOf(found.queue, ticketRulesOf(shell)).client) return null;
  const { story } = await readTicket(found, shell);
  // Only what may come from the agent's own user, and only if there is something to run.
  if (!story.answers.some(({ answer }) => answer === 'retry') || story.call === null) return null;
  if (story.call.state === 'IN_DOUBT') return null;
  return { tool: story.tool, says: story.says, args: story.call.args };
}

/** Reads the ticket and changes it, again if somebody else changed it in between. */
async function decide(
  id: string,
  by: TicketPerson,
  act: (ticket: Ticket) => Promise<Attempted>,
  shell: Shell,
): Promise<TicketDone> {
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const found = await findTicket(id, by.tenant, shell);
    if (found === null) return unknownTicket(id);
    if (found.state !== 'open') return notOpen(found);
    const against = whyNot(found, by, shell);
    if (against !== null) return against;
    const done = await act(found);
    if (done !== 'moved') return done;
  }
  return changesTooOften;
}

/** INVARIANT: nobody answers for themselves, and a queue is answered by those whom the file names. */
function whyNot({ agent, queue }: Ticket, { name, clientOf }: TicketPerson, shell: Shell): TicketDone | null {
  if (name === agent) return problem('own_request', 'who asked for the call may not answer its ticket');
  const terms = termsOf(queue, ticketRulesOf(shell));
  if (clientOf !== undefined)
    return terms.client && clientOf === agent
      ? null
      : problem('not_an_answerer', `the queue '${queue}' is not answered by users of clients`);
  if (mayAnswer(terms, name, shell.policy()?.written.roles ?? {})) return null;
  return problem('not_an_answerer', `the queue '${queue}' is answered by ${(terms.who ?? []).join(', ')}`);
}

async function take(ticket: Ticket, by: TicketPerson, giveBack: boolean, shell: Shell): Promise<Attempted> {
  const { assignee } = ticket;
  const to = giveBack ? null : by.name;
  if (giveBack && assignee !== by.name)
    return problem('taken', assignee === null ? 'nobody has taken it' : `${assignee} has it, and can give it back`);
  if (assignee === to) return { ok: true, ticket: (await readTicket(ticket, shell)).story };
  const after = changed(ticket, { assignee: to });
  const said = { by: by.name, to, from: assignee };
  return changing(ticket, after, { kind: 'ticket_taken', body: said, payloads: [] }, shell);
}

async function commentOn(id: string, by: TicketPerson, text: string, shell: Shell): Promise<TicketDone> {
  const { maxCommentChars, maxTicketComments } = shell.limits;
  const said = typeof text === 'string' ? safeText(text.toWellFormed(), maxCommentChars).trim() : '';
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const found = await findTicket(id, by.tenant, shell);
    if (found === null) return unknownTicket(id);
    const against = whyNot(found, by, shell);
    if (against !== null) return against;
    if (said === '') return problem('bad_answer', 'a comment is a text that is not empty');
    if (commentsOn(await shell.ports.store.recordsOf(found.call), found.id) >= maxTicketComments)
      return problem('too_many_comments', `a ticket takes ${maxTicketComments} comments`);
    const payloads = [{ part: 'comment', text: canonicalText(said) }];
    const note = { kind: 'ticket_commented', body: { by: by.name }, payloads } as const;
    const done = await changing(found, changed(found, {}), note, shell);
    if (done === 'moved') continue;
    const comment = { by: by.name, at: time(shell.ports.clock.nowMs()), text: said };
    return done.ok ? { ok: true, ticket: { ...done.ticket, comments: [...done.ticket.comments, comment] } } : done;
  }
  return changesTooOften;
}

async function readInbox(tenant: string, limit: number, shell: Shell): Promise<Inbox> {
  const { store } = shell.ports;
  const { maxInbox } = shell.limits;
  const [pending, open] = await Promise.all([
    store.listApprovals({ tenant, state: 'pending', limit: maxInbox }),
    store.listTickets({ tenant, state: 'open', limit: maxInbox }),
  ]);
  const approvals = await Promise.all(pending.map((approval) => viewOf(approval, shell)));
  // The store does not know yet that one is past its time.
  const waiting = approvals.filter(({ state }) => state === 'pending');
  const items = inboxOf(
    waiting,
    open.map((ticket) => viewOfTicket(ticket, time)),
  );
  return { items: items.slice(0, limit), total: items.length };
}
