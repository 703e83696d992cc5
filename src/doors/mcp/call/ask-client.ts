/**
 * Sends questions of a running tool to the client: in revision 2025-11-25 as a request on the stream of the call, in
 * 2026-07-28 by ending the client's request with the questions. Waits no longer than the tool does.
 */
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import { compileSchema } from '../../../core/schema/compile-schema.ts';
import type { AgentClient } from '../../../shell/call/await-outcome.ts';
import type { Exchange, Push, Question } from './exchange.ts';
import { ClientUnavailable, type WaitingCall } from './waiting-call.ts';

/** Longer than any call may take: the deadline of the call ends the wait, not the SDK. */
const maxQuestionMs = 24 * 3_600_000;

type Ask = (method: Question['method'], params: JsonObject, signal: AbortSignal) => Promise<unknown>;

export function askClient(call: WaitingCall, { capabilities, push }: Exchange): AgentClient {
  const ask: Ask = push === null ? call.ask : pushed(call, push);
  return {
    async elicit(message, schema, signal) {
      if (!hasForms(capabilities['elicitation']))
        throw new ClientUnavailable('the client did not declare that it can ask its user (elicitation)');
      const requestedSchema = formOf(schema);
      const given = await ask('elicitation/create', { mode: 'form', message, requestedSchema }, signal);
      const action = isObject(given) ? given['action'] : undefined;
      if (!isObject(given) || (action !== 'accept' && action !== 'decline' && action !== 'cancel'))
        throw new ClientUnavailable('the client answered with something other than accept, decline or cancel');
      // Without an accept the content does not count, whatever the client sends.
      if (action !== 'accept') return { action, content: null };
      const content = given['content'] ?? {};
      checkAnswer(requestedSchema, content as Json);
      return { action, content: isObject(given['content']) ? (given['content'] as JsonObject) : null };
    },
    async sample(request, signal) {
      if (!isObject(capabilities['sampling']))
        throw new ClientUnavailable('the client did not declare that its model can be asked (sampling)');
      const given = await ask('sampling/createMessage', request, signal);
      if (!isObject(given)) throw new ClientUnavailable('the client answered with something that is not an object');
      return given as JsonObject;
    },
  };
}

/** MCP requires an object schema; the tool may leave out `type`. */
function formOf(schema: JsonObject): JsonObject {
  const { type = 'object' } = schema;
  if (type !== 'object')
    throw new TypeError('ctx.elicit(message, schema?) asks for fields: the schema is of no object');
  return { properties: {}, ...schema, type };
}

/** A tool may rely on the schema it asked with, unless that cannot be compiled. */
function checkAnswer(schema: JsonObject, content: Json): void {
  const compiled = compileSchema(schema);
  const [wrong] = compiled.ok ? compiled.check(content) : [];
  if (wrong === undefined) return;
  const field = wrong.path === '' ? 'the content' : wrong.path;
  throw new ClientUnavailable(`the client's answer does not fit the question: ${field} must be ${wrong.expected}`);
}

function pushed(call: WaitingCall, push: Push): Ask {
  return (method, params, signal) =>
    push(method, params, { signal: AbortSignal.any([signal, call.ended()]), timeout: maxQuestionMs });
}

/** An empty declaration means forms, as before there were other modes. */
export function hasForms(elicitation: unknown): boolean {
  return isObject(elicitation) && ('form' in elicitation || !('url' in elicitation));
}
