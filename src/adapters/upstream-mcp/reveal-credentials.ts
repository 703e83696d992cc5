/**
 * Reveals secrets for a call or a connection, right before they are written. The only place of this adapter that does.
 * A call has them in headers or in `_meta`; a connection in headers, or in the environment of a program.
 */
import type { JsonObject } from '../../core/values/json.ts';
import type { CredentialHandle } from '../../ports/credentials.ts';

export interface Revealed {
  readonly headers: Readonly<Record<string, string>>;
  readonly meta: JsonObject;
  readonly env: Readonly<Record<string, string>>;
}

/** What a connection needs, or why it cannot be had. */
export type ConnectionSecrets =
  | { readonly ok: true; readonly handles: readonly CredentialHandle[] }
  | { readonly ok: false; readonly lacks: LackingCredential };

export interface LackingCredential {
  readonly provider: string;
  readonly reason: string;
  readonly retryAfterSeconds: number;
}

/** Null if one of them cannot be had now. */
export function revealAll(handles: readonly CredentialHandle[]): Revealed | null {
  const headers: Record<string, string> = {};
  const meta: Record<string, string> = {};
  const env: Record<string, string> = {};
  for (const { inject, reveal } of handles) {
    const value = reveal();
    if (value === null) return null;
    if (inject.into === 'header') headers[inject.name.toLowerCase()] = value;
    if (inject.into === 'meta') meta[inject.name] = value;
    if (inject.into === 'env') env[inject.name] = value;
  }
  return { headers, meta, env };
}
