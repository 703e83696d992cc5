/** JSON Schemas of the HTTP bodies about tickets, by component name. Part of http-bodies.ts. */
import { ticketReasons } from '../recovery/ticket.ts';
import { ticketStates } from '../recovery/ticket-view.ts';
import { callStates, effects } from '../taxonomy.ts';
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

export const ticketRequestBodies = {
  CloseTicketRequest: closedObject({ note: { type: 'string', minLength: 1, maxLength: maxNoteChars } }, ['note']),
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
  closed_at: orNull(time),
  closed_by: textOrNull,
};

const call = closedObject({
  state: oneOfNames(Object.keys(callStates)),
  effect: oneOfNames(Object.keys(effects)),
  attempts: wholeNumber,
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
      call: orNull(call),
    }),
  };
}
