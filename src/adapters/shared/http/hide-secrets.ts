/** Removes the secrets of an upstream's configuration from texts that come back from it. Pure. */
import { redacted } from '../../../core/policy/redact-paths.ts';

export type HideSecrets = (text: string) => string;

/** Shorter values are no secrets, and would be found in every text. */
const minSecretChars = 8;

export interface SentSecrets {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An upstream may repeat what it was sent: its headers, its login, the query of its address. */
export function secretsOf({ url, headers }: SentSecrets): HideSecrets {
  const { username, password, searchParams } = new URL(url);
  const values = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]);
  const login = [username, password].map(decodeURIComponent);
  const all = [...values, ...login, ...searchParams.values()].filter((value) => value.length >= minSecretChars);
  // A longer one first: it may hold a shorter one.
  const secrets = [...new Set(all)].toSorted((a, b) => b.length - a.length);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, redacted), text);
}
