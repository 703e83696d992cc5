/**
 * Checks the reversals that the file declares against the tools that are known: the tool that undoes must exist and do
 * something, and what only reads has nothing to undo. Tools of a server that is not pinned are unknown, but not what
 * the file says about them.
 */
import { matchesGlob } from '../../adapters/upstream-mcp/tools/matches-glob.ts';
import { type Config, upstreamsIn } from '../../config/config.ts';
import type { Tell } from '../../config/problem.ts';
import { nearest } from '../../core/values/nearest.ts';
import { recoveryOf } from '../upstreams/tool-recovery.ts';
import { pinnedTools, unpinned } from './known-catalogue.ts';

type Problem = readonly [message: string, fix: string];

export function checkReversals(config: Config, tell: Tell): void {
  const pinned = pinnedTools(config);
  for (const { name: server, rules } of recoveryOf(config).servers)
    for (const { match, reverse } of rules) {
      if (reverse === undefined || !('at' in reverse)) continue;
      const { tool } = reverse.declared;
      const problem = problemWith(tool, config, pinned) ?? problemWithItself({ server, match, tool });
      if (problem !== null) tell(reverse.at as Parameters<Tell>[0], ...problem);
    }
}

function problemWith(tool: string, config: Config, pinned: ReturnType<typeof pinnedTools>): Problem | null {
  const name = tool.slice(0, tool.indexOf('/'));
  const servers = upstreamsIn(config).map((each) => each.name);
  if (!servers.includes(name))
    return [`reverse names '${tool}', and there is no server '${name}'`, hint(name, servers)];
  const server = config.tools.find((each) => each.name === name);
  const isKnown = config.lock?.servers.has(name) === true || server === undefined;
  const entry = pinned.get(tool) ?? (isKnown ? undefined : unpinned(tool, config.tools));
  if (entry === undefined)
    return [`reverse names '${tool}', and there is no such tool`, hint(tool, [...pinned.keys()])];
  return entry.effectClass === 'pure'
    ? [`reverse names '${tool}', which is pure: a read undoes nothing`, 'name the tool that undoes it']
    : null;
}

/** What undoes itself could never be called. */
function problemWithItself({ server, match, tool }: { server: string; match: string; tool: string }): Problem | null {
  const isOwn = tool.startsWith(`${server}/`) && matchesGlob(match, tool.slice(server.length + 1));
  return isOwn ? [`reverse names '${tool}', which this rule is about`, 'write a rule for the other tools alone'] : null;
}

function hint(wanted: string, known: readonly string[]): string {
  const near = nearest(wanted, known);
  return near === null ? 'correct the name' : `did you mean ${near}?`;
}
