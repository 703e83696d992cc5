/**
 * Asks the user of the agent's client about a ticket, where the file lets them answer its queue: on the stream of the
 * call, so that nobody else can answer. They may let the call run again, change its arguments, or give it up.
 */
import type { Reply } from '../../../core/call/reply.ts';
import type { TicketAnswer } from '../../../core/ticket/answers.ts';
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import { quoteValue, spellOut } from '../../../core/values/quote.ts';
import { maxPushMs, pushed } from './ask-approval.ts';
import { hasForms } from './ask-client.ts';
import type { Exchange } from './exchange.ts';
import type { Serving } from '../serving.ts';

/** INVARIANT: a client's user is not asked about what cannot be shown whole. */
const maxShownChars = 8_000;

const requestedSchema: JsonObject = {
  type: 'object',
  properties: {
    answer: {
      type: 'string',
      enum: ['retry', 'replace', 'give_up'],
      title: 'Answer',
      description: 'retry runs the call again; replace runs it with other arguments; give_up runs nothing.',
    },
    arguments: { type: 'string', title: 'Arguments', description: 'With replace: the arguments, as JSON.' },
  },
  required: ['answer'],
};

/** Whether the call goes on by its user's word: then it is asked for again, and gets what came of that. */
export async function askUserAboutTicket(reply: Reply, exchange: Exchange, serving: Serving): Promise<boolean> {
  const { tickets } = serving.parts;
  const id = ticketOf(reply);
  const isAskable = exchange.push !== null && hasForms(exchange.capabilities['elicitation']);
  if (tickets === undefined || id === null || !isAskable) return false;
  const { who } = serving.connection;
  const asked = await tickets.askedOfClient(id, who);
  if (asked === null) return false;
  const message = [
    `Calling ${quoteValue(asked.tool)} failed: ${asked.says}. What shall be done?`,
    `It was called with these arguments:`,
    quoteValue(asked.args, 2),
  ].join('\n');
  if (message.length > maxShownChars) return false;
  const params = { mode: 'form', message: spellOut(message), requestedSchema };
  const answer = readTicketAnswer(await pushed(params, maxPushMs, exchange, serving.closing));
  if (answer === null) return false;
  const done = await tickets.answerAsClient(id, who, answer);
  return done && answer.answer !== 'give_up';
}

/** Null if it is none: the ticket stays open for others. */
export function readTicketAnswer(given: unknown): TicketAnswer | null {
  if (!isObject(given) || given['action'] !== 'accept' || !isObject(given['content'])) return null;
  const { answer, arguments: text } = given['content'];
  if (answer === 'retry' || answer === 'give_up') return { answer };
  if (answer !== 'replace' || typeof text !== 'string') return null;
  try {
    return { answer, args: JSON.parse(text) as Json };
  } catch {
    return null;
  }
}

function ticketOf(reply: Reply): string | null {
  if (!('error' in reply) || reply.resolution.type !== 'escalated') return null;
  return reply.resolution.ticket_id;
}
