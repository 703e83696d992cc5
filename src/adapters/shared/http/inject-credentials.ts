/**
 * Puts the secrets of an attempt into its request, right before it is sent. The only place of HTTP adapters that reveals
 * them. They are no part of the arguments, of the plan, or of anything that is kept.
 */
import type { CredentialHandle } from '../../../ports/credentials.ts';
import type { HttpRequest } from './http-request.ts';

/** Null if one of them cannot be had now. `meta` and `env` are not for HTTP. */
export function injectCredentials(request: HttpRequest, handles: readonly CredentialHandle[]): HttpRequest | null {
  if (handles.length === 0) return request;
  const headers = new Map(request.headers);
  const url = new URL(request.url);
  const secretHeaders = new Set<string>();
  const secretParameters = new Set<string>();
  for (const { inject, reveal } of handles) {
    const value = reveal();
    if (value === null) return null;
    const name = inject.name.toLowerCase();
    if (inject.into === 'query') {
      url.searchParams.set(inject.name, value);
      secretParameters.add(inject.name);
    }
    if (inject.into !== 'header') continue;
    headers.set(name, value);
    secretHeaders.add(name);
  }
  return { ...request, headers, url, secretHeaders, secretParameters };
}
