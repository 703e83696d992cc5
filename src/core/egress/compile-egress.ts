/**
 * Compiles what is written about the egress of an agent, or reports every problem: its allow list, and the arguments in
 * which a tool is given URLs. Pure.
 */
import type { PolicyLimits } from '../policy/policy-limits.ts';
import type { AgentEgress, WrittenEgress } from '../policy/policy.ts';
import { compileToolPattern, matchesTool, type ToolPattern } from '../policy/tool-pattern.ts';
import { compileList, readEntry } from './egress-list.ts';
import { type ArgumentPath, readArgumentPath } from './find-urls.ts';

/** `index`: which entry of the allow list; null if it is about `urls`. */
export type TellEgress = (problem: {
  readonly index: number | null;
  readonly message: string;
  readonly fix: string;
}) => void;

export function compileEgress(written: WrittenEgress, limits: PolicyLimits, tell: TellEgress): AgentEgress {
  for (const [index, entry] of written.allow.entries()) {
    const read = readEntry(entry);
    if (!read.ok) tell({ index, message: read.message, fix: read.fix });
  }
  const rules = Object.entries(written.urls).flatMap(([match, paths]) => compileUrls(match, paths, limits, tell));
  return {
    list: compileList(written.allow),
    pathsFor: (tool) => rules.flatMap(({ pattern, paths }) => (matchesTool(pattern, tool) ? paths : [])),
  };
}

interface UrlRule {
  readonly pattern: ToolPattern;
  readonly paths: readonly ArgumentPath[];
}

function compileUrls(
  match: string,
  written: readonly string[],
  limits: PolicyLimits,
  tell: TellEgress,
): readonly UrlRule[] {
  const compiled = compileToolPattern(match, limits);
  if (!compiled.ok) tell({ index: null, message: `urls: '${match}': ${compiled.problem}`, fix: compiled.fix });
  const paths = written.flatMap((text) => {
    const path = readArgumentPath(text);
    const fix = 'write where the URL stands, such as args.url or args.items.*.href';
    if (path === null) tell({ index: null, message: `urls: '${text.slice(0, 80)}' is no path into arguments`, fix });
    return path === null ? [] : [path];
  });
  return compiled.ok ? [{ pattern: compiled.pattern, paths }] : [];
}
