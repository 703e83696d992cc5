/**
 * Access tokens by OAuth 2.0 device authorization (RFC 8628): a person signs in at the provider, in a browser, with a
 * code. Tokens and the sign-in that waits are kept in a file beside the store, for their owner alone, so that a restart
 * asks nobody again. The token endpoint is polled no more often than it allows, by whoever asks.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import type { DeviceSource } from '../../core/credential/declared-credential.ts';
import type { SignIn } from '../../ports/credentials.ts';
import { failed, lifetimeOf, type Provided, provided, type SecretProvider } from '../../ports/secret-provider.ts';
import type { ProviderAnswer, ProviderClient } from './ask-provider.ts';

export interface DeviceParts {
  readonly client: ProviderClient;
  readonly nowMs: () => number;
  /** Null: nothing is kept beyond this process. */
  readonly file: string | null;
}

interface Token {
  readonly access: string;
  /** Null if the provider does not say. */
  readonly expiresAtMs: number | null;
  readonly refresh: string | null;
}

interface Pending extends SignIn {
  readonly deviceCode: string;
  readonly intervalMs: number;
  readonly nextPollAtMs: number;
}

interface Kept {
  readonly token: Token | null;
  readonly pending: Pending | null;
}

const nothing: Kept = { token: null, pending: null };
/** RFC 8628, sections 3.2 and 3.5. */
const defaultIntervalMs = 5_000;
const slowDownMs = 5_000;
const maxSignInMs = 3_600_000;
/** Nobody is sent a token that ends while the request is on its way. */
const marginMs = 30_000;
const maxTextChars = 2_000;

const nobody = 'nobody has signed in';

export function createDeviceProvider(source: DeviceSource, { client, nowMs, file }: DeviceParts): SecretProvider {
  let kept: Kept = file === null ? nothing : readKept(file);
  /** A token that an upstream refused is not given again. */
  const keep = (next: Kept): void => {
    kept = next;
    if (file !== null) writeKept(file, next);
  };
  const post = (url: string, fields: Readonly<Record<string, string | null>>, signal: AbortSignal) => {
    const form = new URLSearchParams({ client_id: source.clientId });
    if (source.clientSecret !== null) form.set('client_secret', source.clientSecret);
    for (const [name, value] of Object.entries(fields)) if (value !== null) form.set(name, value);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return client.ask({ method: 'POST', url: new URL(url), headers, body: form.toString() }, signal);
  };

  async function refresh(token: string, signal: AbortSignal): Promise<Provided | null> {
    const answer = await post(source.tokenUrl, { grant_type: 'refresh_token', refresh_token: token }, signal);
    if (answer.ok && answer.status === 200) return accept(answer.body, token);
    // The provider does not accept it any more: somebody must sign in again.
    if (answer.ok && answer.status < 500) {
      keep({ ...kept, token: null });
      return null;
    }
    return failed(answer.ok ? `status ${answer.status}` : answer.reason);
  }

  function accept(body: JsonObject, refreshBefore: string | null): Provided {
    const { access_token: access, token_type: type, refresh_token: next } = body;
    if (typeof access !== 'string') return failed('an answer without a token');
    if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') return failed('a token that is no bearer token');
    const lifetimeMs = lifetimeOf(body['expires_in']);
    const refreshToken = typeof next === 'string' && next.length <= maxTextChars ? next : refreshBefore;
    const expiresAtMs = lifetimeMs === null ? null : nowMs() + lifetimeMs;
    keep({ token: { access, expiresAtMs, refresh: refreshToken }, pending: null });
    return provided(access, lifetimeMs);
  }

  async function begin(signal: AbortSignal): Promise<Provided> {
    const answer = await post(source.deviceUrl, { scope: source.scope, audience: source.audience }, signal);
    const pending = pendingIn(answer, nowMs());
    if (pending === null) return failed(answer.ok ? `status ${answer.status}` : answer.reason);
    keep({ ...kept, pending });
    return failed(nobody);
  }

  /** INVARIANT: the token endpoint is asked no more often than it said. */
  async function poll(signal: AbortSignal): Promise<Provided | null> {
    const { pending } = kept;
    if (pending === null || nowMs() < pending.nextPollAtMs) return null;
    if (nowMs() >= pending.expiresAtMs) return over(null);
    keep({ ...kept, pending: { ...pending, nextPollAtMs: nowMs() + pending.intervalMs } });
    const grant = 'urn:ietf:params:oauth:grant-type:device_code';
    const answer = await post(source.tokenUrl, { grant_type: grant, device_code: pending.deviceCode }, signal);
    if (!answer.ok) return null;
    if (answer.status === 200) return accept(answer.body, null);
    switch (answer.body['error']) {
      case 'authorization_pending':
        return null;
      case 'slow_down': {
        const intervalMs = pending.intervalMs + slowDownMs;
        keep({ ...kept, pending: { ...pending, intervalMs, nextPollAtMs: nowMs() + intervalMs } });
        return null;
      }
      case 'access_denied':
        return over('whoever was asked to sign in said no');
      case 'expired_token':
        return over(null);
      default:
        return answer.status < 500 ? over(`the sign-in failed with status ${answer.status}`) : null;
    }
  }

  function over(why: string | null): Provided | null {
    keep({ ...kept, pending: null });
    return why === null ? null : failed(why);
  }

  return {
    name: 'device',
    usualAgeMs: 300_000,
    async fetch(signal) {
      const { token } = kept;
      if (token !== null) {
        const leftMs = token.expiresAtMs === null ? null : token.expiresAtMs - nowMs();
        if (leftMs === null || leftMs > marginMs) return provided(token.access, leftMs);
        const renewed = token.refresh === null ? null : await refresh(token.refresh, signal);
        if (renewed !== null) return renewed;
        keep({ ...kept, token: null });
      }
      const signedIn = await poll(signal);
      if (signedIn !== null) return signedIn;
      if (kept.pending !== null && nowMs() < kept.pending.expiresAtMs) return failed(nobody);
      return begin(signal);
    },
    poll,
    signIn: () => (kept.pending === null || nowMs() >= kept.pending.expiresAtMs ? null : shown(kept.pending)),
    // Only what was refused: the right to get another one may still stand.
    refuse: () => {
      const { token } = kept;
      if (token !== null) keep({ ...kept, token: token.refresh === null ? null : { ...token, expiresAtMs: 0 } });
    },
  };
}

