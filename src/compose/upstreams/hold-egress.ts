/**
 * Holds the processes of MCP servers to their egress lists: starts the proxy if one is needed, gives each server its
 * login and its variables, and remembers what was denied. A hold that the system does not permit stops that server; it
 * is never weaker than what was written.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ProxyLogin } from '../../adapters/egress-proxy/start-proxy.ts';
import type { Confinement, McpUpstreamConfig } from '../../adapters/upstream-mcp/mcp-config.ts';
import { compileList } from '../../core/egress/egress-list.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Resolver } from '../../ports/resolver.ts';

export interface HeldServers {
  readonly configs: readonly McpUpstreamConfig[];
  close(): Promise<void>;
}

/** Different denials that the operator is told; the calls hear of every one. */
const maxTold = 1_000;

export async function holdEgress(
  configs: readonly McpUpstreamConfig[],
  resolver: Resolver,
  notify: Notifier,
): Promise<HeldServers> {
  const held = configs.filter(({ egress, connect }) => egress !== undefined && connect.kind === 'stdio');
  if (held.length === 0) return { configs, close: async () => undefined };
  const [{ startProxy }, { bridgePort, launcherFor, permitsNamespaces }] = await Promise.all([
    import('../../adapters/egress-proxy/start-proxy.ts'),
    import('../../adapters/egress-proxy/network-namespace.ts'),
  ]);
  const needsNamespace = held.some(({ egress }) => egress?.hold === 'namespace');
  const permission = needsNamespace ? await permitsNamespaces() : null;
  const folder = permission?.ok === true ? await mkdtemp(path.join(tmpdir(), 'recourse-egress-')) : null;
  const socketPath = folder === null ? null : path.join(folder, 'proxy.sock');
  const denials = createDenials(notify);
  const proxy = await startProxy({ resolver, onDenied: denials.note, ...(socketPath === null ? {} : { socketPath }) });

  function confine({ name, egress }: McpUpstreamConfig): Confinement | undefined {
    if (egress === undefined) return undefined;
    const denied = () => denials.of(name);
    const login = proxy.admit(name, compileList(egress.allow));
    if (egress.hold === 'proxy') return { env: proxyVariables(login.url), launcher: [], problem: null, denied };
    if (socketPath === null)
      return { env: {}, launcher: [], problem: permission?.ok === false ? permission.problem : 'bug', denied };
    return { env: proxyVariables(inside(login, bridgePort)), launcher: launcherFor(socketPath), problem: null, denied };
  }

  return {
    configs: configs.map((config) => {
      const { connect } = config;
      const confinement = connect.kind === 'stdio' ? confine(config) : undefined;
      return connect.kind === 'http' || confinement === undefined
        ? config
        : { ...config, connect: { ...connect, confinement } };
    }),
    async close() {
      await proxy.close();
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    },
  };
}

const inside = ({ user, password }: ProxyLogin, port: number): string => `http://${user}:${password}@127.0.0.1:${port}`;

const proxyNames = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NPM_CONFIG_PROXY', 'NPM_CONFIG_HTTPS_PROXY'];
const exceptions = ['NO_PROXY', 'NPM_CONFIG_NOPROXY'];

/** In both spellings: programs read one or the other. */
function proxyVariables(url: string): Readonly<Record<string, string>> {
  const both = (names: readonly string[], value: string) =>
    names.flatMap((name) => [name, name.toLowerCase()].map((each) => [each, value] as const));
  return Object.fromEntries([...both(proxyNames, url), ...both(exceptions, ''), ['NODE_USE_ENV_PROXY', '1']]);
}

function createDenials(notify: Notifier) {
  const counts = new Map<string, { readonly count: number; readonly host: string }>();
  const told = new Set<string>();
  return {
    of: (server: string) => counts.get(server) ?? { count: 0, host: '' },
    note(server: string, host: string): void {
      counts.set(server, { count: (counts.get(server)?.count ?? 0) + 1, host });
      const key = `${server} ${host}`;
      if (told.has(key) || told.size >= maxTold) return;
      told.add(key);
      notify({ kind: 'egress_denied', server, host });
    },
  };
}
