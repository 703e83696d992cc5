/**
 * Answers `tools/call` with the reply or, in revision 2026-07-28, with questions of the running tool or of the
 * gateway. The tool goes on running meanwhile, and so does its deadline; a call that waits for an approval has none.
 */
import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../../../core/values/json.ts';
import type { Reply } from '../../../core/call/reply.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import { readUserAnswer, askUser } from './ask-approval.ts';
import { askClient } from './ask-client.ts';
import { awaitApproval } from './await-approval.ts';
import { askUserAboutTicket } from './ask-ticket.ts';
import { awaitTicket } from './await-ticket.ts';
import { offer, withOwnName } from '../door-names.ts';
import { type Exchange, type Question, tellProgress } from './exchange.ts';
import { suggestTools } from './suggest-tools.ts';
import { ownTool, ownTools } from '../own-tools.ts';
import { performCall, refuseState } from './perform-call.ts';
import { readToolCall, requestText, type ToolCall } from './read-tool-call.ts';
import { isSealed, stateProblems } from './sealed-states.ts';
import type { Serving } from '../serving.ts';
import { answerSessionTool } from './session-tools.ts';
import { createWaitingCall, type WaitingCall } from './waiting-call.ts';
import { passResult, writeResult } from './write-result.ts';

type Answered = CallToolResult | InputRequiredResult;

export async function callTool(params: unknown, exchange: Exchange, serving: Serving): Promise<Answered> {
  const asked = withOwnName(readToolCall(params), serving.parts);
  const { state } = exchange;
  if (isSealed(state)) return resumeAfterApproval(state, asked, exchange, serving);
  if (state !== undefined) return resume(asked, exchange, serving);
  const { parts, connection } = serving;
  const own = ownTool(asked.name, parts, connection.who);
  if (parts.workflow !== null && (own === ownTools.next || own === ownTools.history))
    return answerSessionTool(own, asked, parts.workflow, serving);
  if (parts.approvals !== undefined && own === ownTools.awaitApproval)
    return awaitApproval(asked, parts.approvals, exchange, serving);
  if (parts.tickets !== undefined && own === ownTools.awaitTicket)
    return awaitTicket(asked, parts.tickets, exchange, serving);
  const turn = await ask(asked, exchange, serving);
  if ('questions' in turn) return turn.questions;
  const put = await askUser(turn.reply, asked, exchange, serving);
  switch (put.kind) {
    case 'unanswered':
      return (await askUserAboutTicket(turn.reply, exchange, serving))
        ? askOnce(asked, exchange, serving)
        : write(turn.reply, asked, exchange, serving);
    case 'asks':
      return inputRequired([put.question], put.state);
    case 'answered':
      return askOnce({ ...asked, heldIn: put.session }, exchange, serving);
    default:
      return unreachable(put);
  }
}

/** Without asking the user again: a missing approval is now for others to give. */
async function askOnce(asked: ToolCall, exchange: Exchange, serving: Serving): Promise<Answered> {
  const turn = await ask(asked, exchange, serving);
  return 'questions' in turn ? turn.questions : write(turn.reply, asked, exchange, serving);
}

function ask(asked: ToolCall, exchange: Exchange, serving: Serving): Promise<Conversed> {
  const { parts, connection, limits } = serving;
  const call = createWaitingCall(limits.maxOpenQuestions);
  const requester = {
    ...call.requester,
    // Stateless requests have no connection that could be told from others.
    ...(connection.stateless ? {} : { connection: connection.presence }),
    client: askClient(call, exchange),
  };
  call.begin(() => performCall({ call: asked, requester, connection, parts }));
  return converse(call, asked, exchange, serving);
}

/** The client returns with its user's answer to an approval. */
async function resumeAfterApproval(
  state: string,
  asked: ToolCall,
  exchange: Exchange,
  serving: Serving,
): Promise<Answered> {
  const heard = await readUserAnswer(state, asked, exchange, serving);
  if (heard.kind === 'heard') return askOnce({ ...asked, heldIn: heard.session }, exchange, serving);
  return refuse(`a state that is good for this call: of this one, ${stateProblems[heard.problem]}`, asked, serving);
}

/** The client returns with answers to a running tool, and waits for its call again. */
async function resume(asked: ToolCall, exchange: Exchange, serving: Serving): Promise<Answered> {
  const { parked, connection } = serving;
  const request = requestText(asked);
  const found = request === null ? null : parked.claim(exchange.state, connection, request);
  if (found === null)
    return refuse(
      'the state of a question that is open, for this very call; read recourse://history before sending the call anew',
      asked,
      serving,
    );
  found.call.answer(exchange.responses);
  const turn = await converse(found.call, asked, exchange, serving);
  return 'questions' in turn ? turn.questions : write(turn.reply, asked, exchange, serving);
}

async function refuse(expected: string, call: ToolCall, { parts, connection }: Serving): Promise<CallToolResult> {
  return writeResult(offer(await refuseState(expected, { call, parts, connection }), parts), connection.stateless);
}

type Conversed = { readonly reply: Reply } | { readonly questions: InputRequiredResult };

async function converse(call: WaitingCall, asked: ToolCall, exchange: Exchange, serving: Serving): Promise<Conversed> {
  const unfollow = call.follow(exchange);
  // A client that hears of it waits on while the tool is slow, or is sent again after a pause.
  const quiet = tellProgress({ message: `${asked.given} is under way` }, exchange, serving.limits.progressEveryMs);
  try {
    for (;;) {
      const turn = await call.turn();
      if (turn.kind === 'replied') {
        call.deliver(exchange.written());
        return { reply: turn.reply };
      }
      const request = requestText(asked);
      const state = request === null ? null : serving.parked.park({ call, request, connection: serving.connection });
      if (state !== null) return { questions: inputRequired(turn.questions, state) };
      call.failAll('too many calls wait for answers of their clients; ask again later');
    }
  } finally {
    quiet();
    unfollow();
  }
}

function inputRequired(questions: readonly Question[], requestState: string): InputRequiredResult {
  const inputRequests = Object.fromEntries(questions.map(({ key, method, params }) => [key, { method, params }]));
  const result: unknown = { resultType: 'input_required', inputRequests, requestState };
  return result as InputRequiredResult;
}

function write(replied: Reply, { name, given }: ToolCall, exchange: Exchange, serving: Serving): CallToolResult {
  const { parts, connection } = serving;
  const reply = suggestTools(replied, given, serving) ?? offer(replied, parts);
  // Only steps of a workflow continue in a session.
  const passOn = connection.stateless && parts.workflow !== null;
  const listing = name === null ? null : (parts.tools?.catalogue(connection.who).get(name)?.listing ?? null);
  if (listing === null) return writeResult(reply, passOn);
  const passed = passResult(reply, passOn, listing);
  const content: unknown = passed.content;
  // The server's content is unchecked: the SDK gets only what it can read.
  if (!Array.isArray(content) || !content.every(isObject)) return passed;
  const { outputSchema } = listing;
  // Revision 2025-11-25 knows only objects as structured content: the SDK wraps the schema it lists, and here the
  // value.
  return exchange.project(passed, isObject(outputSchema) ? (outputSchema as JsonObject) : undefined);
}
