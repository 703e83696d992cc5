/** JSON Schemas of the HTTP bodies about tickets, by component name. Part of http-bodies.ts. */
import { defaultLimits } from '../limits.ts';
import { ticketReasons } from '../recovery/ticket.ts';
import { ticketStates } from '../recovery/ticket-view.ts';
import { callStates, effects, verdicts } from '../taxonomy.ts';
import { type AnswerKind, answerKinds } from '../ticket/answer-kinds.ts';
import { inboxKinds } from '../ticket/inbox.ts';
import { reversalRequestBodies } from './reversal/reversal-bodies.ts';
import {
  anything,
  closedObject,
  listOf,
  oneOfNames,
  type Ref,
  type Schema,
  text,
  textOrNull,
  wholeNumber,
} from './reply-schema-fields.ts';

const maxNoteChars = 500;
const time: Schema = { type: 'string', format: 'date-time' };
const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

const note: Schema = { type: 'string', minLength: 1, maxLength: maxNoteChars };
const force: Schema = { type: 'boolean' };

/** The answer, with what belongs to it and no more. */
const answering = (names: readonly AnswerKind[], more: Readonly<Record<string, Schema>>, optional: readonly string[]) =>
  closedObject({ answer: oneOfNames(names), ...more, note }, [...optional, 'note']);

export const ticketRequestBodies = {
  ...reversalRequestBodies,
  CloseTicketRequest: closedObject({ note }, ['note']),
  TakeTicketRequest: closedObject({ give_back: { type: 'boolean' } }, ['give_back']),
  CommentRequest: closedObject({ text: { type: 'string', minLength: 1, maxLength: defaultLimits.maxCommentChars } }),
  ResolveTicketRequest: {
    anyOf: [
      answering(['retry', 'it_did_not'], { force }, ['force']),
      answering(['replace'], { args: anything }, []),
      answering(['it_happened'], { result: anything }, ['result']),
      answering(['approve', 'authenticate', 'never_known', 'give_up'], {}, []),
    ],
  },
} as const satisfies Record<string, Schema>;

const ticket = {
  ticket_id: text,
  state: oneOfNames(ticketStates),
  queue: text,
  reason: oneOfNames(Object.keys(ticketReasons)),
  says: text,
  agent: text,
  tool: text,
  session: textOrNull,
  call_id: text,
  opened_at: time,
  due_at: orNull(time),
  expires_at: orNull(time),
  overdue: { type: 'boolean' },
  assignee: textOrNull,
  answer: orNull(oneOfNames([...answerKinds, 'expired', 'settled'])),
  continued_by: textOrNull,
  closed_at: orNull(time),
  closed_by: textOrNull,
};

const call = closedObject({
  state: oneOfNames(Object.keys(callStates)),
  effect: oneOfNames(Object.keys(effects)),
  attempts: wholeNumber,
  verdict: orNull(oneOfNames(Object.keys(verdicts))),
  args: anything,
  reply: anything,
  created_at: time,
});

export function ticketAnswerBodies(ref: Ref) {
  return {
    TicketView: closedObject(ticket),
    TicketList: closedObject({ tickets: listOf(ref('TicketView')), next: textOrNull }),
    TicketStory: closedObject({
      ...ticket,
      age_seconds: wholeNumber,
      note: textOrNull,
      closing: text,
      answers: listOf(closedObject({ answer: oneOfNames(answerKinds), does: text })),
      sign_in: orNull(closedObject({ verification_uri: text, user_code: text, expires_at: time })),
      comments: listOf(closedObject({ by: text, at: time, text: textOrNull })),
      call: orNull(call),
    }),
    TicketOutcome: closedObject({ ...ticket, next: text, reply: orNull(ref('Reply')) }),
    InboxItem: closedObject({
      kind: oneOfNames(inboxKinds),
      id: text,
      waits_for: text,
      agent: text,
      tool: text,
      session: textOrNull,
      call_id: text,
      queue: textOrNull,
      assignee: textOrNull,
      opened_at: time,
      due_at: orNull(time),
      expires_at: orNull(time),
      overdue: { type: 'boolean' },
      approval: orNull(ref('ApprovalView')),
      ticket: orNull(ref('TicketView')),
    }),
    Inbox: closedObject({ items: listOf(ref('InboxItem')), total: wholeNumber }),
  };
}
