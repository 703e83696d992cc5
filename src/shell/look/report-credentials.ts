/** The state of each credential, for status. Asks nobody and reveals nothing. */
import type { Shell } from '../shell.ts';

export interface CredentialReport {
  readonly name: string;
  readonly provider: string;
  readonly state: 'ok' | 'failing' | 'not_fetched';
  readonly since: string;
  /** Why its provider failed; null if it did not, or for somebody who may not know. */
  readonly reason: string | null;
  readonly expires_at: string | null;
}

/** In whole seconds. */
const iso = (atMs: number): string => `${new Date(Math.min(atMs, 8.64e15)).toISOString().slice(0, 19)}Z`;

export function reportCredentials({ ports }: Shell, isOperator: boolean): readonly CredentialReport[] {
  return (ports.credentials?.states() ?? []).map(({ name, provider, state, sinceMs, reason, expiresAtMs }) => ({
    name,
    provider,
    state,
    since: iso(sinceMs),
    reason: isOperator ? reason : null,
    expires_at: expiresAtMs === null ? null : iso(expiresAtMs),
  }));
}
