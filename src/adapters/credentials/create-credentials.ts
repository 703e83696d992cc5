/**
 * All credentials of a gateway; implements the port `Credentials`. Makes the provider of each, and tells who hides
 * secrets of every one that there ever was.
 */
import { unreachable } from '../../core/values/unreachable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CredentialHandle, Credentials } from '../../ports/credentials.ts';
import { createProviderClient, type ProviderClient } from './ask-provider.ts';
import {
  configuredSecrets,
  type DeclaredCredential,
  type VaultSource,
} from '../../core/credential/declared-credential.ts';
import type { JsonObject } from '../../core/values/json.ts';
import { createCredentialCache, type CredentialCache } from './credential-cache.ts';
import { type Environment, createEnvProvider, createExecProvider, createFileProvider } from './local-providers.ts';
import { createDeviceProvider } from './device-provider.ts';
import { createOAuthProvider } from './oauth-provider.ts';
import type { SecretProvider } from '../../ports/secret-provider.ts';

export interface CredentialParts {
  readonly clock: Clock;
  readonly env: Environment;
  /** Hears each secret before it is used, those of the configuration included. */
  readonly onSecret: (secret: string) => void;
  /** Makes the provider of a kind that an extension adds; Vault is one. */
  readonly providerOf: (kind: string, settings: JsonObject) => SecretProvider;
  /** Where what people signed in for is kept: the beginning of the names of its files. Absent: in memory alone. */
  readonly keptAt?: string | undefined;
}

export function createCredentials(configs: readonly DeclaredCredential[], parts: CredentialParts): Credentials {
  const client = createProviderClient();
  const caches = new Map<string, { readonly config: DeclaredCredential; readonly cache: CredentialCache }>();
  for (const config of configs) {
    for (const secret of configuredSecrets(config)) parts.onSecret(secret);
    const provider = createProvider(config, client, parts);
    caches.set(config.name, { config, cache: createCredentialCache(config, { ...parts, provider }) });
  }

  function find(name: string): { readonly config: DeclaredCredential; readonly cache: CredentialCache } {
    const found = caches.get(name);
    if (found === undefined) throw new Error(`bug: no credential is called '${name}'`);
    return found;
  }

  return {
    fetch: (name) => find(name).cache.fetch(),
    refresh: (name, refusedId) => find(name).cache.refresh(refusedId),
    known: (name) => find(name).cache.known(),
    handle: (name) => handleOf(find(name)),
    signIn: (name) => find(name).cache.signIn(),
    hasSignedIn: (name) => find(name).cache.hasSignedIn(),
    askSignIn: (name) => find(name).cache.askSignIn(),
    states: () => [...caches.values()].map(({ cache }) => cache.state()),
    close() {
      for (const { cache } of caches.values()) cache.close();
      client.close();
    },
  };
}

function handleOf({
  config: { name, inject },
  cache,
}: {
  readonly config: DeclaredCredential;
  readonly cache: CredentialCache;
}): CredentialHandle {
  let used: string | null = null;
  return {
    name,
    inject,
    reveal() {
      const now = cache.current();
      used = now?.id ?? null;
      return now?.value ?? null;
    },
    usedId: () => used,
  };
}

export function createProvider(
  { name, source }: DeclaredCredential,
  client: ProviderClient,
  { env, providerOf, clock, keptAt }: Pick<CredentialParts, 'env' | 'providerOf' | 'clock' | 'keptAt'>,
): SecretProvider {
  switch (source.provider) {
    case 'env':
      return createEnvProvider(source, env);
    case 'file':
      return createFileProvider(source);
    case 'exec':
      return createExecProvider(source, env);
    case 'vault':
      return providerOf('vault', vaultSettings(source));
    case 'oauth':
      return createOAuthProvider(source, client);
    case 'device': {
      const file = keptAt === undefined ? null : `${keptAt}${encodeURIComponent(name)}.json`;
      return createDeviceProvider(source, { client, nowMs: () => clock.nowMs(), file });
    }
    case 'extension':
      return providerOf(source.kind, source.settings);
    default:
      return unreachable(source);
  }
}

/** As its extension takes them. */
function vaultSettings({ address, path, field, namespace, auth }: VaultSource): JsonObject {
  const login = auth.kind === 'token' ? { token: auth.token } : { role_id: auth.roleId, secret_id: auth.secretId };
  return { address, path, field, ...(namespace === null ? {} : { namespace }), ...login };
}
