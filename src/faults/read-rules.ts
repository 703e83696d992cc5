/** Reads rules for faults from YAML or JSON. Total: rules, or every problem with its line and what to write instead. */
import { createProblemList, type Problem, type Tell } from '../config/problem.ts';
import { readShape } from '../config/shape/read-shape.ts';
import { count, type FieldsShape, listOf, text } from '../config/shape/shape.ts';
import { readYaml, type Tree } from '../config/yaml/yaml-tree.ts';
import { defaultSettings, entryOf, type Fault, type FaultName, faultNames, settingShapes } from './fault-table.ts';
import { operationNames, type OperationName } from './operations.ts';

export interface Match {
  readonly operation?: OperationName;
  /** From the nth request on that fits operation and key, counted since the rule was set. */
  readonly nth?: number;
  readonly key?: string;
}

export interface Rule extends Fault {
  readonly match: Match;
  readonly times: number;
}

export const maxRules = 1_000;
const maxTimes = 1_000_000;

const matchShape: FieldsShape = {
  kind: 'fields',
  says: 'which requests',
  fields: {
    operation: { shape: text('operation', { oneOf: operationNames }) },
    nth: { shape: count('from this request on', 1, maxTimes) },
    key: { shape: text('idempotency key') },
  },
};

const ruleShape = (settings: FieldsShape['fields']): FieldsShape => ({
  kind: 'fields',
  says: 'a rule',
  fields: {
    fault: { shape: text('fault', { oneOf: faultNames }), required: true },
    match: { shape: matchShape },
    times: { shape: count('how often', 1, maxTimes) },
    ...settings,
  },
});

export type ReadRules =
  | { readonly ok: true; readonly rules: readonly Rule[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** One rule, or a list of rules. */
export function readRules(source: string, file: string): ReadRules {
  const list = createProblemList(file, source);
  const tree = readYaml(source, file, list.tell);
  if (tree === null && list.problems().length === 0)
    list.tell({ file, line: 1, column: 1 }, 'there is no rule here', 'write fault: drop_after, or a list of such');
  const rules = tree === null ? [] : readTree(tree, list.tell);
  const problems = list.problems();
  return problems.length === 0 ? { ok: true, rules } : { ok: false, problems };
}

function readTree(tree: Tree, tell: Tell): readonly Rule[] {
  if (tree.kind !== 'list') return [readRule(tree, tell)];
  // Reports a list that is too long; its items are read one by one, by the settings of their faults.
  readShape(tree, listOf('rules', { kind: 'json', says: 'a rule', sort: 'anything' }, 1, maxRules), { tell, env: {} });
  return tree.items.map((item) => readRule(item, tell));
}

function readRule(tree: Tree, tell: Tell): Rule {
  const named = withTextName(tree);
  const name = named.kind === 'map' ? scalarOf(named.entries.get('fault')?.value) : undefined;
  const settings = faultNames.includes(name as FaultName) ? entryOf(name as FaultName).settings : [];
  const shapes = Object.fromEntries(settings.map((each) => [each, settingShapes[each]]));
  const read = readShape(named, ruleShape(shapes), { tell, env: {} }) as Partial<Rule> | undefined;
  return { ...defaultSettings, match: {}, times: 1, fault: 'none', ...read };
}

const scalarOf = (tree: Tree | undefined) => (tree?.kind === 'scalar' ? tree.value : undefined);

/** `fault: 429` is a number in YAML, and meant as a name. */
function withTextName(tree: Tree): Tree {
  const entry = tree.kind === 'map' ? tree.entries.get('fault') : undefined;
  if (tree.kind !== 'map' || entry?.value.kind !== 'scalar' || typeof entry.value.value !== 'number') return tree;
  const value = { ...entry.value, value: String(entry.value.value) };
  return { ...tree, entries: new Map([...tree.entries, ['fault', { ...entry, value }]]) };
}
