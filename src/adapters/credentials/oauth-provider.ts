/**
 * Access tokens by OAuth 2.0 client credentials (RFC 6749, section 4.4). Bearer tokens only. The error code of an answer
 * is one of a closed list and is told; its description is not.
 */
import type { ProviderAnswer, ProviderClient } from './ask-provider.ts';
import type { OAuthSource } from '../../core/credential/declared-credential.ts';
import { failed, lifetimeOf, type Provided, type SecretProvider, provided } from '../../ports/secret-provider.ts';

const errorCodes: readonly string[] = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
];

export function createOAuthProvider(source: OAuthSource, client: ProviderClient): SecretProvider {
  const { tokenUrl, clientId, clientSecret, scope, audience, clientAuth } = source;
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== null) form.set('scope', scope);
  if (audience !== null) form.set('audience', audience);
  if (clientAuth === 'post') {
    form.set('client_id', clientId);
    form.set('client_secret', clientSecret);
  }
  const login = [clientId, clientSecret].map(formEncoded).join(':');
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...(clientAuth === 'basic' ? { authorization: `Basic ${Buffer.from(login).toString('base64')}` } : {}),
  };
  return {
    name: 'oauth',
    // Without expires_in nobody knows how long it lasts.
    usualAgeMs: 300_000,
    fetch: async (signal) =>
      tokenIn(await client.ask({ method: 'POST', url: new URL(tokenUrl), headers, body: form.toString() }, signal)),
  };
}

/** As RFC 6749, appendix B, wants name and secret before base64. */
const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

function tokenIn(answer: ProviderAnswer): Provided {
  if (!answer.ok) return failed(answer.reason);
  const { status, body, retryAfterMs } = answer;
  if (status !== 200) {
    const code = errorCodes.find((each) => each === body['error']);
    return failed(code ?? `status ${status}`, retryAfterMs ?? undefined);
  }
  const { access_token: token, token_type: type, expires_in: seconds } = body;
  if (typeof token !== 'string') return failed('an answer without a token');
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') return failed('a token that is no bearer token');
  return provided(token, lifetimeOf(seconds));
}
