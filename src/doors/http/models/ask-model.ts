/**
 * Asks a model for a client of its provider: the body is the arguments of the tool, the answer is the provider's, as
 * JSON or as its stream. Decides nothing about the call.
 */
import type { ServerResponse } from 'node:http';
import { isPending, isRefusal, type Reply } from '../../../core/call/reply.ts';
import { type Chosen, chooseProvider } from '../../../core/model/choose-provider.ts';
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import type { Requester } from '../../../shell/call/requester.ts';
import { type Answer, type Asked, refuse, type Written } from '../answer.ts';
import { principal } from '../call-routes.ts';
import { createEventWriter } from './event-writer.ts';
import { errorAnswer, statusOf, successHeaders } from './write-error.ts';

export type OperationName = 'chat' | 'responses' | 'messages';

export function askModel(operationName: OperationName): (asked: Asked) => Promise<Answer> {
  return async (asked) => {
    const body = asked.body as Json | undefined;
    const args = isObject(body) ? (body as JsonObject) : {};
    const chosen = chooseProvider(asked.parts.models.providers(), operationName, args);
    if (chosen === null)
      return refuse('UnknownModel', `no provider in recourse.yaml has the operation '${operationName}'`);
    // What is no object is refused by the tool's own schema.
    const whole = isObject(body) || body === undefined ? chosen : { ...chosen, args: body };
    return { kind: 'stream', drains: true, run: (response) => ask(whole, asked, response) };
  };
}

type Whole = Omit<Chosen, 'args'> & { readonly args: Json };

async function ask(chosen: Whole, asked: Asked, response: ServerResponse): Promise<Written | void> {
  const { parts, settings, who, header } = asked;
  const { tool, operation, args } = chosen;
  const key = header('idempotency-key');
  const isStreamed = isObject(args) && operation.needs(args as JsonObject).streaming;
  const writer = createEventWriter(response, settings, key !== undefined);
  const raw = {
    tool,
    args,
    ...(key === undefined ? {} : { key }),
    ...named('session', header('recourse-session')),
    ...named('turn', header('recourse-turn')),
  };
  const reply = await parts.call(raw, principal(who), {
    ...requesterOf(asked, key !== undefined),
    ...(isStreamed ? { relay: writer.relay } : {}),
  });
  if (response.destroyed || isPending(reply)) return writer.end();
  if (!isStreamed) return plainAnswer(reply, chosen);
  if (isRefusal(reply)) {
    if (!writer.hasBegun()) return errorAnswer(reply, operation.sayError);
    await writer.write(operation.sayErrorInStream(reply, statusOf(reply)), {});
  } else if (!writer.hasBegun())
    // Nothing was relayed: it is a stored reply, or it was masked.
    await writer.write(operation.asStream(reply.result as Json, args as JsonObject), successHeaders(reply));
  writer.end();
}

const named = (field: string, value: string | undefined): object => (value === undefined ? {} : { [field]: value });

/**
 * Without a key nobody can ask for the answer again, so a client that leaves cancels: what is not read is not paid for.
 * With one the call goes on, and the same request gets its answer.
 */
function requesterOf({ client }: Asked, hasKey: boolean): Requester {
  const { left, written, heard } = client;
  return hasKey ? { left, written, heard } : { cancelled: left, written, heard };
}

function plainAnswer(reply: Exclude<Reply, { pending: true }>, { operation }: Whole): Written {
  if (isRefusal(reply)) return errorAnswer(reply, operation.sayError);
  return { kind: 'json', status: 200, value: reply.result, headers: successHeaders(reply) };
}
