/** What is declared about one credential: where its secret comes from, which tools get it, and where it goes. Pure. */
import type { CredentialUse } from '../call/catalogue.ts';
import type { JsonObject } from '../values/json.ts';
import { compileToolPattern, matchesTool } from '../policy/tool-pattern.ts';

/** Where a secret goes. */
export interface Injection {
  /** `meta`: the `_meta` of a call over MCP. `env`: the environment of a server that is started. */
  readonly into: 'header' | 'query' | 'meta' | 'env';
  readonly name: string;
}

export interface DeclaredCredential {
  readonly name: string;
  readonly source: CredentialSource;
  /** Patterns of the tools that get it. */
  readonly match: readonly string[];
  /** Only for calls of these agents; null for all. */
  readonly agents: readonly string[] | null;
  readonly inject: Injection;
  /** What is sent; `{secret}` in it stands for the secret. */
  readonly template: string;
  readonly timeoutMs: number;
  /** How long a failure counts before the provider is asked again. */
  readonly retryAfterMs: number;
  /** How long a secret without a lifetime of its own is used; null: as its provider's default says. */
  readonly maxAgeMs: number | null;
}

export type CredentialSource =
  | EnvSource
  | FileSource
  | ExecSource
  | VaultSource
  | OAuthSource
  | DeviceSource
  | ExtensionSource;

export interface EnvSource {
  readonly provider: 'env';
  readonly variable: string;
}

export interface FileSource {
  readonly provider: 'file';
  readonly path: string;
}

export interface ExecSource {
  readonly provider: 'exec';
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | null;
}

export interface VaultSource {
  readonly provider: 'vault';
  readonly address: string;
  /** Below /v1/: `secret/data/stripe`, `database/creds/reader`. */
  readonly path: string;
  readonly field: string;
  readonly namespace: string | null;
  readonly auth: VaultAuth;
}

export type VaultAuth =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'approle'; readonly roleId: string; readonly secretId: string };

/** A kind that an extension adds, and its settings. */
export interface ExtensionSource {
  readonly provider: 'extension';
  readonly kind: string;
  readonly settings: JsonObject;
}

export interface OAuthSource {
  readonly provider: 'oauth';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
  readonly audience: string | null;
  /** How the client proves who it is: RFC 6749, section 2.3.1. */
  readonly clientAuth: 'basic' | 'post';
}

/** A person signs in, with a code: RFC 8628. */
export interface DeviceSource {
  readonly provider: 'device';
  readonly deviceUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** Null for a public client. */
  readonly clientSecret: string | null;
  readonly scope: string | null;
  readonly audience: string | null;
}

export const defaultTimeoutMs = 5_000;
export const defaultRetryAfterMs = 30_000;
export const secretMark = '{secret}';

/** The bare secret, unless a header says otherwise. */
export const defaultTemplate = (into: Injection['into'], name: string): string =>
  into === 'header' && name.toLowerCase() === 'authorization' ? `Bearer ${secretMark}` : secretMark;

/** Secrets of the configuration itself, to be hidden like those that are fetched. */
export function configuredSecrets({ source }: DeclaredCredential): readonly string[] {
  if (source.provider === 'oauth') return [source.clientSecret];
  if (source.provider === 'device') return source.clientSecret === null ? [] : [source.clientSecret];
  if (source.provider !== 'vault') return [];
  return source.auth.kind === 'token' ? [source.auth.token] : [source.auth.secretId];
}

export function isFor({ match }: Pick<DeclaredCredential, 'match'>, tool: string): boolean {
  return match.some((text) => {
    const compiled = compileToolPattern(text);
    return compiled.ok && matchesTool(compiled.pattern, tool);
  });
}

/** What the catalogue says of a tool; in the order of the file. */
export function credentialUses(all: readonly DeclaredCredential[], tool: string): readonly CredentialUse[] {
  return all
    .filter((each) => isFor(each, tool))
    .map(({ name, agents, inject }) => ({ name, agents, place: `${inject.into} ${inject.name.toLowerCase()}` }));
}

/**
 * What the connection to a server needs: the environment of a program, and headers for every agent. `isProgram`: it is
 * started, not found at an address.
 */
export function connectionCredentials(
  all: readonly DeclaredCredential[],
  server: string,
  isProgram: boolean,
): readonly DeclaredCredential[] {
  const into = isProgram ? 'env' : 'header';
  return all.filter(
    ({ inject, agents, match }) =>
      inject.into === into && (isProgram || agents === null) && match.some((text) => mayMatchServer(text, server)),
  );
}

/** A program has one environment for all its tools, so one pattern for any of them is enough. */
function mayMatchServer(pattern: string, server: string): boolean {
  const [first = ''] = pattern.split('/');
  if (first === '**') return true;
  const compiled = compileToolPattern(first);
  return compiled.ok && matchesTool(compiled.pattern, server);
}
