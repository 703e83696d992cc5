/** Finds the tools of servers of kinds that extensions add, for whoever checks a project. Reports what is wrong. */
import { matchesGlob } from '../../adapters/upstream-mcp/tools/matches-glob.ts';
import type { Config } from '../../config/config.ts';
import type { Tell } from '../../config/problem.ts';
import type { Catalogue, ToolEntry } from '../../core/call/catalogue.ts';
import { defaultLimits } from '../../core/limits.ts';
import { addedBy, type ExtensionSet } from './extension-set.ts';
import { toolsOfHosted } from './hosted-tools.ts';

export function declareHosted(
  { hosted, runtime }: Pick<Config, 'hosted' | 'runtime'>,
  set: ExtensionSet,
  tell: Tell,
): Catalogue {
  const timeoutMs = runtime.limits.defaultTimeoutMs ?? defaultLimits.defaultTimeoutMs;
  const entries = new Map<string, ToolEntry>();
  for (const each of hosted) {
    const kind = addedBy(set, 'upstreams', each.kind)?.added;
    if (kind === undefined) continue;
    const read = toolsOfHosted(each, kind, timeoutMs);
    if (!read.ok) tell(each.at, read.problem, 'correct the extension');
    if (!read.ok) continue;
    for (const { entry } of read.tools) entries.set(entry.name, entry);
    for (const { match, at } of each.rules)
      if (!read.tools.some(({ own }) => matchesGlob(match, own)))
        tell(
          at,
          `the kind '${each.kind}' has no tool '${match}'`,
          `name one of ${read.tools.map(({ own }) => own).join(', ')}`,
        );
  }
  return entries;
}
