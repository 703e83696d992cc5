/**
 * Finds the rules that can match a tool, in order, up to the first that always matches. Indexed by exact name and
 * first segment, and cached per tool, so rules about other tools cost nothing.
 */
import type { Condition } from './compile-conditions.ts';
import type { WrittenRule } from './policy.ts';
import { matchesTool, type ToolPattern } from './tool-pattern.ts';

export interface CompiledRule {
  /** Counted from 0. */
  readonly index: number;
  readonly written: WrittenRule;
  readonly pattern: ToolPattern;
  /** Null if it always counts. */
  readonly holds: Condition | null;
  /** Whether the condition is the same for every call of a tool. */
  readonly ofTool: boolean;
}

/** `maxKept` names are remembered; rules of others are looked up each time. */
export function createRuleIndex(
  rules: readonly CompiledRule[],
  maxKept: number,
): (tool: string) => readonly CompiledRule[] {
  const exact = new Map<string, CompiledRule[]>();
  const byFirst = new Map<string, CompiledRule[]>();
  const anyFirst: CompiledRule[] = [];
  for (const rule of rules) {
    const { isLiteral, text, segments } = rule.pattern;
    const [first = null] = segments;
    if (isLiteral) add(exact, text, rule);
    else if (first?.length === 1) add(byFirst, first[0] ?? '', rule);
    else anyFirst.push(rule);
  }
  const find = (tool: string): readonly CompiledRule[] => {
    const [first = ''] = tool.split('/', 1);
    const wild = [...(byFirst.get(first) ?? []), ...anyFirst].filter(({ pattern }) => matchesTool(pattern, tool));
    const found = [...(exact.get(tool) ?? []), ...wild].sort((one, other) => one.index - other.index);
    const last = found.findIndex(({ holds }) => holds === null);
    return last < 0 ? found : found.slice(0, last + 1);
  };
  const kept = new Map<string, readonly CompiledRule[]>();
  return (tool) => {
    const known = kept.get(tool);
    if (known !== undefined) return known;
    const found = find(tool);
    if (kept.size < maxKept) kept.set(tool, found);
    return found;
  };
}

function add(map: Map<string, CompiledRule[]>, key: string, rule: CompiledRule): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [rule]);
  else list.push(rule);
}
