/**
 * One credential over time: its secret is kept as long as it lasts, asked for once at a time, and renewed before it
 * ends. A failure counts for `retry_after`, so that a provider that is down is not asked by every call.
 */
import crypto from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { CredentialAnswer, CredentialState, SignIn } from '../../ports/credentials.ts';
import type { DeclaredCredential } from '../../core/credential/declared-credential.ts';
import type { Provided, SecretProvider, ProvidedSecret } from '../../ports/secret-provider.ts';

export interface CredentialCache {
  fetch(): Promise<CredentialAnswer>;
  refresh(refusedId: string): Promise<CredentialAnswer>;
  known(): CredentialAnswer | null;
  signIn(): SignIn | null;
  hasSignedIn(): Promise<boolean>;
  askSignIn(): Promise<boolean>;
  /** What is sent now, with its id; null if there is no secret. */
  current(): { readonly id: string; readonly value: string } | null;
  state(): CredentialState;
  close(): void;
}

interface Held {
  readonly id: string;
  readonly provided: ProvidedSecret;
  /** Null if it has no lifetime. */
  readonly expiresAtMs: number | null;
  /** When it is asked for again. */
  readonly freshUntilMs: number;
}

interface Failure {
  readonly reason: string;
  readonly untilMs: number;
}

export interface CacheParts {
  readonly provider: SecretProvider;
  readonly clock: Clock;
  /** Hears every secret before anything else is done with it. */
  readonly onSecret: (secret: string) => void;
}

/** INVARIANT: of a process, and never written: an id tells two secrets apart and cannot be tried against guesses. */
const idKey = crypto.randomBytes(32);
const idOf = (name: string, secret: string): string =>
  `crd_${crypto.createHmac('sha256', idKey).update(`${name}\0${secret}`).digest('hex').slice(0, 20)}`;

/** A secret is not used in the last tenth of its lifetime, nor in its last 30 seconds, whichever is less. */
const marginOf = (lifetimeMs: number): number => Math.min(30_000, lifetimeMs / 10);

export function createCredentialCache(config: DeclaredCredential, parts: CacheParts): CredentialCache {
  const { provider, clock, onSecret } = parts;
  const { name, template, timeoutMs, retryAfterMs } = config;
  const isClosed = new AbortController();
  const waiting = { clock, timeoutMs, isClosed };
  let held: Held | null = null;
  let failure: Failure | null = null;
  let flight: Promise<void> | null = null;
  let sinceMs = clock.nowMs();
  /** A secret that was refused, and that its provider still gives: until when it is not asked about that. */
  let refused: { readonly id: string; readonly untilMs: number } | null = null;

  const now = () => clock.nowMs();
  const isUsable = ({ expiresAtMs }: Held) => expiresAtMs === null || now() < expiresAtMs;
  const isFresh = (each: Held) => isUsable(each) && now() < each.freshUntilMs;

  function answer(): CredentialAnswer {
    // A provider that cannot renew a secret does not take it away before its time.
    if (held !== null && isUsable(held))
      return { ok: true, provider: provider.name, id: held.id, expiresAtMs: held.expiresAtMs };
    const { reason, untilMs } = failure ?? { reason: 'it gave no secret', untilMs: now() + retryAfterMs };
    const retryAfterSeconds = Math.max(1, Math.ceil((untilMs - now()) / 1_000));
    const signIn = provider.signIn?.() ?? null;
    const asked = signIn === null ? {} : { signIn };
    return { ok: false, provider: provider.name, reason, retryAfterSeconds, ...asked };
  }

  async function fetch(): Promise<CredentialAnswer> {
    if (held !== null && isFresh(held)) return answer();
    if (failure !== null && now() < failure.untilMs) return answer();
    await ask(held !== null && isUsable(held) ? held.provided.renew : undefined);
    return answer();
  }

  async function refresh(refusedId: string): Promise<CredentialAnswer> {
    const isKnownBad = refused?.id === refusedId && now() < refused.untilMs;
    // Somebody else has refreshed it, or it was found that there is no other.
    if (isKnownBad || (held !== null && held.id !== refusedId && isFresh(held))) return answer();
    if (failure !== null && now() < failure.untilMs) return answer();
    provider.refuse?.();
    await ask(undefined);
    if (held?.id === refusedId) refusedAgain(refusedId);
    return answer();
  }

  function refusedAgain(id: string): void {
    // A provider that drops what was refused has nothing to give now.
    if (provider.refuse !== undefined && failure !== null) held = null;
    else refused = { id, untilMs: now() + retryAfterMs };
  }

  /** INVARIANT: one question at a time; whoever comes meanwhile waits for its answer. */
  function ask(renew: ProvidedSecret['renew']): Promise<void> {
    flight ??= askOnce(renew).finally(() => (flight = null));
    return flight;
  }

  async function askOnce(renew: ProvidedSecret['renew']): Promise<void> {
    const before = stateName();
    const renewed = renew === undefined ? null : await within(renew, waiting);
    // A lease that cannot be renewed any more is replaced by another secret.
    const given = renewed?.ok === true ? renewed : await within((signal) => provider.fetch(signal), waiting);
    keep(given);
    if (stateName() !== before) sinceMs = now();
  }

  function keep(given: Provided): void {
    if (!given.ok) {
      failure = { reason: given.reason, untilMs: now() + Math.max(retryAfterMs, given.retryAfterMs ?? 0) };
      return;
    }
    onSecret(given.secret);
    failure = null;
    const { lifetimeMs } = given;
    const ageMs = config.maxAgeMs ?? provider.usualAgeMs;
    const ownMs = lifetimeMs === null ? Number.POSITIVE_INFINITY : lifetimeMs - marginOf(lifetimeMs);
    const freshMs = lifetimeMs === null || config.maxAgeMs !== null ? Math.min(ownMs, ageMs ?? ownMs) : ownMs;
    held = {
      id: idOf(name, given.secret),
      provided: given,
      expiresAtMs: lifetimeMs === null ? null : now() + lifetimeMs,
      freshUntilMs: now() + freshMs,
    };
  }

  function stateName(): CredentialState['state'] {
    if (failure !== null) return 'failing';
    return held === null ? 'not_fetched' : 'ok';
  }

  return {
    fetch,
    refresh,
    ...signingIn(provider, waiting, { isHeld: () => held !== null && isUsable(held), keep, ask }),
    known: () => (held === null && failure === null ? null : held !== null && isUsable(held) ? answer() : lapsed()),
    current: () =>
      held === null ? null : { id: held.id, value: template.replaceAll('{secret}', () => secretOf(held)) },
    state: () => ({
      name,
      provider: provider.name,
      state: stateName(),
      sinceMs,
      reason: failure?.reason ?? null,
      expiresAtMs: held?.expiresAtMs ?? null,
    }),
    close: () => isClosed.abort(),
  };

  /** What would be asked for anew counts as unknown. */
  function lapsed(): CredentialAnswer | null {
    return failure !== null && now() < failure.untilMs ? answer() : null;
  }
}

