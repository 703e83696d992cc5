/** A source of secrets, and the words in which its failures are told. */
import { cut } from '../core/values/canonical.ts';
import type { SignIn } from './credentials.ts';

/** A secret, as its provider gave it. */
export interface ProvidedSecret {
  readonly secret: string;
  /** How long it is valid; null if its provider does not say. */
  readonly lifetimeMs: number | null;
  /** Makes the same secret last longer; absent if that cannot be done. */
  readonly renew?: (signal: AbortSignal) => Promise<Provided>;
}

export type Provided =
  | ({ readonly ok: true } & ProvidedSecret)
  | { readonly ok: false; readonly reason: string; readonly retryAfterMs?: number };

export interface SecretProvider {
  readonly name: string;
  /** How long a secret without a lifetime is used before it is asked for again; null: as long as it is accepted. */
  readonly usualAgeMs: number | null;
  /** Never rejects. Whoever aborts the signal does not wait. */
  fetch(signal: AbortSignal): Promise<Provided>;
  /** Looks whether a person has signed in; null if there is no news. Absent where nobody signs in. */
  poll?(signal: AbortSignal): Promise<Provided | null>;
  /** The sign-in that waits for a person; null if none does. */
  signIn?(): SignIn | null;
  /** What was given last was refused: something else is given from here on. */
  refuse?(): void;
}

export const maxSecretBytes = 64 << 10;
/** INVARIANT: a shorter one could not be found, and hidden, in what a tool answers. */
export const minSecretChars = 8;

export const failed = (reason: string, retryAfterMs?: number): Provided => ({
  ok: false,
  reason: cut(reason, 200),
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

/** One line that can be sent as a header. */
export function provided(secret: string, lifetimeMs: number | null, renew?: ProvidedSecret['renew']): Provided {
  // Whoever gets it in a header drops the white space around it.
  const { length } = secret.trim();
  if (length === 0) return failed('an empty secret');
  if (length < minSecretChars) return failed(`a secret of less than ${minSecretChars} characters`);
  if (Buffer.byteLength(secret) > maxSecretBytes) return failed('a secret that is too long');
  if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(secret))
    return failed('a secret that is not one line of plain characters');
  return { ok: true, secret, lifetimeMs, ...(renew === undefined ? {} : { renew }) };
}

/** Longer than a year is no lifetime that anybody waits for. */
const maxLifetimeSeconds = 366 * 86_400;

/** A number of seconds above 0, or a text of one; null for everything else. */
export function lifetimeOf(seconds: unknown): number | null {
  const value = typeof seconds === 'string' && /^\d{1,12}$/.test(seconds) ? Number(seconds) : seconds;
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) return null;
  return Math.min(value, maxLifetimeSeconds) * 1_000;
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  EPIPE: 'connection closed',
  ENOTFOUND: 'host not found',
  EAI_AGAIN: 'host not found',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'no answer in time',
  ENOENT: 'not found',
  EACCES: 'no permission',
  EPERM: 'no permission',
  EISDIR: 'not a file',
  ABORT_ERR: 'no answer in time',
};

/** INVARIANT: the code of an error decides the words; its message may name an address or a secret. */
export function reasonOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === 'string' && Object.hasOwn(words, code)) return words[code] ?? '';
  if (typeof code === 'string' && /CERT|TLS|SSL/.test(code)) return 'certificate not accepted';
  return cause === undefined ? 'it cannot be reached' : reasonOf(cause);
}
