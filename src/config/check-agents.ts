/** Checks agents against the rest of the configuration, including expressions that nothing evaluates yet. */
import type { CelFieldType } from '../core/cel/check-types.ts';
import { compileCel } from '../core/cel/compile-cel.ts';
import { isObject, type JsonObject } from '../core/values/json.ts';
import { mapOf, textOf } from './yaml/plain-values.ts';
import type { Tell, Warn } from './problem.ts';
import { findScalar, hasKey, keyPlaceOf, placeOf } from './shape/read-shape.ts';
import type { Tree } from './yaml/yaml-tree.ts';

type Path = readonly (string | number)[];

const anything: CelFieldType = 'dyn';
const variables = ['args', 'agent', 'principal', 'session', 'state', 'tool', 'model', 'host', 'now'] as const;

export interface AgentChecks {
  readonly tree: Tree;
  readonly tell: Tell;
  readonly warn: Warn;
}

export function checkAgents(read: JsonObject, checks: AgentChecks): void {
  for (const [name, each] of Object.entries(mapOf(read['agents']))) {
    const agent = mapOf(each);
    const here = ['agents', name];
    for (const [budget, { cost = undefined }] of Object.entries(mapOf(agent['budgets'])).filter(isMapEntry))
      checkFormula(textOf(cost), [...here, 'budgets', budget, 'cost'], checks);
    if ('approvers' in agent && !defers(agent))
      checks.warn(keyPlaceOf(checks.tree, [...here, 'approvers']), ...nothingDeferred);
    if ('completion' in agent) checkCompletion(mapOf(agent['completion']), [...here, 'completion'], checks);
  }
}

const isMapEntry = (entry: [string, unknown]): entry is [string, JsonObject] => isObject(entry[1]);

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

function checkFormula(text: string | null, path: Path, { tree, tell }: AgentChecks): void {
  if (text === null) return;
  const compiled = compileCel(text, { variables: Object.fromEntries(variables.map((name) => [name, anything])) });
  if (compiled.ok) return;
  const inside = compiled.at === undefined ? undefined : findScalar(tree, path)?.inside(compiled.at);
  const fix = `write an expression over ${variables.join(', ')}`;
  tell(inside ?? placeOf(tree, path), `this expression is wrong: ${compiled.problem}`, fix);
}
