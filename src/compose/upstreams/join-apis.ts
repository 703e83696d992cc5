/** Combines HTTP APIs of recourse.yaml and HTTP tools of a program into one upstream and one catalogue. */
import { entriesOf, type HttpApi, toolsOf } from '../../adapters/upstream-http/http-api.ts';
import type { HttpUpstream } from '../../adapters/upstream-http/http-upstream.ts';
import type { UpstreamStatus } from '../../adapters/upstream-mcp/server-link.ts';
import type { Catalogue, ToolEntry } from '../../core/call/catalogue.ts';
import { destinationOf } from '../../core/egress/destination.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Resolver } from '../../ports/resolver.ts';
import type { Upstream } from '../../ports/upstream.ts';
import type { HttpToolParts } from './http-tool.ts';

export interface JoinedApis {
  /** The tools of APIs. */
  readonly catalogue: Catalogue;
  /** Null for a tool of somebody else. */
  upstreamOf(tool: string): Upstream | null;
  status(): readonly UpstreamStatus[];
  close(): Promise<void>;
}

const none: JoinedApis = {
  catalogue: new Map(),
  upstreamOf: () => null,
  status: () => [],
  close: async () => undefined,
};

export async function joinApis(
  apis: readonly HttpApi[],
  own: readonly HttpToolParts[],
  defaultTimeoutMs: number,
  resolver?: Resolver,
): Promise<JoinedApis> {
  if (apis.length + own.length === 0) return none;
  // Loaded only if there is something to send.
  const { createHttpUpstream } = await import('../../adapters/upstream-http/http-upstream.ts');
  const upstreams: HttpUpstream[] = [];
  const byTool = new Map<string, Upstream>();
  const groups = [
    ...apis.map((api) => ({ target: api.target, tools: toolsOf(api) })),
    ...own.map(({ target, tool }) => ({ target, tools: new Map([[tool.name, tool]]) })),
  ];
  for (const { target, tools } of groups) {
    const made = createHttpUpstream(target, tools, resolver === undefined ? {} : { resolver });
    upstreams.push(made);
    for (const name of tools.keys()) byTool.set(name, made.upstream);
  }
  return {
    catalogue: new Map(apis.flatMap((api) => [...entriesOf(api, defaultTimeoutMs)])),
    upstreamOf: (tool) => byTool.get(tool) ?? null,
    status: () => apis.map(statusOf),
    close: async () => void (await Promise.all(upstreams.map((each) => each.close()))),
  };
}

/** Its tools are known from files. Nothing is asked of it before it is called, so it counts as connected. */
function statusOf({ target, tools, leftOut }: HttpApi): UpstreamStatus {
  return {
    name: target.name,
    kind: 'http',
    state: 'connected',
    problem: null,
    protocolVersion: null,
    server: null,
    pid: null,
    tools: tools.length,
    leftOut,
    reconnects: 0,
    stderr: [],
  };
}

/** The entry of a program's HTTP tool: rules see its host, and the record its request. */
export function withRequest(entry: ToolEntry, { target, shown }: HttpToolParts): ToolEntry {
  const manifest = canonicalText({ ...(JSON.parse(entry.manifest) as JsonObject), http: shown });
  return { ...entry, ...destinationOf(target.url), manifest };
}
