/**
 * Answers a ticket. The answer is durable before anything runs for it; what it leaves to run, the sweeper finds after a
 * crash. INVARIANT: an answer acts only on a call that stands as the answer needs it: one that comes too late is
 * refused, and says how the call stands.
 */
import { timedOut } from '../../core/call/answer.ts';
import type { Payload } from '../../core/journal/record.ts';
import { changed, type Ticket } from '../../core/recovery/ticket.ts';
import { clientAnswers, settlingAnswers, type TicketAnswer } from '../../core/ticket/answers.ts';
import { canonicalise, canonicalText } from '../../core/values/canonical.ts';
import { type Json, type JsonObject, utf8Length } from '../../core/values/json.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { CommitResult, EqualCall, StoredCall } from '../../ports/store.ts';
import { concludeElsewhere } from '../ending/conclude.ts';
import { type Judgement, quarantineOf, settleWith } from '../ending/settle-doubt.ts';
import type { CommitParts } from '../ending/transition.ts';
import { isMasked, maskArgs } from '../mask.ts';
import type { Shell } from '../shell.ts';
import { commit } from '../upkeep/commit.ts';
import { recordOf, type TicketNote, ticketTransition } from './change-ticket.ts';
import { continueTicket } from './continue-ticket.ts';
import { equalCallsSince } from './equal-calls.ts';
import { readTicket, type ReadTicket, storyAfter } from './read-ticket.ts';
import { notOpen, problem, type TicketDone, type TicketPerson, unrecorded } from './ticket-problems.ts';

type Attempted = TicketDone | 'moved';

/** What an answer would do, with everything that was read for it. */
interface Answering {
  readonly ticket: Ticket;
  readonly by: TicketPerson;
  readonly answer: TicketAnswer;
  readonly note: string | null;
  readonly read: ReadTicket;
}

export async function resolveTicket(
  ticket: Ticket,
  by: TicketPerson,
  answer: TicketAnswer,
  note: string | null,
  shell: Shell,
): Promise<Attempted> {
  const read = await readTicket(ticket, shell);
  const answering = { ticket, by, answer, note, read };
  const against = whyNot(answering);
  if (against !== null) return against;
  switch (answer.answer) {
    case 'it_happened':
    case 'it_did_not':
    case 'never_known':
      return settle(answering, judgementOf(answer, by.name), shell);
    case 'retry':
      return read.standing.call === 'IN_DOUBT'
        ? release(answering, answer.force === true, shell)
        : goOn(answering, null, shell);
    case 'approve':
      return goOn(answering, null, shell);
    case 'replace':
      return replace(answering, answer.args, shell);
    case 'authenticate':
      return askToSignIn(answering, shell);
    case 'give_up':
      return end(answering, { work: 'none' }, undefined, shell);
    default:
      return unreachable(answer);
  }
}

/** Null if the answer is possible as the call stands, and this person may give it. */
function whyNot({ ticket, by, answer: { answer }, read: { story, standing } }: Answering): TicketDone | null {
  const possible = story.answers.map((each) => each.answer);
  if (!possible.includes(answer)) {
    const how = standing.call === null ? 'is gone' : `is ${standing.call}`;
    return problem(
      'not_possible',
      `'${answer}' is no answer now: call ${ticket.call} ${how}. Possible: ${possible.join(', ')}`,
    );
  }
  // INVARIANT: never what only a person beside the agent may say: an approval, or what became of a doubt.
  if (by.clientOf !== undefined && (!clientAnswers.has(answer) || standing.call === 'IN_DOUBT'))
    return problem('not_an_answerer', 'the user of a client may only retry, replace and give up');
  if (settlingAnswers.has(answer) && !by.maySettle)
    return problem('not_an_answerer', 'to say what became of a call in doubt takes the key of an admin');
  return null;
}

function judgementOf(answer: TicketAnswer, by: string): Judgement {
  switch (answer.answer) {
    case 'it_happened':
      return { happened: 'yes', by, ...(answer.result === undefined ? {} : { result: answer.result }) };
    case 'it_did_not':
      return { happened: 'no', by, ...(answer.force === true ? { force: true } : {}) };
    default:
      return { happened: 'unknown', by };
  }
}

async function settle(answering: Answering, judgement: Judgement, shell: Shell): Promise<Attempted> {
  const { ticket, read } = answering;
  const after = closed(answering, { work: 'none' }, shell);
  const seen = read.call === null ? judgement : { ...judgement, attempt: read.call.attempt };
  const judged = await settleWith(ticket.call, seen, partsOf(answering, after), shell);
  if (typeof judged === 'object') return inQuarantine(ticket, judged.quarantinedForMs);
  switch (judged) {
    case 'settled':
      return { ok: true, ticket: { ...storyAfter(read, after), note: answering.note } };
    case 'unclear':
      return problem('bad_answer', 'the result is not JSON that can be kept');
    case 'not_in_doubt':
    case 'not_found':
    case 'moved':
      return 'moved';
    case 'store_unavailable':
      return problem('store_unavailable', 'the store cannot record it; ask again');
    default:
      return unreachable(judged);
  }
}

const inQuarantine = ({ call }: Ticket, leftMs: number): TicketDone =>
  problem(
    'in_quarantine',
    `call '${call}' may still be carried out: this counts in ${Math.ceil(leftMs / 1_000)} s, or now with force`,
  );

/**
 * INVARIANT: a write of unknown effect is sent once more only by a person's decision, which is on record with the state
 * that lets it go out.
 */
