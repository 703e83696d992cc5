/**
 * Authenticates requests by the Authorization header, never by address, with the keys beside the store. An invalid key
 * is never treated as no key. Must not log, keep or repeat what was sent.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isKeyText } from '../../adapters/keyring-sqlite/key-text.ts';
import type { Identity } from '../../core/call/identity.ts';
import type { Keyring } from '../../ports/keyring.ts';
import { KeyringError } from '../../adapters/keyring-sqlite/keyring-error.ts';
import type { SqliteKeyring } from '../../adapters/keyring-sqlite/sqlite-keyring.ts';
import type { Principal } from '../../core/call/call.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { ConsoleSessions } from '../../doors/http/console/console-sessions.ts';
import type { Stranger } from '../../doors/mcp/http/http-exchange.ts';
import { createConsoleSessions } from '../console/console-sessions.ts';
import { openKeysOf } from './key-files.ts';
import { ensureOperatorToken, type OperatorToken } from './operator-token.ts';

/** `unavailable`: the keys cannot be read now. The others are errors of the sender. */
export type AuthenticationProblem = 'missing' | 'malformed' | 'unknown' | 'unavailable';

/** `apiKey`: the header `x-api-key` counts like a bearer key, as clients of models send it. */
export type Authenticate = (
  headers: IncomingHttpHeaders,
  apiKey?: boolean,
) => Promise<Identity | { readonly problem: AuthenticationProblem }>;

export interface AuthenticatorParts {
  readonly keyring: Pick<Keyring, 'find'>;
  readonly nowMs: () => number;
  /** The agent of requests without a key; null refuses them. */
  readonly openAs: { readonly tenant: string; readonly agent: string } | null;
  /** Called with the reason when keys cannot be read. For the operator, never for the sender. */
  readonly onUnavailable?: (message: string) => void;
}

/** The scheme in upper or lower case, then one key and nothing else. */
const bearer = /^bearer +(\S{1,128})$/i;

const keyBehindScheme = (authorization: unknown): string | undefined =>
  typeof authorization === 'string' ? bearer.exec(authorization)?.[1] : undefined;

export function createAuthenticator({ keyring, nowMs, openAs, onUnavailable }: AuthenticatorParts): Authenticate {
  const visitor: Identity | null =
    openAs === null ? null : { tenant: openAs.tenant, role: 'agent', name: openAs.agent, keyId: null };
  return async ({ authorization, 'x-api-key': apiKey }, usesApiKey = false) => {
    const sent = [
      ...(authorization === undefined ? [] : [keyBehindScheme(authorization)]),
      ...(apiKey === undefined || !usesApiKey ? [] : [apiKey]),
    ];
    // INVARIANT: a request with the header is decided by the header, even if it is empty.
    if (sent.length === 0) return visitor ?? { problem: 'missing' };
    const [key] = sent;
    // INVARIANT: two keys are one, or nobody is let in.
    if (typeof key !== 'string' || !isKeyText(key) || sent.some((each) => each !== key))
      return { problem: 'malformed' };
    try {
      return (await keyring.find(key, nowMs())) ?? { problem: 'unknown' };
    } catch (error) {
      if (!(error instanceof KeyringError)) throw error;
      onUnavailable?.(error.message);
      return { problem: 'unavailable' };
    }
  };
}

export interface OpenIdentity {
  readonly authenticate: Authenticate;
  /** For doors that only agents use. */
  readonly agentOf: (request: IncomingMessage) => Promise<Principal | Stranger>;
  readonly operator: OperatorToken;
  readonly console: ConsoleSessions;
  close(): Promise<void>;
}

export interface IdentityOrder {
  readonly store: string;
  readonly openAs: Principal | null;
  readonly onTrouble: (problem: string) => void;
}

export async function openIdentity({ store, openAs, onTrouble }: IdentityOrder): Promise<OpenIdentity> {
  const opened = await openKeysOf(store, { onSuppressed: onTrouble });
  if (opened.kind === 'refused') throw new GatewayError('not_writable', opened.message);
  const { keyring } = opened;
  const nowMs = () => Date.now();
  const operator = await tokenOf(store, keyring, nowMs);
  const authenticate = createAuthenticator({ keyring, nowMs, openAs, onUnavailable: onTrouble });
  return {
    authenticate,
    async agentOf({ headers }) {
      const found = await authenticate(headers);
      if ('problem' in found) return found;
      return found.role === 'agent' ? { tenant: found.tenant, agent: found.name } : { problem: 'no_agent' };
    },
    operator,
    console: createConsoleSessions({ keyring, nowMs }),
    close: () => keyring.close(),
  };
}

async function tokenOf(store: string, keyring: SqliteKeyring, nowMs: () => number): Promise<OperatorToken> {
  try {
    return await ensureOperatorToken({ store, keyring, nowMs });
  } catch (error) {
    await keyring.close();
    if (!(error instanceof KeyringError)) throw error;
    throw new GatewayError('not_writable', error.message);
  }
}
