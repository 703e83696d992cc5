/**
 * How does a reply travel as the result of a tool? The reply itself as structured content, a short text for the model,
 * and `isError` for every error: never an error of the protocol. What an MCP server answered passes as it came.
 */
import { type CallToolResult, isSpecType } from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../../../core/values/json.ts';
import { isRefusal, isSuccess, type Reply, type SuccessReply } from '../../../core/call/reply.ts';
import { admitEnvelope } from '../output-schema.ts';
import { writeText } from './write-text.ts';

export function writeResult(reply: Reply, stateless: boolean): CallToolResult {
  return {
    content: [{ type: 'text', text: writeText(reply, stateless) }],
    structuredContent: reply as unknown as Record<string, unknown>,
    ...(isRefusal(reply) ? { isError: true } : {}),
  };
}

/** For a tool of an MCP server, as it is listed: its result, with nothing but what we know about the call added. */
export function passResult(reply: Reply, stateless: boolean, listing: JsonObject): CallToolResult {
  if (!isSuccess(reply) || !isObject(reply.result)) {
    const allowed = !('outputSchema' in listing) || admitEnvelope(listing['outputSchema']) !== null;
    return allowed ? writeResult(reply, stateless) : besideSchema(reply, stateless);
  }
  // What kind of result this is, we say: a server must not make our client answer questions of its own.
  const { _meta: meta, resultType: _theirs, isError, ...result } = reply.result;
  const told: Record<string, unknown> = {};
  for (const field of aboutTheCall) if (Object.hasOwn(reply, field)) told[field] = reply[field];
  // A model reads the content alone: what is said beside the result, such as that an approver changed the call, is said there, too.
  const notes = (reply.notices ?? []).map(({ human_message: text }) => ({ type: 'text', text: `note: ${text}` }));
  // Clients of the older revision read a result without content as one with none; those of the newer one throw it away.
  const { content = [] } = result;
  const read = Array.isArray(content) ? { content: [...content.map(legible), ...notes] } : {};
  // Nothing but false and true can be read there, and with true it were no success.
  const verdict = isError === false ? { isError } : {};
  const passed: unknown = {
    ...result,
    ...read,
    ...verdict,
    _meta: { ...(isObject(meta) ? meta : {}), 'recourse/reply': told },
  };
  return passed as CallToolResult;
}

const knownTypes: readonly unknown[] = ['text', 'image', 'audio', 'resource', 'resource_link'];

/**
 * As it came, or as text if it is not what its type says, or says none: a client throws the whole result away for it, after a
 * call that is done. A type that we do not know, a client may.
 */
function legible(item: unknown): unknown {
  const type = isObject(item) ? item['type'] : null;
  const isForeign = typeof type === 'string' && !knownTypes.includes(type);
  const isText = isObject(item) && type === 'text' && typeof item['text'] === 'string';
  // Nearly all content is a text and nothing else: it needs no judge.
  const isPlain = isText && Object.keys(item).length === 2;
  if (isPlain || isForeign || isSpecType.ContentBlock(item)) return item;
  return { type: 'text', text: isText ? item['text'] : JSON.stringify(item) };
}

/**
 * The server promised a schema that could not be widened for our envelope. Many clients check every structured content against
 * it, errors too, and would throw the refusal away: so the envelope stands in `_meta`, whole. Only an error may lack structured content.
 */
function besideSchema(reply: Reply, stateless: boolean): CallToolResult {
  const { content, structuredContent } = writeResult(reply, stateless);
  return { content, isError: true, _meta: { 'recourse/reply': structuredContent } };
}

/** What the envelope says that the server's own result does not. */
const aboutTheCall = [
  'call_id',
  'session',
  'errors',
  'seq',
  'replayed',
  'reversal_token',
  'notices',
] as const satisfies readonly (keyof SuccessReply)[];
