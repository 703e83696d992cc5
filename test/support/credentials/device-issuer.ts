/** An OAuth 2.0 issuer with device authorization (RFC 8628) and refresh tokens, and an API that wants its tokens. */
import type { TestContext } from 'node:test';
import { type Api, listenApi } from '../http/api.ts';

export interface DeviceIssuer {
  readonly url: string;
  readonly heard: Api['heard'];
  /** What the API did. */
  readonly done: unknown[];
  /** The person enters the code, and says yes or no. */
  decide(userCode: string, yes: boolean): void;
  /** The next polls are answered with this error. */
  answer(error: string | null): void;
  /** No token is accepted any more, and none can be renewed. */
  revoke(): void;
  readonly polls: () => number;
  readonly authorizations: () => number;
}

const grant = 'urn:ietf:params:oauth:grant-type:device_code';

export async function startDeviceIssuer(
  t: Pick<TestContext, 'after'>,
  { interval = 1, lifetime = 900 }: { readonly interval?: number; readonly lifetime?: number } = {},
): Promise<DeviceIssuer> {
  const asked = new Map<string, { readonly userCode: string; said: 'yes' | 'no' | null }>();
  const valid = new Set<string>();
  const refreshing = new Set<string>();
  const done: unknown[] = [];
  let error: string | null = null;
  let polls = 0;
  let given = 0;
  const tokens = () => {
    given += 1;
    const [access, refresh] = [`plantedAccess${given}`, `plantedRefresh${given}`];
    valid.add(access);
    refreshing.add(refresh);
    return { access_token: access, token_type: 'Bearer', expires_in: 3_600, refresh_token: refresh };
  };
  const api = await listenApi(t, ({ url, headers, body }, response) => {
    const say = (status: number, fields: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(fields));
    };
    if (url.startsWith('/pay')) {
      if (!valid.has(String(headers.authorization ?? '').replace('Bearer ', ''))) return say(401, { problem: 'who' });
      done.push(JSON.parse(body));
      return say(200, { paid: done.length });
    }
    const form = new URLSearchParams(body);
    if (url.startsWith('/device')) {
      const [deviceCode, userCode] = [`plantedDevice${asked.size + 1}`, `CODE-${asked.size + 1}`];
      asked.set(deviceCode, { userCode, said: null });
      const page = `${api.url}/enter`;
      return say(200, {
        device_code: deviceCode,
        user_code: userCode,
        verification_uri: page,
        expires_in: lifetime,
        interval,
      });
    }
    if (form.get('grant_type') === 'refresh_token') {
      const token = form.get('refresh_token') ?? '';
      return refreshing.delete(token) ? say(200, tokens()) : say(400, { error: 'invalid_grant' });
    }
    if (form.get('grant_type') !== grant) return say(400, { error: 'unsupported_grant_type' });
    polls += 1;
    const found = asked.get(form.get('device_code') ?? '');
    if (error !== null) return say(400, { error });
    if (found === undefined) return say(400, { error: 'expired_token' });
    if (found.said === 'yes') return say(200, tokens());
    return say(400, { error: found.said === 'no' ? 'access_denied' : 'authorization_pending' });
  });
  return {
    url: api.url,
    heard: api.heard,
    done,
    decide(userCode, yes) {
      for (const each of asked.values()) if (each.userCode === userCode) each.said = yes ? 'yes' : 'no';
    },
    answer: (next) => void (error = next),
    revoke() {
      valid.clear();
      refreshing.clear();
    },
    polls: () => polls,
    authorizations: () => asked.size,
  };
}
