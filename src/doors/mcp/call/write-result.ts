/**
 * Writes a reply as a tool result: the reply as structured content, a short text for the model, and `isError` for
 * every error. The result of an MCP server is passed on as it is.
 */
import { type CallToolResult, isSpecType } from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../../../core/values/json.ts';
import { isRefusal, isSuccess, type Reply, type SuccessReply } from '../../../core/call/reply.ts';
import { admitEnvelope } from '../output-schema.ts';
import { spellOut } from '../../../core/values/quote.ts';
import { partialLine, writeText } from './write-text.ts';

export function writeResult(reply: Reply, stateless: boolean): CallToolResult {
  return {
    content: [{ type: 'text', text: writeText(reply, stateless) }],
    structuredContent: reply as unknown as Record<string, unknown>,
    ...(isRefusal(reply) ? { isError: true } : {}),
  };
}

/** The result of an MCP server's tool, with our fields about the call in `_meta`. */
export function passResult(reply: Reply, stateless: boolean, listing: JsonObject): CallToolResult {
  if (!isSuccess(reply) || !isObject(reply.result)) {
    const allowed = !('outputSchema' in listing) || admitEnvelope(listing['outputSchema']) !== null;
    return allowed ? writeResult(reply, stateless) : envelopeInMeta(reply, stateless);
  }
  // `resultType` is ours: a server must not make our client answer its questions.
  const { _meta: meta, resultType: _theirs, isError, ...result } = reply.result;
  const told: Record<string, unknown> = {};
  for (const field of aboutTheCall) if (Object.hasOwn(reply, field)) told[field] = reply[field];
  // A model reads only the content, so notices, such as that an approver changed the call, are repeated there.
  const notes = (reply.notices ?? []).map(({ human_message: text }) => ({ type: 'text', text: `note: ${text}` }));
  // Clients of 2026-07-28 drop a result without `content`; those of 2025-11-25 read it as empty.
  const { content = [] } = result;
  // INVARIANT: a model reads that items failed before it reads what was done.
  const partial = partialLine(reply);
  const first = partial === null ? [] : [{ type: 'text', text: spellOut(`${partial}.`) }];
  const read = Array.isArray(content) ? { content: [...first, ...content.map(validItem), ...notes] } : {};
  // Only false is passed on: with true it would not be a success.
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
 * The item, or its text if it is not valid for its type: clients drop the whole result of a finished call for one bad
 * item. A type that we do not know is passed on, because the client may know it.
 */
function validItem(item: unknown): unknown {
  const type = isObject(item) ? item['type'] : null;
  const isForeign = typeof type === 'string' && !knownTypes.includes(type);
  const isText = isObject(item) && type === 'text' && typeof item['text'] === 'string';
  // Nearly all content is plain text, which needs no validation.
  const isPlain = isText && Object.keys(item).length === 2;
  if (isPlain || isForeign || isSpecType.ContentBlock(item)) return item;
  return { type: 'text', text: isText ? item['text'] : JSON.stringify(item) };
}

/**
 * For a server's schema that could not be widened: clients that check structured content against it would drop the
 * refusal. So the envelope is in `_meta`. Only an error may lack structured content.
 */
function envelopeInMeta(reply: Reply, stateless: boolean): CallToolResult {
  const { content, structuredContent } = writeResult(reply, stateless);
  return { content, isError: true, _meta: { 'recourse/reply': structuredContent } };
}

/** The fields of the envelope that a server's own result lacks. */
const aboutTheCall = [
  'call_id',
  'session',
  'errors',
  'seq',
  'replayed',
  'reversal_token',
  'notices',
] as const satisfies readonly (keyof SuccessReply)[];
