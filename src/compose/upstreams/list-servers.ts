/**
 * Lists the tools of MCP servers, and compares the tools of connected servers with recourse.lock. A tool that differs
 * from the lock is reported and stops nothing. A problem with one server does not affect the others.
 */
import crypto from 'node:crypto';
import { entriesOf, type HttpApi } from '../../adapters/upstream-http/http-api.ts';
import type { McpUpstreamConfig } from '../../adapters/upstream-mcp/mcp-config.ts';
import { type LockedTool, type Lock, lockName } from '../../config/lock.ts';
import type { Catalogue, ToolEntry } from '../../core/call/catalogue.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { defaultLimits } from '../../core/limits.ts';
import type { ModelProvider } from '../../core/model/model-provider.ts';
import { entriesOf as providerEntries } from '../../core/model/provider-tools.ts';
import type { DeclaredCredential } from '../../core/credential/declared-credential.ts';
import { nodeClock } from '../../adapters/system-node/clock.ts';
import { type JoinedCredentials, joinCredentials } from './join-credentials.ts';
import { joinUpstreams, type Joined } from './join-upstreams.ts';
import { type ExtensionSet, noExtensions } from '../extensions/extension-set.ts';
import { startExtensions } from '../extensions/start-extensions.ts';
import { printNotice } from '../serve/print-notices.ts';
import { refusalOf } from '../project/serve-options.ts';
import { lastWords } from './report-servers.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { LiveTools } from '../project/known-catalogue.ts';

/** A server may first have to be downloaded from a registry. */
const serversReadyMs = 60_000;

export type ListedServer =
  | {
      readonly name: string;
      /** By their own names. */
      readonly tools: ReadonlyMap<string, LockedTool>;
      /** Tools that are not offered, with the reason. */
      readonly leftOut: readonly string[];
    }
  | {
      readonly name: string;
      readonly problem: string;
      readonly because: 'configuration' | 'unreachable';
      /** Its last output. For a terminal only: it may contain a secret. */
      readonly said?: readonly string[];
    };

/** `declared`: some servers list nothing without their secret. */
export async function listServers(
  configs: readonly McpUpstreamConfig[],
  declared: readonly DeclaredCredential[] = [],
  extensions: ExtensionSet = noExtensions,
): Promise<readonly ListedServer[]> {
  const running = await startExtensions(extensions, { clock: nodeClock, notify: printNotice });
  const credentials = await joinCredentials(declared, nodeClock, { running });
  try {
    return await Promise.all(configs.map((config) => listServer(config, credentials)));
  } finally {
    credentials.port?.close();
    await running.stop();
  }
}

async function listServer(config: McpUpstreamConfig, credentials: JoinedCredentials): Promise<ListedServer> {
  const { name } = config;
  let joined: Awaited<ReturnType<typeof joinUpstreams>>;
  try {
    joined = await joinUpstreams({ servers: [config], credentials }, defaultLimits, () => undefined);
  } catch (error) {
    const refused = refusalOf(error);
    if (refused === null) throw error;
    return { name, problem: refused.message, because: 'configuration' };
  }
  try {
    await joined.servers?.ready(serversReadyMs);
    const status = joined.servers?.status()[0];
    if (status === undefined) return { name, problem: 'it was not started', said: [], because: 'unreachable' };
    if (status.state !== 'connected') {
      const silent = `it did not answer within ${serversReadyMs / 1_000} s`;
      return { name, problem: status.problem ?? silent, said: lastWords(status), because: 'unreachable' };
    }
    const tools = [...joined.catalogue().values()].map(
      (entry) => [entry.name.slice(name.length + 1), lockedTool(entry)] as const,
    );
    const leftOut = [
      ...status.leftOut.map(({ tool, reason }) => `${name}/${tool}: ${reason}`),
      ...(status.problem === null ? [] : [`${name}: ${status.problem}`]),
    ];
    return { name, tools: new Map(tools), leftOut };
  } finally {
    await joined.close();
  }
}

export type ReachedServer = Extract<ListedServer, { tools: unknown }>;

/** The tools of a server of an extension: from what its author declares. */
export function listHosted(name: string, declared: Catalogue): ReachedServer {
  return listEntries(
    name,
    [...declared.values()].filter((entry) => entry.name.startsWith(`${name}/`)),
  );
}

/** The tools of a provider of models: from its kind, without asking it. */
export const listProvider = (provider: ModelProvider): ReachedServer =>
  listEntries(provider.name, [...providerEntries(provider).values()]);

function listEntries(name: string, entries: readonly ToolEntry[]): ReachedServer {
  const tools = entries.map((entry) => [entry.name.slice(name.length + 1), lockedTool(entry)] as const);
  return { name, tools: new Map(tools), leftOut: [] };
}

/** The tools of an HTTP API: from files, without asking it. */
export function listApi(api: HttpApi): ReachedServer {
  const { name } = api.target;
  const entries = [...entriesOf(api, defaultLimits.defaultTimeoutMs).values()];
  const tools = entries.map((entry) => [entry.name.slice(name.length + 1), lockedTool(entry)] as const);
  return { name, tools: new Map(tools), leftOut: api.leftOut.map(({ tool, reason }) => `${name}/${tool}: ${reason}`) };
}

export function lockedTool({ inputSchema, listing, manifest }: ToolEntry): LockedTool {
  const { tool } = JSON.parse(manifest) as { readonly tool: JsonObject };
  // A tool of an HTTP API has no listing: what is declared about it is all in its manifest.
  const { description, outputSchema, annotations } = listing ?? tool;
  return {
    description: typeof description === 'string' ? description : null,
    inputSchema: inputSchema ?? {},
    outputSchema: isObject(outputSchema) ? (outputSchema as JsonObject) : null,
    annotations: isObject(annotations) ? (annotations as JsonObject) : null,
    sha256: crypto.hash('sha256', canonicalText(tool), 'hex'),
  };
}

/** The tools of providers of models are known from their kinds, whether or not they answer. */
export function liveTools({ status, models, catalogue }: Pick<Joined, 'status' | 'models' | 'catalogue'>): LiveTools {
  const connected = status().filter(({ state }) => state === 'connected');
  return { connected: new Set([...connected, ...models()].map(({ name }) => name)), catalogue: catalogue() };
}

/** One sentence for each tool that differs. Servers that are not connected or not pinned are skipped. */
export function driftFromLock(lock: Lock | null, { connected, catalogue }: LiveTools): readonly string[] {
  return [...(lock?.servers ?? [])]
    .filter(([server]) => connected.has(server))
    .flatMap(([server, pinned]) => {
      const listed = new Map(
        [...catalogue.values()]
          .filter(({ name }) => name.startsWith(`${server}/`))
          .map((entry) => [entry.name.slice(server.length + 1), lockedTool(entry)] as const),
      );
      return [...new Set([...pinned.keys(), ...listed.keys()])].toSorted().flatMap((tool) => {
        const says = difference(pinned.get(tool), listed.get(tool));
        return says === null ? [] : [`${server}/${tool} ${says}: look at it with recourse pin --check`];
      });
    });
}

function difference(was: LockedTool | undefined, is: LockedTool | undefined): string | null {
  if (was === undefined) return `is not in ${lockName}`;
  if (is === undefined) return `is in ${lockName}, and its server does not list it`;
  if (was.sha256 === is.sha256) return null;
  const parts = (['description', 'inputSchema', 'outputSchema', 'annotations'] as const).filter(
    (part) => canonicalText(was[part]) !== canonicalText(is[part]),
  );
  return `differs from ${lockName} (${parts.join(', ') || 'in what is not kept'})`;
}