const shown = ({ interactionId, verificationUri, userCode, expiresAtMs }: Pending): SignIn => ({
  interactionId,
  verificationUri,
  userCode,
  expiresAtMs,
});

function pendingIn(answer: ProviderAnswer, nowMs: number): Pending | null {
  if (!answer.ok || answer.status !== 200) return null;
  const { device_code: deviceCode, user_code: userCode, interval } = answer.body;
  const uri = answer.body['verification_uri_complete'] ?? answer.body['verification_uri'];
  const texts = [deviceCode, userCode, uri];
  if (!texts.every((text) => typeof text === 'string' && text !== '' && text.length <= maxTextChars)) return null;
  // Shown to people as a link: nothing but a page.
  if (!/^https?:$/.test(URL.parse(String(uri))?.protocol ?? '')) return null;
  const intervalMs =
    typeof interval === 'number' && interval > 0 ? Math.min(interval, 3_600) * 1_000 : defaultIntervalMs;
  const lifetimeMs = Math.min(lifetimeOf(answer.body['expires_in']) ?? maxSignInMs, maxSignInMs);
  return {
    interactionId: `int_${randomUUID()}`,
    verificationUri: String(uri),
    userCode: String(userCode),
    expiresAtMs: nowMs + lifetimeMs,
    deviceCode: String(deviceCode),
    intervalMs,
    nextPollAtMs: nowMs + intervalMs,
  };
}

/** A file that cannot be read is as good as none: somebody signs in again. */
function readKept(file: string): Kept {
  try {
    const read: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isObject(read) && 'token' in read && 'pending' in read ? (read as unknown as Kept) : nothing;
  } catch {
    return nothing;
  }
}

function writeKept(file: string, kept: Kept): void {
  const next = `${file}.${process.pid}.new`;
  writeFileSync(next, JSON.stringify(kept), { mode: 0o600 });
  renameSync(next, file);
}
