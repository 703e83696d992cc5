/**
 * Reads the agents of a configuration into a policy that can be compiled, with the place of each part. A rule over
 * several tools becomes several rules. Invalid rules have been reported and are left out.
 */
import type { Json, JsonObject } from '../core/values/json.ts';
import {
  completionParts,
  type PolicyProblem,
  type Reach,
  type RuleEffect,
  ruleEffects,
  type WrittenAgent,
  type WrittenCompletion,
  type WrittenEgress,
  type WrittenPolicy,
  type WrittenRule,
} from '../core/policy/policy.ts';
import { readQuotas } from './read-quotas.ts';
import { deferKeys, ruleShape } from './shape/agent-shape.ts';
import type { AgentConfig, RuntimeConfig } from './config.ts';
import { itemsOf, mapOf, textOf, numberOf } from './yaml/plain-values.ts';
import { type Place, refsBeside, type Tell } from './problem.ts';
import { findScalar, hasKey, keyPlaceOf, placeOf, readShape } from './shape/read-shape.ts';
import type { Tree } from './yaml/yaml-tree.ts';
import { type ApprovalTerms, defaultTerms } from '../core/approval/approval.ts';

export interface ReadPolicy {
  /** Null without the key `agents`. */
  readonly policy: WrittenPolicy | null;
  readonly agents: readonly AgentConfig[];
  /** The place of what a problem is about. */
  readonly placeOfProblem: (problem: PolicyProblem) => Place;
}

interface PlacedRule {
  readonly written: WrittenRule;
  /** The rule, and the path from it to its tool. */
  readonly tree: Tree;
  readonly path: readonly (string | number)[];
}

interface PlacedAgent {
  readonly written: WrittenAgent;
  readonly tree: Tree;
  readonly rules: readonly PlacedRule[];
}

export function readPolicy(
  read: JsonObject,
  tree: Tree,
  mode: RuntimeConfig['mode'],
  { tell, file }: { readonly tell: Tell; readonly file: string },
): ReadPolicy {
  const refOf = refsBeside(file);
  const entry = tree.kind === 'map' ? tree.entries.get('agents') : undefined;
  const all = mapOf(read['agents']);
  const placed = new Map<string, PlacedAgent>();
  const agents: AgentConfig[] = [];
  if (entry?.value.kind === 'map')
    for (const [name, { keyAt, value }] of entry.value.entries) {
      if (!Object.hasOwn(all, name)) continue;
      const written = mapOf(all[name]);
      placed.set(name, readAgent(name, keyAt, written, value, { tell, refOf }));
      agents.push({ name, at: keyAt, written });
    }
  const written = [...placed.values()].map((each) => each.written);
  const shared = readQuotas(tree, 'tenant', { tell, refOf });
  if (entry === undefined)
    for (const key of Object.keys(shared))
      tell(keyPlaceOf(tree, [key]), `${key} are of agents, and none is declared`, 'declare the agents under agents');
  return {
    policy:
      entry === undefined
        ? null
        : { mode, ref: refOf(entry.keyAt), agents: written, ...rolesIn(read, tree), ...shared },
    agents,
    placeOfProblem: (problem) => {
      const agent = placed.get(problem.agent);
      if (problem.field === 'limits' || problem.field === 'budgets') return placeOfQuota(problem, agent?.tree ?? tree);
      return placeOfProblem(problem, agent, entry?.keyAt ?? tree.at);
    },
  };
}

/** The people of each role. A role whose people are invalid exists and is empty. */
function rolesIn(read: JsonObject, tree: Tree): Pick<WrittenPolicy, 'roles'> {
  const written = tree.kind === 'map' ? tree.entries.get('roles')?.value : undefined;
  if (written?.kind !== 'map' || written.entries.size === 0) return {};
  const people = mapOf(read['roles']);
  const roles = [...written.entries.keys()].map((role) => [role, itemsOf(people[role])] as const);
  return { roles: Object.fromEntries(roles) };
}

interface Parts {
  readonly tell: Tell;
  readonly refOf: (place: Place) => string;
}

function readAgent(name: string, at: Place, read: JsonObject, tree: Tree, { tell, refOf }: Parts): PlacedAgent {
  const refTo = (key: string) => refOf(keyPlaceOf(tree, [key]));
  const effect = textOf(read['default']) as RuleEffect | null;
  const reach = textOf(read['mode']) as Reach | null;
  const roles = 'approvers' in read ? itemsOf(read['approvers']) : null;
  const rules = itemsIn(tree, 'rules').flatMap((each) => readRule(each, roles, { tell, refOf }));
  const written: WrittenAgent = {
    agent: name,
    ref: refOf(at),
    default:
      effect === null
        ? null
        : { effect, ref: refTo('default'), ...(effect === 'defer' ? { terms: readTerms(roles) } : {}) },
    rules: rules.map((each) => each.written),
    ceiling: reach === null ? null : { reach, ref: refTo('mode') },
    models:
      'model_policy' in read
        ? { allow: itemsOf(mapOf(read['model_policy'])['allow']), ref: refTo('model_policy') }
        : null,
    redact: itemsOf(read['redact']),
    ...('egress' in read ? { egress: readEgress(mapOf(read['egress']), refTo('egress')) } : {}),
    ...('completion' in read ? { completion: readCompletion(mapOf(read['completion']), refTo('completion')) } : {}),
    ...readQuotas(tree, 'agent', { tell, refOf }),
  };
  return { written, tree, rules };
}

