/** Combines the servers of kinds that extensions add into one upstream and one catalogue. */
import type { UpstreamStatus } from '../../adapters/upstream-mcp/server-link.ts';
import type { Catalogue } from '../../core/call/catalogue.ts';
import { GatewayError } from '../../core/values/gateway-error.ts';
import { suppressed } from '../../core/values/suppressed.ts';
import type { ExtensionUpstream } from '../../extension/kinds.ts';
import { nodeClock } from '../../adapters/system-node/clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import type { Upstream } from '../../ports/upstream.ts';
import { addedBy } from './extension-set.ts';
import { guardUpstream } from './guard-upstream.ts';
import { type Hosted, type HostedTool, toolsOfHosted } from './hosted-tools.ts';
import { runStep } from './lifecycle.ts';
import type { Running } from './start-extensions.ts';

export interface JoinedHosted {
  readonly catalogue: Catalogue;
  /** Null for a tool of somebody else. */
  upstreamOf(tool: string): Upstream | null;
  status(): readonly UpstreamStatus[];
  close(): Promise<void>;
}

export function joinHosted(
  all: readonly Hosted[],
  running: Running,
  defaultTimeoutMs: number,
  notify: Notifier,
): JoinedHosted {
  const byTool = new Map<string, Upstream>();
  const entries: HostedTool[] = [];
  const states: UpstreamStatus[] = [];
  const made: { readonly name: string; readonly upstream: ExtensionUpstream; readonly timeoutMs: number }[] = [];
  for (const hosted of all) {
    const { name, kind, settings } = hosted;
    const found = addedBy(running.set, 'upstreams', kind);
    const read = found === undefined ? null : toolsOfHosted(hosted, found.added, defaultTimeoutMs);
    if (found === undefined || read?.ok !== true)
      throw new GatewayError(
        'bad_options',
        `'${name}': ${read?.ok === false ? read.problem : `no extension adds servers of the kind '${kind}'`}`,
      );
    const { added, owner } = found;
    let upstream: ExtensionUpstream | null = null;
    // Made with its first call: a kind that throws then fails that call alone.
    const make = (): ExtensionUpstream => {
      if (upstream !== null) return upstream;
      upstream = added.create(settings, running.hostOf(owner));
      made.push({ name, upstream, timeoutMs: owner.stopTimeoutMs });
      return upstream;
    };
    const tools = new Map(read.tools.map((tool) => [tool.entry.name, tool]));
    const guarded = guardUpstream(name, make, tools);
    for (const tool of tools.keys()) byTool.set(tool, guarded);
    entries.push(...read.tools);
    states.push(statusOf(name, read.tools.length));
  }
  return {
    catalogue: new Map(entries.map(({ entry }) => [entry.name, entry])),
    upstreamOf: (tool) => byTool.get(tool) ?? null,
    status: () => states,
    async close() {
      await Promise.all(made.map((each) => closeOne(each, notify)));
    },
  };
}

/** One that throws or hangs is told, and delays nobody beyond the time of its extension. */
async function closeOne(
  {
    name,
    upstream,
    timeoutMs,
  }: { readonly name: string; readonly upstream: ExtensionUpstream; readonly timeoutMs: number },
  notify: Notifier,
): Promise<void> {
  const onLate = () => undefined;
  const step = { extension: name, what: 'stop', timeoutMs, run: () => upstream.close?.(), onLate } as const;
  const closed = await runStep(step, nodeClock);
  if (!closed.ok) notify(suppressed(`closing '${name}'`, closed.fault.message));
}

/** Its tools are known from its author. Nothing is asked of it before it is called, so it counts as connected. */
const statusOf = (name: string, tools: number): UpstreamStatus => ({
  name,
  kind: 'extension',
  state: 'connected',
  problem: null,
  protocolVersion: null,
  server: null,
  pid: null,
  tools,
  leftOut: [],
  reconnects: 0,
  stderr: [],
});
