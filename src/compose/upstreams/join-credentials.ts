/**
 * Connects credentials to what uses them: the shell fetches, tools say which they need, connections to servers get
 * theirs, and every secret is hidden. Without credentials there is no port, and nothing changes.
 */
import type { ConnectionSecrets } from '../../adapters/upstream-mcp/reveal-credentials.ts';
import type { McpUpstreamConfig } from '../../adapters/upstream-mcp/mcp-config.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import {
  connectionCredentials,
  credentialUses,
  type DeclaredCredential,
} from '../../core/credential/declared-credential.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CredentialHandle, Credentials } from '../../ports/credentials.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Running } from '../extensions/start-extensions.ts';
import { providerOf } from '../extensions/use-extensions.ts';
import { createSecretHider, type SecretHider } from '../serve/secret-hider.ts';

/** What connects to it: an MCP server, or a provider of models. */
export interface ConnectedServer {
  readonly name: string;
  readonly connect: Pick<McpUpstreamConfig['connect'], 'kind'>;
}

export interface JoinedCredentials {
  /** Null without credentials. */
  readonly port: Credentials | null;
  readonly hider: SecretHider;
  /** Adds its credentials to a tool, after `complete`. The same entry gives the same object. */
  completing(complete: (tool: ToolEntry) => ToolEntry): (tool: ToolEntry) => ToolEntry;
  hideNotices(notifier: Notifier): Notifier;
  /** The secrets of a connection. `failed`: those with which it could not be opened. */
  connectWith(server: ConnectedServer, failed: readonly CredentialHandle[]): Promise<ConnectionSecrets>;
}

/** Who adds sources of secrets, and the store beside which is kept what people signed in for; absent: nowhere. */
export interface SecretsFrom {
  readonly running: Running;
  readonly file?: string;
}

export async function joinCredentials(
  declared: readonly DeclaredCredential[],
  clock: Clock,
  { running, file }: SecretsFrom,
): Promise<JoinedCredentials> {
  const hider = createSecretHider();
  if (declared.length === 0)
    return {
      port: null,
      hider,
      completing: (complete) => complete,
      hideNotices: (notifier) => notifier,
      connectWith: async () => ({ ok: true, handles: [] }),
    };
  // Loaded only if there is something to fetch.
  const { createCredentials } = await import('../../adapters/credentials/create-credentials.ts');
  const port = createCredentials(declared, {
    clock,
    env: process.env,
    onSecret: hider.add,
    keptAt: file === undefined ? undefined : `${file}.signin-`,
    providerOf: (kind, settings) => providerOf(running, kind, settings),
  });
  const known = new WeakMap<ToolEntry, ToolEntry>();
  return {
    port,
    hider,
    completing: (complete) => (given) => {
      const tool = complete(given);
      const uses = isSent(tool) ? credentialUses(declared, tool.policyName) : [];
      if (uses.length === 0) return tool;
      const made = known.get(tool) ?? { ...tool, credentials: uses };
      known.set(tool, made);
      return made;
    },
    hideNotices: (notifier) => (notice) => notifier(hider.hide(notice)),
    connectWith: ({ name, connect }, failed) =>
      fetchFor(connectionCredentials(declared, name, connect.kind === 'stdio'), failed, port),
  };
}

/** Functions of a program have no wire: they get their secrets from their author. */
const isSent = ({ name, host }: ToolEntry): boolean => host !== null || name.includes('/');

async function fetchFor(
  needed: readonly DeclaredCredential[],
  failed: readonly CredentialHandle[],
  port: Credentials,
): Promise<ConnectionSecrets> {
  const answers = await Promise.all(
    needed.map(({ name }) => {
      const refusedId = failed.find((each) => each.name === name)?.usedId() ?? null;
      return refusedId === null ? port.fetch(name) : port.refresh(name, refusedId);
    }),
  );
  const lacks = answers.find((each) => !each.ok);
  return lacks === undefined
    ? { ok: true, handles: needed.map(({ name }) => port.handle(name)) }
    : { ok: false, lacks };
}
