/**
 * The ticket service: lists, shows and closes the tickets of a tenant, for every door that operators use. Tickets of
 * other tenants are treated as absent. Closing settles no call.
 */
import type { Ticket, TicketId } from '../../core/recovery/ticket.ts';
import {
  closingMeans,
  type TicketCall,
  type TicketStory,
  type TicketView,
  viewOfTicket,
} from '../../core/recovery/ticket-view.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { isObject, type Json } from '../../core/values/json.ts';
import { safeText } from '../../core/values/redact.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { JournalEntry, StoredCall, StoredText, TicketFilter, Transition } from '../../ports/store.ts';
import { bare, effectOf, note, numbered } from '../ending/transition.ts';
import type { Shell } from '../shell.ts';
import { commit, mayBeApplied } from '../upkeep/commit.ts';

export type { TicketStory, TicketView };

export const closeProblems = {
  not_found: 404,
  not_open: 409,
  /** The commit was not acknowledged and may have happened. */
  outcome_unknown: 503,
  store_unavailable: 503,
} as const;

export type CloseProblem = keyof typeof closeProblems;

export type Closed =
  | { readonly ok: true; readonly ticket: TicketStory }
  | { readonly ok: false; readonly problem: CloseProblem; readonly message: string };

/** The person who closes it; their name goes on record. */
export interface Closer {
  readonly tenant: string;
  readonly name: string;
}

export interface TicketService {
  /** The last opened first. */
  list(tenant: string, filter: Omit<TicketFilter, 'tenant'>): Promise<readonly TicketView[]>;
  /** Null if the tenant has no such ticket. */
  show(id: string, tenant: string): Promise<TicketStory | null>;
  close(id: string, by: Closer, input: { readonly note?: string }): Promise<Closed>;
}

const maxNoteChars = 500;

export function createTickets(shell: Shell): TicketService {
  return {
    async list(tenant, filter) {
      // INVARIANT: the tenant overrides whatever a filter says.
      return (await shell.ports.store.listTickets({ ...filter, tenant })).map((ticket) => viewOfTicket(ticket, time));
    },
    async show(id, tenant) {
      const found = await findOf(id, tenant, shell);
      return found === null ? null : (await read(found, shell)).story;
    },
    async close(id, by, input) {
      for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
        const found = await findOf(id, by.tenant, shell);
        if (found === null) return problem('not_found', `there is no ticket '${safeText(id, 64)}'; list them first`);
        if (found.state !== 'open') return notOpen(found);
        const closed = await closeOnce(found, by.name, noteIn(input), shell);
        if (closed !== 'moved') return closed;
      }
      return problem('store_unavailable', 'its call changes too often; ask again');
    },
  };
}

async function findOf(id: string, tenant: string, { ports }: Shell): Promise<Ticket | null> {
  const found = await ports.store.ticket(id as TicketId);
  return found !== null && found.tenant === tenant ? found : null;
}

/** `moved`: something else of the transition did not fit, such as the session. */
async function closeOnce(ticket: Ticket, by: string, said: string | null, shell: Shell): Promise<Closed | 'moved'> {
  // Read before the commit: once it is closed, nothing may stand between the operator and the answer.
  const { call, story } = await read(ticket, shell);
  const atMs = shell.ports.clock.nowMs();
  const after: Ticket = { ...ticket, state: 'closed', closedAtMs: atMs, closedBy: by };
  const closed: Closed = {
    ok: true,
    ticket: { ...story, ...viewOfTicket(after, time), note: said, closing: closingMeans(after, call?.state ?? null) },
  };
  const result = await commit(closingOf(after, call, said, shell), shell);
  switch (result.kind) {
    case 'committed':
      return closed;
    case 'unavailable':
      return mayBeApplied(result.fault)
        ? problem('outcome_unknown', 'the store did not say whether it is closed; look at it again')
        : problem('store_unavailable', 'the store cannot record it; ask again');
    case 'conflict':
      if (result.on !== 'ticket' || result.found === null) return 'moved';
      // An earlier try of this commit was applied, and its answer was lost.
      return result.found.closedBy === by && result.found.closedAtMs === atMs ? closed : notOpen(result.found);
    default:
      return unreachable(result);
  }
}

function closingOf(
  { id, reason, queue, call: callId, closedAtMs, closedBy }: Ticket,
  call: StoredCall | null,
  said: string | null,
  shell: Shell,
): Transition {
  const by = closedBy ?? '';
  const body = { ticket: id, reason, queue, by };
  // What people write can be erased with the call.
  const payloads = said === null ? [] : [{ part: 'note', text: canonicalText(said) }];
  const record =
    call === null
      ? { kind: 'ticket_closed' as const, call: callId, session: null, body: canonicalText(body), payloads }
      : note('ticket_closed', call, body, payloads);
  return {
    ...bare(shell),
    tickets: [{ kind: 'close', id, by, atMs: closedAtMs ?? 0 }],
    session: call === null ? null : numbered(call),
    records: [record],
  };
}

async function read(ticket: Ticket, { ports: { store, clock } }: Shell) {
  const [call, args, reply, records] = await Promise.all([
    store.call(ticket.call),
    store.args(ticket.call),
    store.reply(ticket.call),
    ticket.state === 'closed' ? store.recordsOf(ticket.call) : [],
  ]);
  const story: TicketStory = {
    ...viewOfTicket(ticket, time),
    age_seconds: Math.max(0, Math.floor((clock.nowMs() - ticket.openedAtMs) / 1_000)),
    note: writtenNote(ticket, records),
    closing: closingMeans(ticket, call?.state ?? null),
    call: call === null ? null : callIn(call, args, reply),
  };
  return { call, story };
}

const callIn = (call: StoredCall, args: StoredText, reply: StoredText): TicketCall => ({
  state: call.state,
  effect: effectOf(call.state),
  attempts: call.attempt,
  args: valueIn(args),
  reply: valueIn(reply),
  created_at: time(call.createdAtMs),
});

const valueIn = (stored: StoredText): Json => (stored.kind === 'text' ? (JSON.parse(stored.text) as Json) : null);

function writtenNote({ id }: Ticket, records: readonly JournalEntry[]): string | null {
  const closing = records.find(({ kind, body }) => {
    const about: unknown = kind === 'ticket_closed' ? JSON.parse(body) : null;
    return isObject(about) && about['ticket'] === id;
  });
  const text = closing?.payloads.find(({ part }) => part === 'note')?.text ?? null;
  const said: unknown = text === null ? null : JSON.parse(text);
  return typeof said === 'string' ? said : null;
}

function noteIn({ note: said }: { readonly note?: string }): string | null {
  if (typeof said !== 'string') return null;
  const text = safeText(said.toWellFormed().replaceAll(/\p{Cc}+/gu, ' '), maxNoteChars).trim();
  return text === '' ? null : text;
}

const problem = (code: CloseProblem, message: string): Closed => ({ ok: false, problem: code, message });

const notOpen = ({ closedBy, closedAtMs }: Ticket): Closed =>
  problem('not_open', `it was closed by ${closedBy ?? 'somebody'} at ${time(closedAtMs ?? 0)}`);

/** Later than any clock says; beyond it there is no text for a time. */
const latestTimeMs = 253_402_300_799_000;

/** RFC 3339 in whole seconds. */
const time = (ms: number): string => `${new Date(Math.min(ms, latestTimeMs)).toISOString().slice(0, 19)}Z`;