const readEgress = (read: JsonObject, ref: string): WrittenEgress => ({
  allow: itemsOf(read['allow']),
  urls: Object.fromEntries(Object.entries(mapOf(read['urls'])).map(([match, paths]) => [match, itemsOf(paths)])),
  ref,
});

const readCompletion = (read: JsonObject, ref: string): WrittenCompletion => ({
  require: itemsOf(read['require']),
  when: textOf(read['when']),
  condition: textOf(read['condition']),
  ref,
});

function readRule(tree: Tree, roles: ApprovalTerms['roles'], { tell, refOf }: Parts): readonly PlacedRule[] {
  let isWhole = true;
  const notice = () => void (isWhole = false);
  // Its problems have been reported; here only their presence matters.
  const rule = mapOf(readShape(tree, ruleShape, { tell: notice, env: undefined }));
  const effect = ruleEffects.find((each) => each in rule);
  if (!isWhole || effect === undefined) return [];
  for (const key of effect === 'defer' ? [] : deferKeys)
    if (key in rule)
      tell(keyPlaceOf(tree, [key]), `'${key}' has no meaning with ${effect}`, `leave it out, or write defer`);
  const tools: Json = rule[effect] ?? [];
  const matches = typeof tools === 'string' ? [[tools, [effect]] as const] : itemsOf(tools).map(place(effect));
  const shared = { effect, when: textOf(rule['when']), reason: textOf(rule['reason']), ref: refOf(tree.at) };
  const terms = effect === 'defer' ? { terms: readTerms(roles, rule) } : {};
  return matches.map(([match, path]) => ({ written: { ...shared, match, ...terms }, tree, path }));
}

const place =
  (effect: RuleEffect) =>
  (match: string, index: number): readonly [string, readonly (string | number)[]] => [match, [effect, index]];

function placeOfProblem(problem: PolicyProblem, agent: PlacedAgent | undefined, around: Place): Place {
  const { rule, field, index, at } = problem;
  if (agent === undefined) return around;
  const placed = rule === null ? undefined : agent.rules[rule];
  if (placed !== undefined && field === 'match') return placeOf(placed.tree, placed.path);
  if (placed !== undefined && field === 'when') return placeInside(placed.tree, ['when'], at);
  if (field === 'approvers' || field === 'needs' || field === 'expires')
    return placeOfTerm(field, index, agent.tree, placed?.tree);
  if (field === 'completion') return placeOfCompletion(problem, agent.tree);
  const path = field === 'models' ? ['model_policy', 'allow'] : field === 'egress' ? ['egress', 'allow'] : [field];
  return index === undefined ? keyPlaceOf(agent.tree, path.slice(0, 1)) : placeOf(agent.tree, [...path, index]);
}

function placeOfQuota({ field, budget, part = 'cost', index, at }: PolicyProblem, tree: Tree): Place {
  if (budget === undefined) return placeOf(tree, index === undefined ? [field] : [field, index]);
  const path = ['budgets', budget, part];
  return hasKey(tree, path) ? placeInside(tree, path, at) : keyPlaceOf(tree, ['budgets', budget]);
}

/** In the rule if it has the key, or else in its agent. */
function placeOfTerm(field: string, index: number | undefined, agent: Tree, rule: Tree | undefined): Place {
  const tree = [rule, agent].find((each) => each !== undefined && hasKey(each, [field]));
  if (tree === undefined) return rule?.at ?? keyPlaceOf(agent, ['default']);
  return index === undefined ? keyPlaceOf(tree, [field]) : placeOf(tree, [field, index]);
}

/** A problem of a completion is about one of its conditions, given by `index`. */
function placeOfCompletion({ index, at }: PolicyProblem, tree: Tree): Place {
  const part = index === undefined ? undefined : completionParts[index];
  if (part === undefined) return keyPlaceOf(tree, ['completion']);
  return placeInside(tree, ['completion', part], at);
}

function placeInside(tree: Tree, path: readonly string[], at: PolicyProblem['at']): Place {
  return (at === undefined ? undefined : findScalar(tree, path)?.inside(at)) ?? placeOf(tree, path);
}

function itemsIn(tree: Tree, key: string): readonly Tree[] {
  const list = tree.kind === 'map' ? tree.entries.get(key)?.value : undefined;
  return list?.kind === 'list' ? list.items : [];
}

/** The approval terms of a rule that defers; what it leaves out comes from its agent, then from the defaults. */
export function readTerms(roles: ApprovalTerms['roles'], rule: JsonObject = {}): ApprovalTerms {
  return {
    roles: 'approvers' in rule ? itemsOf(rule['approvers']) : roles,
    needed: numberOf(rule['needs']) ?? defaultTerms.needed,
    expiresMs: numberOf(rule['expires']) ?? defaultTerms.expiresMs,
    onApprove: textOf(rule['on_approve']) === 'run' ? 'run' : defaultTerms.onApprove,
    clientMayApprove: rule['client_may_approve'] === true,
  };
}
