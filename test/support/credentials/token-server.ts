/** An OAuth 2.0 token endpoint for tests (RFC 6749, client credentials). Each grant is another token. */
import type { TestContext } from 'node:test';
import { type Api, listenApi } from '../http/api.ts';

export interface TokenServer {
  readonly url: string;
  readonly heard: Api['heard'];
  readonly given: readonly string[];
  /** Gives this in place of tokens. */
  answer(body: Readonly<Record<string, unknown>> | null, status?: number): void;
  stop(): Promise<void>;
}

export async function startTokenServer(
  t: Pick<TestContext, 'after'>,
  tokens = (nth: number) => `plantedAccessToken${nth}`,
): Promise<TokenServer> {
  const given: string[] = [];
  let instead: { readonly body: object; readonly status: number } | null = null;
  const basic = `Basic ${Buffer.from('client-1:planted%2Bclient%26secret').toString('base64')}`;
  const api = await listenApi(t, ({ headers, body }, response) => {
    const form = new URLSearchParams(body);
    const isClient =
      headers.authorization === basic ||
      (form.get('client_id') === 'client-1' && form.get('client_secret') === 'planted+client&secret');
    const say = (status: number, fields: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(fields));
    };
    if (instead !== null) return say(instead.status, instead.body);
    if (!isClient) return say(401, { error: 'invalid_client', error_description: 'planted words' });
    if (form.get('grant_type') !== 'client_credentials') return say(400, { error: 'unsupported_grant_type' });
    const token = tokens(given.length + 1);
    given.push(token);
    say(200, { access_token: token, token_type: 'Bearer', expires_in: 3_600 });
  });
  return {
    url: `${api.url}/token`,
    heard: api.heard,
    given,
    answer: (body, status = 200) => void (instead = body === null ? null : { body, status }),
    stop: api.stop,
  };
}
