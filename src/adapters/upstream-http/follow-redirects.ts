/**
 * Decides which request a redirect leads to, if the configuration follows it. A write is sent again only for 307 and
 * 308. Another origin gets no secret: no configured header or parameter, no credential, no login, no cookie, and no
 * request that has a key.
 */
import type { HttpRequest } from '../shared/http/http-request.ts';
import type { HttpTarget } from './http-config.ts';
import { isSafeMethod } from './plan-request.ts';
import type { HttpAnswer } from '../shared/http/send-request.ts';

const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];
export const isRedirect = (status: number): boolean => redirectStatuses.includes(status);
/** These ask to send the same request elsewhere, so it was not carried out. */
export const provesNothingDone = (status: number): boolean => status === 307 || status === 308;

const credentials: readonly string[] = ['authorization', 'cookie', 'proxy-authorization', 'host'];

/** Null if it is not followed. */
export function redirected(target: HttpTarget, request: HttpRequest, answer: HttpAnswer): HttpRequest | null {
  const { location } = answer.headers;
  if (target.redirects === 'none' || !isRedirect(answer.status) || location === undefined) return null;
  if (!isSafeMethod(request.method) && !provesNothingDone(answer.status)) return null;
  const url = URL.parse(location, request.url.href);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return null;
  if (request.url.protocol === 'https:' && url.protocol === 'http:') return null;
  url.hash = '';
  if (url.origin === request.url.origin) return { ...request, url };
  // INVARIANT: the key stays with the server that remembers it; without it the write could happen twice elsewhere.
  if (target.redirects !== 'follow' || request.hasKey) return null;
  return withoutSecrets(target, request, url);
}

function withoutSecrets(target: HttpTarget, request: HttpRequest, url: URL): HttpRequest {
  const kept = [...request.headers].filter(([name]) => !isSecret(name, target) && !request.secretHeaders?.has(name));
  // A server may repeat the whole query in its redirect.
  const parameters = new URL(target.url).searchParams.keys();
  for (const name of new Set([...parameters, ...(request.secretParameters ?? [])]))
    if (url.searchParams.has(name)) url.searchParams.delete(name);
  return { ...request, url, headers: new Map(kept) };
}

function isSecret(name: string, { headers }: HttpTarget): boolean {
  return credentials.includes(name) || Object.keys(headers).some((each) => each.toLowerCase() === name);
}
