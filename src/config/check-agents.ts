/** Does what is written about agents fit the rest of the configuration? Formulas that nothing evaluates yet are read as well. */
import type { CelFieldType } from '../core/cel/check-types.ts';
import { compileCel } from '../core/cel/compile-cel.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { nearest } from '../core/nearest.ts';
import { mapOf, textOf } from './plain-values.ts';
import type { Tell, Warn } from './problem.ts';
import { findScalar, placeOf } from './read-shape.ts';
import type { Tree } from './yaml-tree.ts';

type Path = readonly (string | number)[];

const anything: CelFieldType = 'dyn';
const variables = ['args', 'agent', 'principal', 'session', 'state', 'tool', 'model', 'host', 'now'] as const;

export interface AgentChecks {
  readonly tree: Tree;
  readonly tell: Tell;
  readonly warn: Warn;
}

export function checkAgents(read: JsonObject, checks: AgentChecks): void {
  const roles = Object.keys(mapOf(read['roles']));
  for (const [name, each] of Object.entries(mapOf(read['agents']))) {
    const agent = mapOf(each);
    const here = ['agents', name];
    for (const [budget, { cost = undefined }] of Object.entries(mapOf(agent['budgets'])).filter(isMapEntry))
      checkFormula(textOf(cost), [...here, 'budgets', budget, 'cost'], checks);
    checkFormula(textOf(mapOf(agent['completion'])['when']), [...here, 'completion', 'when'], checks);
    warnUnknownRoles(roles, [...here, 'approvers'], checks);
    const rules = subtreeAt(checks.tree, [...here, 'rules']);
    for (const index of rules?.kind === 'list' ? rules.items.keys() : [])
      warnUnknownRoles(roles, [...here, 'rules', index, 'approvers'], checks);
  }
}

const isMapEntry = (entry: [string, unknown]): entry is [string, JsonObject] => isObject(entry[1]);

function checkFormula(text: string | null, path: Path, { tree, tell }: AgentChecks): void {
  if (text === null) return;
  const compiled = compileCel(text, { variables: Object.fromEntries(variables.map((name) => [name, anything])) });
  if (compiled.ok) return;
  const inside = compiled.at === undefined ? undefined : findScalar(tree, path)?.inside(compiled.at);
  const fix = `write an expression over ${variables.join(', ')}`;
  tell(inside ?? placeOf(tree, path), `this expression is wrong: ${compiled.problem}`, fix);
}

/** A role without people is no mistake of the shape; it only means that nobody could approve. */
function warnUnknownRoles(roles: readonly string[], path: Path, { tree, warn }: AgentChecks): void {
  const list = subtreeAt(tree, path);
  for (const item of list?.kind === 'list' ? list.items : []) {
    if (item.kind !== 'scalar' || typeof item.value !== 'string' || roles.includes(item.value)) continue;
    const near = nearest(item.value, roles);
    const fix = near === null ? `add ${item.value} under roles, with its people` : `did you mean ${near}?`;
    warn(item.at, `there is no role '${item.value}' under roles: nobody could approve`, fix);
  }
}

function subtreeAt(tree: Tree, path: Path): Tree | undefined {
  let here: Tree | undefined = tree;
  for (const step of path) {
    if (here?.kind === 'map') here = here.entries.get(String(step))?.value;
    else here = here?.kind === 'list' ? here.items[Number(step)] : undefined;
  }
  return here;
}
