/** Who may come in? Opens the keys beside the store, and makes the operator's at the first start. */
import type { IncomingMessage } from 'node:http';
import { KeyringError } from '../../adapters/keyring-sqlite/keyring-error.ts';
import type { SqliteKeyring } from '../../adapters/keyring-sqlite/sqlite-keyring.ts';
import type { Principal } from '../../core/call/call.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import type { Stranger } from '../../doors/mcp/http/http-exchange.ts';
import { type Authenticate, createAuthenticator } from './authenticate.ts';
import { openKeysBeside } from './keys-beside.ts';
import { ensureOperatorToken, type OperatorToken } from './operator-token.ts';

export interface OpenIdentity {
  readonly authenticate: Authenticate;
  /** For doors that only agents use. */
  readonly agentOf: (request: IncomingMessage) => Promise<Principal | Stranger>;
  readonly operator: OperatorToken;
  close(): Promise<void>;
}

export interface IdentityOrder {
  readonly store: string;
  readonly openAs: Principal | null;
  readonly onTrouble: (problem: string) => void;
}

export async function openIdentity({ store, openAs, onTrouble }: IdentityOrder): Promise<OpenIdentity> {
  const opened = await openKeysBeside(store, { onSuppressed: onTrouble });
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