const secretOf = (held: Held | null): string => held?.provided.secret ?? '';

interface Waiting {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly isClosed: AbortController;
}

type Ask = (signal: AbortSignal) => Promise<Provided>;

/** Never rejects, and waits no longer than its time. */
async function within(act: Ask, { clock, timeoutMs, isClosed }: Waiting): Promise<Provided> {
  const stop = new AbortController();
  const late = Promise.withResolvers<Provided>();
  const giveUp = () => late.resolve({ ok: false, reason: `no answer within ${timeoutMs / 1_000} s` });
  const takeBack = clock.background(timeoutMs, giveUp);
  isClosed.signal.addEventListener('abort', giveUp);
  try {
    return await Promise.race([act(stop.signal), late.promise]);
  } catch {
    // Ignored: what a provider threw may hold the secret.
    return { ok: false, reason: 'it failed' };
  } finally {
    takeBack();
    isClosed.signal.removeEventListener('abort', giveUp);
    stop.abort();
  }
}

const newsFrom =
  ({ poll }: SecretProvider): Ask =>
  async (signal) =>
    (await poll?.(signal)) ?? { ok: false, reason: 'nobody has signed in' };

interface CacheActs {
  readonly isHeld: () => boolean;
  readonly keep: (given: Provided) => void;
  readonly ask: (renew: undefined) => Promise<void>;
}

/** What a cache does for a provider for which people sign in. */
const signingIn = (provider: SecretProvider, waiting: Waiting, { isHeld, keep, ask }: CacheActs) => ({
  signIn: () => provider.signIn?.() ?? null,
  async hasSignedIn(): Promise<boolean> {
    if (provider.poll === undefined || isHeld()) return provider.poll !== undefined;
    const given = await within(newsFrom(provider), waiting);
    if (given.ok) keep(given);
    return given.ok;
  },
  async askSignIn(): Promise<boolean> {
    const { signIn } = provider;
    if (signIn === undefined) return false;
    if (signIn() === null && !isHeld()) await ask(undefined);
    return true;
  },
});
