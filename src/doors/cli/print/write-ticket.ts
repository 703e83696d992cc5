/** Writes a ticket for a person, and reads it from a gateway's answer. A newer gateway may send more. */
import type { TicketCall, TicketStory, TicketView } from '../../../core/recovery/ticket-view.ts';
import { isObject } from '../../../core/values/json.ts';
import { type Column, type Pair, valueLines } from './table.ts';
import { argumentLines, duration } from './write-approval.ts';

const texts = ['ticket_id', 'queue', 'reason', 'says', 'agent', 'tool', 'call_id', 'opened_at'] as const;
const textsOrNull = ['session', 'closed_at', 'closed_by'] as const;
const maxReplyChars = 4_000;

export function readTicket(body: unknown): TicketView | null {
  if (!isObject(body) || !texts.every((name) => typeof body[name] === 'string')) return null;
  if (!textsOrNull.every((name) => body[name] === null || typeof body[name] === 'string')) return null;
  return body['state'] === 'open' || body['state'] === 'closed' ? (body as unknown as TicketView) : null;
}

export function readTickets(body: Readonly<Record<string, unknown>>): readonly TicketView[] | null {
  const { tickets } = body;
  if (!Array.isArray(tickets)) return null;
  const read = tickets.map(readTicket);
  return read.includes(null) ? null : (read as readonly TicketView[]);
}

export function readStory(body: unknown): TicketStory | null {
  const read = readTicket(body);
  if (read === null || !isObject(body) || typeof body['closing'] !== 'string') return null;
  const { call, note } = body;
  const isOne = (call === null || isCall(call)) && (note === null || typeof note === 'string');
  return isOne ? (body as unknown as TicketStory) : null;
}

const isCall = (call: unknown): boolean =>
  isObject(call) && typeof call['state'] === 'string' && typeof call['effect'] === 'string';

export const columnsAt = (nowMs: number): readonly Column<TicketView>[] => [
  { title: 'TICKET', text: (each) => each.ticket_id, style: () => 'cyan' },
  { title: 'STATE', text: (each) => each.state, style: (each) => (each.state === 'open' ? 'yellow' : 'green') },
  { title: 'QUEUE', text: (each) => each.queue },
  { title: 'AGENT', text: (each) => each.agent },
  { title: 'TOOL', text: (each) => each.tool, style: () => 'bold' },
  { title: 'AGE', text: (each) => ageOf(each, nowMs) },
  { title: 'WHY', text: (each) => each.says },
];

const ageOf = ({ opened_at: openedAt }: TicketView, nowMs: number): string => duration(nowMs - Date.parse(openedAt));

/** Not escaped yet. */
export function pairsOf(ticket: TicketStory, nowMs: number): readonly Pair[] {
  const { closed_by: by, closed_at: at, note, session, call } = ticket;
  const told = note === null ? '' : `: ${note}`;
  return [
    ['state', ticket.state],
    ['queue', ticket.queue],
    ['why', ticket.says],
    ['agent', ticket.agent],
    ['tool', ticket.tool],
    ['opened', `${ticket.opened_at}, ${ageOf(ticket, nowMs)} ago`],
    ...(ticket.due_at === null ? [] : [['due', `${ticket.due_at}${ticket.overdue ? ', overdue' : ''}`] as const]),
    ...signInPair(ticket),
    ...(ticket.assignee === null ? [] : [['taken by', ticket.assignee] as const]),
    ...(ticket.answer === null ? [] : [['answer', ticket.answer] as const]),
    ...(ticket.continued_by === null ? [] : [['goes on as', ticket.continued_by] as const]),
    ...(ticket.comments ?? []).map(({ by: who, text: what }) => ['comment', `${who}: ${what ?? '(erased)'}`] as const),
    ...(by === null ? [] : [['closed', `by ${by} at ${at ?? '-'}${told}`] as const]),
    ...(session === null ? [] : [['session', session] as const]),
    ['call', ticket.call_id],
    ...(call === null ? [] : pairsOfCall(call)),
    ...(ticket.state === 'closed' ? [] : [['closing', ticket.closing] as const, ...commandsFor(ticket)]),
  ];
}

/** A gateway of before has none. */
const signInPair = ({ sign_in: waits = null }: TicketStory): readonly Pair[] =>
  waits === null
    ? []
    : [['sign in', `${waits.verification_uri} with the code ${waits.user_code}, until ${waits.expires_at}`]];

const pairsOfCall = ({ state, effect, args, reply }: TicketCall): readonly Pair[] => [
  ['call is', `${state}, effect ${effect}`],
  ['arguments', argumentLines(args)],
  ['reply', reply === null || reply === undefined ? ['(none)'] : valueLines(reply, maxReplyChars)],
];

function commandsFor({ ticket_id: id, call_id: callId, call, answers }: TicketStory): readonly Pair[] {
  const settle = ['settle', `recourse calls settle ${callId} --happened yes|no|unknown`] as const;
  const possible = (answers ?? []).map(({ answer, does }) => [answer, does] as const);
  return [
    ...possible,
    ['resolve', `recourse tickets resolve ${id} --answer <answer>`],
    ...(call?.state === 'IN_DOUBT' ? [settle] : []),
    ['close', `recourse tickets close ${id} --note <text>`],
  ];
}
