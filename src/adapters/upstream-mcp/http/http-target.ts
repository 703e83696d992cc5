/** The address of a server, parsed once, and the headers of a request to it. */
import { urlToHttpOptions } from 'node:url';
import { reservedHeaders } from '../../shared/http/http-request.ts';

export interface Target {
  readonly origin: string;
  readonly path: string;
  /** Host, and the login if the address has one. */
  readonly headers: Readonly<Record<string, string>>;
}

export function targetOf(url: URL): Target {
  const { auth, path } = urlToHttpOptions(url);
  const login = typeof auth === 'string' ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  return { origin: url.origin, path: path ?? '/', headers: { host: url.host, ...login } };
}

/** Names and values in turn, as undici takes them. A later header replaces an earlier one of the same name. */
export function headersFor(target: Target, ...given: readonly Readonly<Record<string, string>>[]): readonly string[] {
  const named = new Map(Object.entries(target.headers));
  for (const headers of given)
    for (const [name, value] of Object.entries(headers)) named.set(name.toLowerCase(), value);
  for (const name of reservedHeaders) named.delete(name);
  return [...named].flat();
}
