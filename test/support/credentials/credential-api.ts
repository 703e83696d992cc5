/** An HTTP API that demands a secret, counts what it does, and repeats whatever it was sent. */
import type { TestContext } from 'node:test';
import { type Api, type Heard, listenApi } from '../http/api.ts';

export interface CredentialApi extends Api {
  /** Only this is accepted from now on. */
  demand(secret: string): void;
  /** Answers so many accepted requests with this. */
  failNext(count: number, status?: number, headers?: Readonly<Record<string, string>>): void;
  /** Requests that were carried out. */
  done(): number;
}

export async function listenCredentialApi(t: Pick<TestContext, 'after'>, secretOf: (heard: Heard) => string | null) {
  let demanded = '';
  let failing: { count: number; status: number; headers: Readonly<Record<string, string>> } | null = null;
  let done = 0;
  const api = await listenApi(t, (request, response) => {
    const given = secretOf(request);
    const say = (status: number, body: object, more: Readonly<Record<string, string>> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', 'x-echo': String(given), ...more });
      response.end(JSON.stringify(body));
    };
    const login = Buffer.from(`user:${given}`).toString('base64');
    const echo = { given, url: request.url, login, headers: request.headers };
    if (given !== demanded) return say(401, { message: `not ${given}`, detail: `${request.url} ${login}`, echo });
    if (failing !== null && failing.count-- > 0)
      return say(failing.status, { message: `busy with ${given}` }, failing.headers);
    done++;
    return say(200, { done, echo });
  });
  const more: CredentialApi = {
    ...api,
    demand: (secret) => void (demanded = secret),
    failNext: (count, status = 503, headers = {}) => void (failing = { count, status, headers }),
    done: () => done,
  };
  return more;
}

export const bearerOf = ({ headers }: Heard): string | null => headers.authorization?.replace(/^Bearer /, '') ?? null;
export const queryOf =
  (name: string) =>
  ({ url }: Heard): string | null =>
    new URL(url, 'http://x').searchParams.get(name);
