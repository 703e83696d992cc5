/** Reads a ticket with its call, as people see it: what is masked in the record stays masked. Writes nothing. */
import { type Ticket, type TicketId } from '../../core/recovery/ticket.ts';
import {
  closingMeans,
  type TicketCall,
  type TicketComment,
  type TicketSignIn,
  type TicketStory,
} from '../../core/recovery/ticket-view.ts';
import { viewOfTicket } from '../../core/recovery/ticket-view.ts';
import { type Verdict, verdicts } from '../../core/taxonomy.ts';
import { possibleAnswers, type TicketStanding } from '../../core/ticket/answers.ts';
import { isObject, type Json } from '../../core/values/json.ts';
import type { JournalEntry, StoredCall, StoredText } from '../../ports/store.ts';
import { effectOf } from '../ending/transition.ts';
import { isMasked } from '../mask.ts';
import type { Shell } from '../shell.ts';

export interface ReadTicket {
  readonly call: StoredCall | null;
  readonly standing: TicketStanding;
  readonly story: TicketStory;
}

export async function findTicket(id: string, tenant: string, { ports }: Shell): Promise<Ticket | null> {
  const found = await ports.store.ticket(id as TicketId);
  return found !== null && found.tenant === tenant ? found : null;
}

export async function readTicket(ticket: Ticket, shell: Shell): Promise<ReadTicket> {
  const { store, clock } = shell.ports;
  const [call, args, reply, records] = await Promise.all([
    store.call(ticket.call),
    store.args(ticket.call),
    store.reply(ticket.call),
    store.recordsOf(ticket.call),
  ]);
  const session = call?.session === null || call === null ? null : await store.session(call.session);
  const standing: TicketStanding = {
    call: call?.state ?? null,
    isStep: session !== null && session.workflow !== null,
    isReadable: args.kind === 'text' && !isMasked(args.text),
    canSignIn: ticket.credential !== null && shell.ports.credentials !== undefined,
  };
  const own = records.filter((record) => isAbout(record, ticket.id));
  const story: TicketStory = {
    ...viewOfTicket(ticket, time),
    age_seconds: Math.max(0, Math.floor((clock.nowMs() - ticket.openedAtMs) / 1_000)),
    note: writtenNote(own),
    closing: closingMeans(ticket, call?.state ?? null),
    answers: possibleAnswers(ticket, standing),
    sign_in: signInOf(ticket, shell),
    comments: own.filter(({ kind }) => kind === 'ticket_commented').map(commentIn),
    call: call === null ? null : callIn(call, args, reply),
  };
  return { call, standing, story };
}

function signInOf({ state, credential }: Ticket, { ports: { credentials } }: Shell): TicketSignIn | null {
  const waits = state === 'open' && credential !== null ? (credentials?.signIn(credential) ?? null) : null;
  if (waits === null) return null;
  const { verificationUri, userCode, expiresAtMs } = waits;
  return { verification_uri: verificationUri, user_code: userCode, expires_at: time(expiresAtMs) };
}

/** The story after a change, of what was read before it: once it is recorded, nothing stands before the answer. */
export const storyAfter = ({ story, standing }: ReadTicket, after: Ticket): TicketStory => ({
  ...story,
  ...viewOfTicket(after, time),
  closing: closingMeans(after, standing.call),
  answers: possibleAnswers(after, standing),
});

const callIn = (call: StoredCall, args: StoredText, stored: StoredText): TicketCall => {
  const reply = valueIn(stored);
  return {
    state: call.state,
    effect: effectOf(call.state),
    attempts: call.attempt,
    verdict: verdictIn(reply),
    args: valueIn(args),
    reply,
    created_at: time(call.createdAtMs),
  };
};

function verdictIn(reply: Json): Verdict | null {
  const verdict = isObject(reply) ? reply['verdict'] : null;
  return typeof verdict === 'string' && Object.hasOwn(verdicts, verdict) ? (verdict as Verdict) : null;
}

const valueIn = (stored: StoredText): Json => (stored.kind === 'text' ? (JSON.parse(stored.text) as Json) : null);

function isAbout({ kind, body }: JournalEntry, id: TicketId): boolean {
  if (!kind.startsWith('ticket_')) return false;
  const about: unknown = JSON.parse(body);
  return isObject(about) && about['ticket'] === id;
}

export const commentsOn = (records: readonly JournalEntry[], id: TicketId): number =>
  records.filter((record) => record.kind === 'ticket_commented' && isAbout(record, id)).length;

function commentIn({ body, timeMs, payloads }: JournalEntry): TicketComment {
  const { by } = JSON.parse(body) as { by?: string };
  return { by: by ?? '', at: time(timeMs), text: textOf(payloads, 'comment') };
}

function writtenNote(own: readonly JournalEntry[]): string | null {
  const closing = own.find(({ kind }) => kind === 'ticket_resolved' || kind === 'ticket_closed');
  return closing === undefined ? null : textOf(closing.payloads, 'note');
}

function textOf(payloads: JournalEntry['payloads'], wanted: string): string | null {
  const text = payloads.find(({ part }) => part === wanted)?.text ?? null;
  const said: unknown = text === null ? null : JSON.parse(text);
  return typeof said === 'string' ? said : null;
}

/** Later than any clock says; beyond it there is no text for a time. */
const latestTimeMs = 253_402_300_799_000;

/** RFC 3339 in whole seconds. */
export const time = (ms: number): string => `${new Date(Math.min(ms, latestTimeMs)).toISOString().slice(0, 19)}Z`;