async function release(answering: Answering, force: boolean, shell: Shell): Promise<Attempted> {
  const { ticket, by, read } = answering;
  const leftMs = force ? 0 : await quarantineOf(ticket.call, shell);
  if (leftMs > 0) return inQuarantine(ticket, leftMs);
  const call = await shell.ports.store.call(ticket.call);
  if (call === null || call.state !== 'IN_DOUBT') return 'moved';
  const atMs = shell.ports.clock.nowMs();
  const after = closed(answering, { work: 'untold', continuation: call.id }, shell);
  const concluded = await concludeElsewhere(
    call,
    {
      events: [{ kind: 'released', atMs, deadlineAtMs: atMs + shell.limits.defaultDeadlineMs }],
      // Not kept: a call that goes on has no reply yet.
      say: (envelope, effect) => timedOut(envelope, shell.limits.defaultDeadlineMs, effect),
      record: () => ({ attempt: call.attempt, by: by.name, ticket: ticket.id, ...(force ? { forced: true } : {}) }),
      parts: partsOf(answering, after),
    },
    shell,
  );
  if (concluded === null) return 'moved';
  return answerTo(await commit(concluded.transition, shell), answering, after, read);
}

async function replace(answering: Answering, args: Json, shell: Shell): Promise<Attempted> {
  const { ticket } = answering;
  const written = canonicalise(args, { maxDepth: shell.limits.maxDepth });
  if (!written.ok) return problem('bad_answer', `the arguments are not JSON at '${written.path}': ${written.problem}`);
  if (utf8Length(written.text) > shell.limits.maxInputBytes)
    return problem('bad_answer', `the arguments are larger than ${shell.limits.maxInputBytes} bytes`);
  // INVARIANT: no tool ever gets the redaction mark in place of a value, and what policy hides is not kept.
  if (isMasked(written.text) || maskArgs(written.text, ticket.agent, shell) !== written.text)
    return problem('bad_answer', 'what is redacted is not written down, so it cannot be replaced here');
  return goOn(answering, written.text, shell);
}

/** A person asks to sign in: the ticket stays open until they have, and shows where. */
async function askToSignIn({ ticket }: Answering, shell: Shell): Promise<Attempted> {
  const { credentials } = shell.ports;
  const { credential } = ticket;
  if (credential === null || credentials === undefined || !(await credentials.askSignIn(credential)))
    return problem('not_possible', 'nobody can sign in for this call');
  return { ok: true, ticket: (await readTicket(ticket, shell)).story };
}

/** The call goes on as a new one, as soon as it may. */
async function goOn(answering: Answering, answerText: string | null, shell: Shell): Promise<Attempted> {
  const { ticket, read } = answering;
  const done = await end(answering, { work: 'due', answerText }, equalCallsSince(ticket, read.call, shell), shell);
  if (done !== 'moved' && done.ok) void continueTicket(ticket.id, shell);
  return done;
}

async function end(
  answering: Answering,
  change: Partial<Ticket>,
  unlessEqual: EqualCall | undefined,
  shell: Shell,
): Promise<Attempted> {
  const { ticket, read } = answering;
  const after = closed(answering, change, shell);
  const write = { kind: 'change', ticket: after, expect: ticket.version } as const;
  const transition = ticketTransition(
    ticket,
    read.call,
    unlessEqual === undefined ? write : { ...write, unlessEqual },
    noteOf(answering, after),
    shell,
  );
  return answerTo(await commit(transition, shell), answering, after, read);
}

function answerTo(result: CommitResult, answering: Answering, after: Ticket, read: ReadTicket): Attempted {
  switch (result.kind) {
    case 'committed':
      return { ok: true, ticket: { ...storyAfter(read, after), note: answering.note } };
    case 'unavailable':
      return unrecorded(result.fault);
    case 'conflict':
      if (result.on === 'place') return doneAlready(result.found);
      if (result.on !== 'ticket' || result.found === null || result.found.state === 'open') return 'moved';
      // An earlier try of this commit was applied, and its answer was lost.
      return isSame(result.found, after)
        ? { ok: true, ticket: { ...storyAfter(read, result.found), note: answering.note } }
        : notOpen(result.found);
    default:
      return unreachable(result);
  }
}

const isSame = (found: Ticket, after: Ticket): boolean =>
  found.closedBy === after.closedBy && found.closedAtMs === after.closedAtMs && found.end === after.end;

const doneAlready = ({ id, state }: StoredCall): TicketDone =>
  problem(
    'not_possible',
    `its agent asked for the same again meanwhile: call ${id} is ${state}. Look at that one; here only give_up is left`,
  );

function closed({ ticket, by, answer }: Answering, change: Partial<Ticket>, { ports }: Shell): Ticket {
  const closedAtMs = ports.clock.nowMs();
  return changed(ticket, { state: 'closed', closedAtMs, closedBy: by.name, end: answer.answer, ...change });
}

const partsOf = (answering: Answering, after: Ticket): CommitParts => ({
  tickets: [{ kind: 'change', ticket: after, expect: answering.ticket.version }],
  notes: [recordOf(answering.ticket, answering.read.call, noteOf(answering, after))],
});

function noteOf({ by, answer, note }: Answering, { answerText }: Ticket): TicketNote {
  // What people write, and what they send, can be erased with the call.
  const payloads: Payload[] = [];
  if (note !== null) payloads.push({ part: 'note', text: canonicalText(note) });
  if (answerText !== null) payloads.push({ part: 'replacement', text: answerText });
  const forced: JsonObject = 'force' in answer && answer.force === true ? { forced: true } : {};
  return { kind: 'ticket_resolved', body: { by: by.name, answer: answer.answer, ...forced }, payloads };
}
