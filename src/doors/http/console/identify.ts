/**
 * Reads who asks from the cookie of the console, and refuses pages of other origins. The cookie counts only with the
 * header of the console, and never beside a key.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Identity } from '../../../core/call/identity.ts';
import { consoleHeader } from '../../../core/http/console/console-header.ts';
import type { HttpDoorParts, Stranger } from '../parts.ts';

type Request = Pick<IncomingMessage, 'headers' | 'method'>;

/** Who asks, by key or by cookie; `other_origin` for a page that may not use the cookie. */
export async function identify(
  request: Request,
  apiKey: boolean,
  parts: HttpDoorParts,
): Promise<Identity | Stranger | 'other_origin'> {
  const { headers } = request;
  // INVARIANT: a request of the console is decided by its cookie, even where others need no key.
  if (headers[consoleHeader] === undefined || headers.authorization !== undefined)
    return parts.authenticate(headers, apiKey);
  if (!isOwnPage(request)) return 'other_origin';
  const token = tokenIn(headers);
  if (token === null) return { problem: 'missing' };
  const found = await parts.console.find(token);
  return found?.who ?? { problem: 'unknown' };
}

/** INVARIANT: what changes something comes from our own page: same host and port, as the browser says. */
export function isOwnPage({ headers, method }: Request): boolean {
  const { host, origin } = headers;
  if (origin === undefined) return method === 'GET' || method === 'HEAD';
  return host !== undefined && URL.parse(origin)?.host === URL.parse(`http://${host}`)?.host;
}

/** Cookies do not know ports, so the name does: two gateways of one machine do not take each other's. */
const nameOf = ({ host }: IncomingHttpHeaders): string =>
  `recourse_${/:(\d{1,5})$/.exec(host ?? '')?.[1] ?? 'console'}`;

export function tokenIn(headers: IncomingHttpHeaders): string | null {
  const name = nameOf(headers);
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [found, value = ''] = pair.trim().split('=', 2);
    if (found === name && value !== '') return value;
  }
  return null;
}

/** `token` null removes it. Secure where the page came over TLS, which only its origin tells behind a proxy. */
export function cookieFor(headers: IncomingHttpHeaders, token: string | null, maxAgeSeconds: number): string {
  const secure = headers.origin?.startsWith('https:') === true ? '; Secure' : '';
  const age = token === null ? 0 : Math.max(0, Math.floor(maxAgeSeconds));
  return `${nameOf(headers)}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`;
}
