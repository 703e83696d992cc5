/** Checks what the keys of an agent mean together. What conditions and costs mean is checked with the policy. */
import { isObject, type JsonObject } from '../core/values/json.ts';
import { mapOf } from './yaml/plain-values.ts';
import type { Tell, Warn } from './problem.ts';
import { hasKey, keyPlaceOf } from './shape/read-shape.ts';
import type { Tree } from './yaml/yaml-tree.ts';

type Path = readonly (string | number)[];

export interface AgentChecks {
  readonly tree: Tree;
  readonly tell: Tell;
  readonly warn: Warn;
}

export function checkAgents(read: JsonObject, checks: AgentChecks): void {
  for (const [name, each] of Object.entries(mapOf(read['agents']))) {
    const agent = mapOf(each);
    const here = ['agents', name];
    if ('approvers' in agent && !defers(agent))
      checks.warn(keyPlaceOf(checks.tree, [...here, 'approvers']), ...nothingDeferred);
    if ('completion' in agent) checkCompletion(mapOf(agent['completion']), [...here, 'completion'], checks);
  }
}

const nothingDeferred = ['approvers: nothing is deferred for this agent', 'leave it out, or write defer'] as const;

/** Whether anything can be deferred for this agent. */
function defers({ default: last, rules, budgets }: JsonObject): boolean {
  return (
    last === 'defer' ||
    (Array.isArray(rules) && rules.some((rule) => isObject(rule) && 'defer' in rule)) ||
    Object.values(mapOf(budgets)).some((budget) => mapOf(budget)['on_exceed'] === 'defer')
  );
}

/** Conditions are read with the policy; here only their presence is checked. */
function checkCompletion(completion: JsonObject, path: Path, { tree, tell }: AgentChecks): void {
  const asks = hasKey(tree, [...path, 'require']);
  if (!asks && !hasKey(tree, [...path, 'condition']))
    tell(keyPlaceOf(tree, path), 'this completion asks for nothing', 'add require, or a condition');
  else if (!asks && 'when' in completion)
    tell(keyPlaceOf(tree, [...path, 'when']), "'when' has no meaning without require", 'add require, or leave it out');
}
