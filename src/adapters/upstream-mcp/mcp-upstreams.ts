/**
 * Runs tools of MCP servers; implements the port `Upstream`. Servers are connected and listed independently of each
 * other. Never rejects. Tools are named `server/tool`. Sets no timeouts for calls: the shell does.
 */
import type { Catalogue } from '../../core/call/catalogue.ts';
import type { UnlistedServer } from '../../core/gates/facts.ts';
import { defaultLimits } from '../../core/limits.ts';
import type { Resolver } from '../../ports/resolver.ts';
import type { Attempt, HearLate, Upstream, UpstreamResult } from '../../ports/upstream.ts';
import { callTool } from './call-tool.ts';
import { createStoredTools } from './tools/stored-tools.ts';
import { checkConfigs, type McpUpstreamConfig } from './mcp-config.ts';
import { defaultMcpLimits, type McpLimits } from './mcp-limits.ts';
import type { CredentialHandle } from '../../ports/credentials.ts';
import type { ConnectionSecrets } from './reveal-credentials.ts';
import { createServerLink, type ServerLink, type UpstreamStatus } from './server-link.ts';
import { failed } from './interpret-answer.ts';

export interface McpUpstreamsOptions {
  readonly limits?: Partial<McpLimits>;
  /** For tools whose rule and server set no timeout. */
  readonly defaultTimeoutMs?: number;
  /** As whom the gateway introduces itself. */
  readonly client?: { readonly name: string; readonly version: string };
  /** Each line that a child says on its standard error. Without it, `status` still tells the last ones. */
  readonly onStderr?: (server: string, line: string) => void;
  /** The catalogue is another one than before. */
  readonly onChange?: () => void;
  /** A server is in another state than before. */
  readonly onState?: (status: UpstreamStatus) => void;
  /** For names of hosts; the system's if not given. */
  readonly resolver?: Resolver;
  /** The folder in which the lists of tools are kept from one process to the next; null, or absent, for nowhere. */
  readonly listsIn?: string | null;
  /** Fetches the secrets that the connection to a server needs. `failed`: those with which it could not be opened. */
  readonly connectWith?: (config: McpUpstreamConfig, failed: readonly CredentialHandle[]) => Promise<ConnectionSecrets>;
  /** Hides secrets in whatever comes from a server. */
  readonly hide?: <Value>(value: Value) => Value;
}

export interface McpUpstreams {
  readonly upstream: Upstream;
  /** Servers in the order of their configuration, tools as listed. The same object until something changes. */
  catalogue(): Catalogue;
  status(): readonly UpstreamStatus[];
  /** Servers that have never been reached, so that nobody knows their tools, and when to ask again. */
  unlisted(): readonly UnlistedServer[];
  /** Resolves when each server is connected or has failed once, at the latest after the time. */
  ready(timeoutMs: number): Promise<void>;
  /** Ends every connection and every child. */
  close(): Promise<void>;
}

/** Starts to connect at once and returns without waiting. Throws only for a configuration that cannot work. */
export function createMcpUpstreams(
  configs: readonly McpUpstreamConfig[],
  options: McpUpstreamsOptions = {},
): McpUpstreams {
  checkConfigs(configs);
  const { connectTimeoutMs: firstConnectTimeoutMs = defaultMcpLimits.firstConnectTimeoutMs } = options.limits ?? {};
  const limits = { ...defaultMcpLimits, firstConnectTimeoutMs, ...options.limits };
  const { listsIn = null } = options;
  let catalogue: Catalogue | null = null;
  let closing: Promise<void> | null = null;
  const links = new Map<string, ServerLink>();
  for (const config of configs) {
    const link = createServerLink(config, {
      limits,
      resolver: options.resolver,
      client: options.client ?? { name: 'recourse', version: '0.0.0' },
      defaultTimeoutMs: options.defaultTimeoutMs ?? defaultLimits.defaultTimeoutMs,
      onStderr: (line) => notify(() => options.onStderr?.(config.name, line)),
      onState: (status) => notify(() => options.onState?.(status)),
      connectWith: (failed) => options.connectWith?.(config, failed) ?? Promise.resolve({ ok: true, handles: [] }),
      hide: options.hide ?? ((value) => value),
      kept: listsIn === null ? null : createStoredTools(listsIn, config, limits.maxListChars),
      onTools: () => {
        catalogue = null;
        notify(() => options.onChange?.());
      },
    });
    links.set(config.name, link);
  }

  async function invoke(attempt: Attempt, signal: AbortSignal, late?: HearLate): Promise<UpstreamResult> {
    const slash = attempt.tool.indexOf('/');
    const link = slash < 0 ? undefined : links.get(attempt.tool.slice(0, slash));
    if (link === undefined) return failed('404_not_found', `no server serves '${attempt.tool.slice(0, 256)}'`);
    if (closing !== null) return failed('never_sent', 'the gateway is closing', { effect: 'none' });
    try {
      return await callTool(link, attempt.tool.slice(slash + 1), attempt, { signal, late }, limits);
    } catch (bug) {
      const cause = bug instanceof Error ? (bug.stack ?? bug.message) : String(bug);
      return failed('unknown', 'the call to the server broke inside the gateway', { errorType: 'Unexpected', cause });
    }
  }

  return {
    upstream: { invoke },
    catalogue: () => (catalogue ??= gather(links)),
    status: () => [...links.values()].map((link) => link.status()),
    unlisted: () =>
      [...links.values()]
        .filter((link) => !link.isListed())
        .map((link) => {
          const lacks = link.lacks();
          const away = { name: link.config.name, retryAfterSeconds: link.retryAfterSeconds() };
          return lacks === null ? away : { ...away, lacks };
        }),
    async ready(timeoutMs) {
      let timer: NodeJS.Timeout | undefined;
      const enough = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      await Promise.race([Promise.all([...links.values()].map(({ settled }) => settled)), enough]);
      clearTimeout(timer);
    },
    close: () => (closing ??= Promise.all([...links.values()].map((link) => link.close())).then(() => undefined)),
  };
}

function gather(links: ReadonlyMap<string, ServerLink>): Catalogue {
  return new Map([...links.values()].flatMap((link) => link.entries().map((entry) => [entry.name, entry] as const)));
}

/** A listener that throws must not end the gateway. */
function notify(tell: () => void): void {
  try {
    tell();
  } catch {
    // Ignored: the status has the same information.
  }
}
