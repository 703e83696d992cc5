/**
 * Reads an HTTP answer that is no success: its status, Retry-After, where it redirects to, and the JSON-RPC error in
 * its body.
 */
import type { HttpAnswer } from './http-client.ts';
import type { McpLimits } from '../mcp-limits.ts';
import { errorIn, type MessageId, messagesIn, readMessage, type RpcError } from '../rpc-message.ts';
import { HttpRefusal } from '../transport-faults.ts';

/** Both revisions send JSON-RPC errors with these statuses. Of the others the status itself says more. */
const statusesWithError: readonly number[] = [400, 404];

export function readRefusal(answer: HttpAnswer, id: MessageId, url: string, limits: McpLimits): HttpRefusal {
  const { status, headers } = answer;
  const text = textOf(answer);
  const said = statusesWithError.includes(status) ? errorFor(id, text) : null;
  const redirectsTo = readRedirect(status, headers['location'] ?? null, url);
  const cause = new Error(text.slice(0, limits.maxCauseChars));
  return new HttpRefusal(status, readRetryAfter(headers['retry-after'] ?? null), cause, { said, redirectsTo });
}

function errorFor(id: MessageId, text: string): RpcError | null {
  for (const message of messagesIn(text)) {
    const read = readMessage(message);
    if (read?.kind === 'answer' && read.id === id) return errorIn(read.body);
  }
  return null;
}

/** A refusal that comes as an event stream is closed and not read. */
function textOf({ body }: HttpAnswer): string {
  if (Buffer.isBuffer(body)) return body.toString('utf8');
  body.destroy();
  return '';
}

/** In seconds; the header has seconds or a date. */
export function readRetryAfter(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1_000));
}

const redirects: readonly number[] = [301, 302, 303, 307, 308];
const maxRedirectChars = 500;

/**
 * Where a redirect points to, without what may be secret: the login, and the query. Null if it is no redirect to an
 * HTTP address. Redirects are never followed.
 */
export function readRedirect(status: number, location: string | null, from: string | URL): string | null {
  if (location === null || !redirects.includes(status)) return null;
  const to = URL.parse(location, String(from));
  if (to === null || (to.protocol !== 'http:' && to.protocol !== 'https:')) return null;
  return `${to.origin}${to.pathname}${to.search === '' ? '' : '?…'}`.slice(0, maxRedirectChars);
}
