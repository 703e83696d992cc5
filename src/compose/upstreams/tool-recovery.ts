/**
 * What is declared about the recovery of each tool: the gateway's playbook, that of its server, the first rule of the
 * server that matches, and what its author says. Must not decide anything about a call.
 */
import { matchesGlob } from '../../adapters/upstream-mcp/tools/matches-glob.ts';
import type { Config, ModelsConfig, ServerConfig, ToolRule, WrittenRecovery } from '../../config/config.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import type { ModelProvider } from '../../core/model/model-provider.ts';
import { providerRecovery } from '../../core/model/provider-tools.ts';
import { type DeclaredRecovery, defaultBreaker, joinRecovery } from '../../core/recovery/declared.ts';
import type { ToolRecovery } from '../../core/recovery/playbook.ts';
import { checkedTool, type Tool } from '../../adapters/upstream-function/tool.ts';
import type { Reverse } from '../../core/reversal/declared-reverse.ts';
import { upstreamOf } from '../../shell/shell.ts';

export interface RecoveryConfig {
  readonly playbook: WrittenRecovery;
  readonly servers: readonly RecoveryServer[];
}

type RecoveryServer = Pick<ServerConfig, 'name' | 'recovery'> & {
  /** What counts before anything that a file says. */
  readonly first?: readonly DeclaredRecovery[];
  readonly rules: readonly (Pick<ToolRule, 'match' | 'recovery' | 'operationKey' | 'evidence'> & {
    readonly reverse?: { readonly declared: Reverse };
  })[];
};

/** What a configuration declares, of everything that has tools. */
export const recoveryOf = (
  { playbook, tools, apis, models, hosted }: Config,
  providers: readonly ModelProvider[] = [],
): RecoveryConfig => ({
  playbook,
  servers: [
    ...tools,
    ...apis.map((api) => ({ ...api, rules: [...api.tools, ...api.rules] })),
    ...models.map((written) => ({ ...written, rules: [], first: firstOf(written, providers) })),
    ...hosted,
  ],
});

/** The same, as the project in force at each moment says it. */
export const liveRecovery = (
  project: () => { readonly config: Config; readonly models: readonly ModelProvider[] },
): RecoveryConfig => ({
  get playbook() {
    return project().config.playbook;
  },
  get servers() {
    return recoveryOf(project().config, project().models).servers;
  },
});

/** A playbook in the file counts also where the kind of the provider has a retry rule, which would replace it. */
function firstOf({ name, recovery }: ModelsConfig, providers: readonly ModelProvider[]): readonly DeclaredRecovery[] {
  const rule = providers.find((provider) => provider.name === name)?.protocol.retry ?? null;
  const isReplaced = rule === null || recovery?.declared.playbook !== undefined;
  return isReplaced ? [providerRecovery] : [providerRecovery, { retry: rule }];
}

const undeclared: RecoveryConfig = { playbook: { declared: {}, places: new Map() }, servers: [] };
const ofServers: WrittenRecovery = { declared: { breaker: defaultBreaker }, places: new Map() };

/** Every level that says something about a tool of this name; the later one counts. */
export function levelsFor(policyName: string, { playbook, servers }: RecoveryConfig): readonly WrittenRecovery[] {
  const server = servers.find(({ name }) => policyName.startsWith(`${name}/`));
  if (server === undefined) return [playbook];
  const rule = ruleIn(server, policyName);
  const first = (server.first ?? []).map((declared): WrittenRecovery => ({ declared, places: new Map() }));
  return [...first, playbook, ofServers, server.recovery, rule?.recovery].filter((level) => level !== undefined);
}

function ruleIn({ name, rules }: RecoveryServer, policyName: string): RecoveryServer['rules'][number] | undefined {
  return rules.find(({ match }) => matchesGlob(match, policyName.slice(name.length + 1)));
}

/**
 * INVARIANT: the same object for the same entry, so that its playbook is hashed once. Until the playbook of the gateway
 * is another.
 */
export function createRecovery(config = undeclared): (tool: ToolEntry) => ToolRecovery {
  let known = new WeakMap<ToolEntry, ToolRecovery>();
  let { playbook } = config;
  return (tool) => {
    if (config.playbook !== playbook) {
      known = new WeakMap();
      ({ playbook } = config);
    }
    const before = known.get(tool);
    if (before !== undefined) return before;
    const declared = levelsFor(tool.policyName, config).map((level) => level.declared);
    const joined = joinRecovery(upstreamOf(tool), [...declared, tool.recovery ?? {}]);
    known.set(tool, joined);
    return joined;
  };
}

/** The tools that undo others, by what is written alone: also while the server of the others is away. */
function reversersOf({ servers }: RecoveryConfig, tools: readonly Tool[]): ReadonlySet<string> {
  const written = servers.flatMap(({ rules }) => rules.flatMap(({ reverse }) => reverse?.declared.tool ?? []));
  return new Set([...written, ...tools.flatMap((each) => checkedTool(each).reverse?.tool ?? [])]);
}

/**
 * Adds what rules of the file say about entries: operation keys, how a call is undone, and that a tool undoes others.
 * The same entry gives the same object, so that its manifest is hashed once.
 */
export function addDeclared(config = undeclared, tools: readonly Tool[] = []): (tool: ToolEntry) => ToolEntry {
  const known = new WeakMap<ToolEntry, ToolEntry>();
  const reversers = reversersOf(config, tools);
  return (tool) => {
    const before = known.get(tool);
    if (before !== undefined) return before;
    const made = withDeclared(tool, config, reversers);
    known.set(tool, made);
    return made;
  };
}

function withDeclared(tool: ToolEntry, { servers }: RecoveryConfig, reversers: ReadonlySet<string>): ToolEntry {
  const server = servers.find(({ name }) => tool.name.startsWith(`${name}/`));
  const rule = server === undefined ? undefined : ruleIn(server, tool.name);
  const { operationKey, reverse, evidence } = rule ?? {};
  // INVARIANT: what only reads has nothing to undo, whatever a rule for many tools says.
  const undoes = tool.effectClass === 'pure' ? undefined : reverse;
  // A read relies on nothing.
  const reads = tool.effectClass === 'pure' ? undefined : evidence;
  const isReversal = reversers.has(tool.policyName);
  if (operationKey === undefined && undoes === undefined && reads === undefined && !isReversal) return tool;
  return {
    ...tool,
    ...(operationKey === undefined ? {} : { operationKey: operationKey.of }),
    ...(reads === undefined ? {} : { evidence: reads }),
    ...(undoes === undefined ? {} : { reverse: undoes.declared }),
    ...(isReversal ? { isReversal } : {}),
  };
}
