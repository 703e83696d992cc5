/**
 * What is declared about the recovery of each tool: the gateway's playbook, that of its server, the first rule of the
 * server that matches, and what its author says. Must not decide anything about a call.
 */
import { matchesGlob } from '../../adapters/upstream-mcp/tools/matches-glob.ts';
import type { Config, ServerConfig, ToolRule, WrittenRecovery } from '../../config/config.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import { defaultBreaker, joinRecovery } from '../../core/recovery/declared.ts';
import type { ToolRecovery } from '../../core/recovery/playbook.ts';
import { upstreamOf } from '../../shell/shell.ts';

export interface RecoveryConfig {
  readonly playbook: WrittenRecovery;
  readonly servers: readonly RecoveryServer[];
}

type RecoveryServer = Pick<ServerConfig, 'name' | 'recovery'> & {
  readonly rules: readonly Pick<ToolRule, 'match' | 'recovery' | 'operationKey'>[];
};

/** What a configuration declares, of servers and HTTP APIs alike. */
export const recoveryOf = ({ playbook, tools, apis, hosted }: Config): RecoveryConfig => ({
  playbook,
  servers: [...tools, ...apis.map((api) => ({ ...api, rules: [...api.tools, ...api.rules] })), ...hosted],
});

const undeclared: RecoveryConfig = { playbook: { declared: {}, places: new Map() }, servers: [] };
const ofServers: WrittenRecovery = { declared: { breaker: defaultBreaker }, places: new Map() };

/** Every level that says something about a tool of this name; the later one counts. */
export function levelsFor(policyName: string, { playbook, servers }: RecoveryConfig): readonly WrittenRecovery[] {
  const server = servers.find(({ name }) => policyName.startsWith(`${name}/`));
  if (server === undefined) return [playbook];
  const rule = ruleIn(server, policyName);
  return [playbook, ofServers, server.recovery, rule?.recovery].filter((level) => level !== undefined);
}

function ruleIn({ name, rules }: RecoveryServer, policyName: string): RecoveryServer['rules'][number] | undefined {
  return rules.find(({ match }) => matchesGlob(match, policyName.slice(name.length + 1)));
}

/** INVARIANT: the same object for the same entry, so that its playbook is hashed once. */
export function createRecovery(config = undeclared): (tool: ToolEntry) => ToolRecovery {
  const known = new WeakMap<ToolEntry, ToolRecovery>();
  return (tool) => {
    const before = known.get(tool);
    if (before !== undefined) return before;
    const declared = levelsFor(tool.policyName, config).map((level) => level.declared);
    const joined = joinRecovery(upstreamOf(tool), [...declared, tool.recovery ?? {}]);
    known.set(tool, joined);
    return joined;
  };
}

/** Adds operation keys to entries. The same entry gives the same object, so that its manifest is hashed once. */
export function addOperationKeys({ servers } = undeclared): (tool: ToolEntry) => ToolEntry {
  const known = new WeakMap<ToolEntry, ToolEntry>();
  return (tool) => {
    const server = servers.find(({ name }) => tool.name.startsWith(`${name}/`));
    const key = server === undefined ? undefined : ruleIn(server, tool.name)?.operationKey;
    if (key === undefined) return tool;
    const made = known.get(tool) ?? { ...tool, operationKey: key.of };
    known.set(tool, made);
    return made;
  };
}
