/**
 * Secrets of HashiCorp Vault and OpenBao over their HTTP API: KV v2, and dynamic secrets with leases, which are renewed.
 * Logs in by a token or by AppRole. What Vault says about an error is never repeated: its status decides the reason.
 */
import { isObject, type JsonObject } from '../../core/values/json.ts';
import type { ProviderAnswer, ProviderClient } from './ask-provider.ts';
import type { VaultSource } from '../../core/credential/declared-credential.ts';
import { failed, lifetimeOf, type Provided, type Provider, provided } from './provider.ts';

type Login = { readonly ok: true; readonly token: string } | Extract<Provided, { ok: false }>;

export function createVaultProvider(source: VaultSource, client: ProviderClient, nowMs: () => number): Provider {
  const { address, path, field, namespace, auth } = source;
  let session: { readonly token: string; readonly untilMs: number } | null = null;

  const ask = (method: 'GET' | 'POST' | 'PUT', to: string, token: string | null, signal: AbortSignal, body?: object) =>
    client.ask(
      {
        method,
        url: urlOf(address, to),
        headers: {
          'x-vault-request': 'true',
          ...(token === null ? {} : { 'x-vault-token': token }),
          ...(namespace === null ? {} : { 'x-vault-namespace': namespace }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      signal,
    );

  async function login(signal: AbortSignal): Promise<Login> {
    if (auth.kind === 'token') return { ok: true, token: auth.token };
    if (session !== null && nowMs() < session.untilMs) return { ok: true, token: session.token };
    const body = { role_id: auth.roleId, secret_id: auth.secretId };
    const answer = await ask('POST', 'auth/approle/login', null, signal, body);
    const given = answer.ok && answer.status === 200 ? answer.body['auth'] : undefined;
    const { client_token: token, lease_duration: seconds } = isObject(given) ? given : {};
    if (typeof token !== 'string') return refusalOf(answer, 'login: ');
    // A token without a lifetime is used until it is refused.
    const lifetimeMs = lifetimeOf(seconds) ?? 3_600_000;
    session = { token, untilMs: nowMs() + lifetimeMs * 0.9 };
    return { ok: true, token };
  }

  /** A token that AppRole gave may have been revoked: then there is one more login. */
  async function read(signal: AbortSignal, isAgain = false): Promise<Provided> {
    const logged = await login(signal);
    if (!logged.ok) return logged;
    const answer = await ask('GET', path, logged.token, signal);
    if (answer.ok && answer.status === 403 && auth.kind === 'approle' && !isAgain) {
      session = null;
      return read(signal, true);
    }
    if (!answer.ok || answer.status !== 200) return refusalOf(answer);
    return secretIn(answer.body);
  }

  function secretIn(body: JsonObject): Provided {
    const value = dataIn(body)[field];
    if (typeof value !== 'string') return failed(`no field '${field}'`);
    const { lease_id: lease, lease_duration: seconds, renewable } = body;
    const isLeased = typeof lease === 'string' && lease !== '';
    const renew =
      isLeased && renewable === true ? (signal: AbortSignal) => renewLease(lease, value, signal) : undefined;
    // Without a lease, as in KV v1, the seconds are a hint: nobody takes the secret back, and it may change before.
    return provided(value, isLeased ? lifetimeOf(seconds) : null, renew);
  }

  async function renewLease(lease: string, secret: string, signal: AbortSignal): Promise<Provided> {
    const logged = await login(signal);
    if (!logged.ok) return logged;
    const answer = await ask('PUT', 'sys/leases/renew', logged.token, signal, { lease_id: lease });
    if (!answer.ok || answer.status !== 200) return refusalOf(answer);
    const { lease_duration: seconds, renewable } = answer.body;
    const renew = renewable === true ? (again: AbortSignal) => renewLease(lease, secret, again) : undefined;
    return provided(secret, lifetimeOf(seconds), renew);
  }

  // KV has no lifetimes; Vault's own agent reads static secrets again every five minutes.
  return { name: 'vault', usualAgeMs: 300_000, fetch: (signal) => read(signal) };
}

function urlOf(address: string, path: string): URL {
  const url = new URL(address);
  const steps = path.replace(/^\/?(?:v1\/)?/, '').split('/');
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/${steps.map(encodeURIComponent).join('/')}`;
  return url;
}

/** KV v2 has the fields under `data.data`, with `metadata` beside them; everything else under `data`. */
function dataIn({ data }: JsonObject): JsonObject {
  const outer = isObject(data) ? (data as JsonObject) : {};
  const isVersioned = isObject(outer['data']) && isObject(outer['metadata']);
  return isVersioned ? (outer['data'] as JsonObject) : outer;
}

const words: Readonly<Record<number, string>> = {
  400: 'bad request',
  403: 'permission denied',
  404: 'no such secret',
  429: 'rate limited',
  472: 'it is a recovery node',
  473: 'it is a standby node',
  500: 'internal error',
  502: 'a third party failed',
  503: 'sealed or in maintenance',
};

function refusalOf(answer: ProviderAnswer, before = ''): Extract<Provided, { ok: false }> {
  if (!answer.ok) return { ok: false, reason: `${before}${answer.reason}` };
  const { status, retryAfterMs } = answer;
  const reason = `${before}${status === 200 ? 'an answer that cannot be read' : (words[status] ?? `status ${status}`)}`;
  return { ok: false, reason, ...(retryAfterMs === null ? {} : { retryAfterMs }) };
}
