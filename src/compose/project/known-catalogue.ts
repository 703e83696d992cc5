/**
 * Lists the tools and actions of a project as rules see them, without starting a server. They come from recourse.lock
 * and the configuration. A tool that is not pinned counts as the most dangerous kind. Must not run any body.
 */
import { destinationOf } from '../../core/egress/destination.ts';
import type { MountedWorkflow } from '../../adapters/upstream-function/workflow/mount.ts';
import { matchesGlob } from '../../adapters/upstream-mcp/tools/matches-glob.ts';
import { defaultMcpLimits } from '../../adapters/upstream-mcp/mcp-limits.ts';
import { entryOf } from '../../adapters/upstream-mcp/tools/tool-entry.ts';
import { type Config, type ServerConfig, upstreamsIn } from '../../config/config.ts';
import type { Catalogue, ToolEntry } from '../../core/call/catalogue.ts';
import type { Json } from '../../core/values/json.ts';
import { defaultLimits } from '../../core/limits.ts';
import type { KnownTool, KnownWorkflow, PolicyContext } from '../../core/policy/analyse/policy-analysis.ts';
import { reachOf, type ToolShape } from '../../core/policy/policy.ts';
import { policyTool } from '../../core/policy/rule-call.ts';
import type { CaseTool } from '../../core/policy/test-policy.ts';
import { compileSchema } from '../../core/schema/compile-schema.ts';
import { isDeepStrictEqual } from 'node:util';
import { callablesOf } from '../../core/policy/analyse/callable.ts';

export interface KnownCatalogue extends PolicyContext {
  /** For a tool that is not pinned: its declaration, or the most dangerous defaults. */
  readonly toolNamed: (name: string) => CaseTool;
  readonly isPinned: (name: string) => boolean;
  /** Why the schema refuses these arguments; null if it does not, or if there is no schema. */
  readonly refusalOf: (name: string, args: Json) => string | null;
}

/** The parts of a project that are used. */
export interface KnownParts {
  readonly config: Config;
  readonly workflows: readonly MountedWorkflow[];
  /** Instead of the lock, for the servers that are connected. */
  readonly live?: LiveTools;
}

export interface LiveTools {
  readonly connected: ReadonlySet<string>;
  readonly catalogue: Catalogue;
}

export function knownCatalogue({ config, workflows, live }: KnownParts): KnownCatalogue {
  const pinned = live === undefined ? pinnedTools(config) : liveTools(config, live);
  const bound = new Map<string, KnownWorkflow>();
  const actions = new Map<string, ToolEntry>();
  for (const workflow of workflows) {
    const made = workflow.bind(openCatalogue(pinned, config.tools), { timeoutMs: defaultLimits.defaultTimeoutMs });
    if (!made.ok) continue;
    bound.set(workflow.name, made.workflow);
    for (const action of made.workflow.actions.values())
      if (action.boundTool === null) actions.set(action.policyName, action);
  }
  // The tools of a server that is not pinned are unknown. Without servers and workflows, tools come from a program.
  const isWhole = config.tools.every(
    ({ name }) => live?.connected.has(name) === true || config.lock?.servers.has(name) === true,
  );
  const isSomething = upstreamsIn(config).length + workflows.length > 0;
  const entries = [...pinned.values()];
  const find = (name: string) => pinned.get(name) ?? actions.get(name);
  return {
    tools: isWhole && isSomething ? entries.map(knownTool) : null,
    workflows: bound,
    isPinned: (name) => find(name) !== undefined,
    refusalOf: (name, args) => {
      const input = find(name)?.input;
      const [wrong] = input?.kind === 'schema' ? input.check(args) : [];
      return wrong === undefined ? null : `${wrong.path || 'the whole'}: ${wrong.expected}`;
    },
    toolNamed: (name) => {
      const entry = find(name) ?? unpinned(name, config.tools);
      return { ...policyTool(entry), host: entry.host };
    },
  };
}

const knownTool = (entry: ToolEntry): KnownTool => ({ ...policyTool(entry), inputSchema: entry.inputSchema });

/** For a server that is not connected, the lock lists the tools. */
function liveTools(config: Config, { connected, catalogue }: LiveTools): ReadonlyMap<string, ToolEntry> {
  const isLive = (name: string) => connected.has(name.slice(0, name.indexOf('/')));
  return new Map([
    ...[...pinnedTools(config)].filter(([name]) => !isLive(name)),
    ...[...catalogue].filter(([name]) => isLive(name)),
  ]);
}

/** The tools of HTTP APIs and of providers of models are known from the files, pinned or not. */
export function pinnedTools({ tools, lock, declared }: Config): ReadonlyMap<string, ToolEntry> {
  const parts = { limits: defaultMcpLimits, defaultTimeoutMs: defaultLimits.defaultTimeoutMs, compile: compileSchema };
  const entries = tools.flatMap((server) =>
    [...(lock?.servers.get(server.name) ?? [])].flatMap(([name, { description, inputSchema, annotations }]) => {
      const listed = { name, inputSchema, ...(description && { description }), ...(annotations && { annotations }) };
      const made = entryOf(server, listed, parts);
      return made.ok ? [[made.entry.name, made.entry] as const] : [];
    }),
  );
  return new Map([...entries, ...declared]);
}

/** An action may be bound to a tool that is not pinned; its name is assumed to be right. */
function openCatalogue(pinned: Catalogue, servers: readonly ServerConfig[]): Catalogue {
  const open = new Map(pinned);
  open.get = (name) => pinned.get(name) ?? unpinned(name, servers);
  return open;
}

export function unpinned(name: string, servers: readonly ServerConfig[]): ToolEntry {
  const cut = name.indexOf('/');
  const server = servers.find((each) => each.name === name.slice(0, cut));
  const rule = server?.rules.find(({ match }) => matchesGlob(match, name.slice(cut + 1)));
  const effectClass = rule?.effect ?? 'plain';
  return {
    name,
    description: '',
    effectClass,
    timeoutMs: defaultLimits.defaultTimeoutMs,
    dedupeWindowMs: rule?.dedupeWindowMs ?? null,
    reportsWithinMs: rule?.reportsWithinMs ?? null,
    input: { kind: 'anything' },
    invokes: name,
    inputSchema: null,
    listing: null,
    policyName: name,
    reach: rule?.reach ?? reachOf(effectClass),
    host: null,
    ...(server?.connect.kind === 'http' ? destinationOf(server.connect.url) : null),
    manifest: '{}',
  };
}

/** The argument schemas of all callable names. Null if some tools are not pinned. */
export function knownShapes(parts: KnownParts): readonly ToolShape[] | null {
  const known = knownCatalogue(parts);
  if (known.tools === null) return null;
  const shapes = new Map<string, ToolShape>();
  for (const { tool, schema } of callablesOf(known)) {
    const before = shapes.get(tool.name);
    // An action has the name of its tool and may take other arguments: then the schema is unknown.
    const isSure = before === undefined || isDeepStrictEqual(before.inputSchema, schema);
    shapes.set(tool.name, { name: tool.name, inputSchema: isSure ? schema : null });
  }
  return [...shapes.values()];
}
