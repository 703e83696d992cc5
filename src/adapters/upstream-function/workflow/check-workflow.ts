/**
 * Checks a machine and its actions before they are mounted, and collects every problem so that an author can fix all
 * at once. Must not run any code of the author's, except to check that the machine can start.
 */
import type { AnyStateMachine } from 'xstate';
import { isObject, type JsonObject } from '../../../core/values/json.ts';
import { compileMachine, defaultMaxStateBytes } from '../../../core/workflow/compile-machine.ts';
import { nearest } from '../../../core/values/nearest.ts';
import { failedOutcome, outcomeEvent } from '../../../core/workflow/step-error.ts';
import type { WorkflowGraph } from '../../../core/workflow/graph.ts';
import type { Machine, Migration, Projection, RefusalRules } from '../../../core/workflow/workflow.ts';
import { checkAction, outcomesOf, stageOf, unknownKey, validatorsOf, type CheckedAction } from './check-action.ts';
import { timeoutOf, ToolDefinitionError, type Loose } from '../check-definition.ts';
import { messageOf } from '../describe-throw.ts';
import type { AnyValidator } from './run-validators.ts';

export interface CheckedWorkflow {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly machine: Machine;
  readonly graph: WorkflowGraph;
  readonly machineWritten: JsonObject;
  /** In the order of declaration; validators of the workflow stand before an action's own. */
  readonly actions: ReadonlyMap<string, CheckedAction>;
  /** For actions that set none. */
  readonly timeoutMs: number | null;
  readonly projection: Projection;
  readonly refusals: RefusalRules;
  readonly migrations: ReadonlyMap<string, Migration>;
  readonly debugMessages: boolean;
}

const knownKeys = [
  'name',
  'version',
  'description',
  'actions',
  'inputValidators',
  'actionTimeoutSeconds',
  'state',
  'refusals',
  'migrations',
  'debug_messages',
  'max_state_bytes',
];
const defaultRefusals: RefusalRules = { sharpenAfter: 3, stopAfter: 100 };
const maxStateBytes = 4 << 20;
const maxVersionChars = 64;

export function checkWorkflow(machine: AnyStateMachine, options: unknown): CheckedWorkflow {
  const problems: string[] = [];
  const routes = new Map<string, readonly string[]>();
  let name = '?';
  try {
    if (!isObject(options))
      throw new TypeError('its options are not an object; write mount(machine, { actions: { … } })');
    name = nameOf(options['name'] ?? machine?.id, problems);
    const checked = check(name, machine, options, problems, routes);
    if (checked !== null && problems.length === 0) return checked;
  } catch (thrown) {
    problems.push(messageOf(thrown));
  }
  throw new WorkflowDefinitionError(name, problems, routes);
}

function nameOf(name: unknown, problems: string[]): string {
  if (typeof name === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(name)) return name;
  const fix = "give one: mount(machine, { name: 'coffee', … }), of 1 to 64 letters, digits, _ or -";
  problems.push(`its name ${typeof name === 'string' ? `'${name.slice(0, 64)}' ` : ''}is not usable; ${fix}`);
  return typeof name === 'string' ? name : '?';
}

function check(
  name: string,
  machine: AnyStateMachine,
  given: Loose,
  problems: string[],
  routes: Map<string, readonly string[]>,
): CheckedWorkflow | null {
  for (const key of Object.keys(given)) if (!knownKeys.includes(key)) problems.push(unknownKey(key, knownKeys));
  const actions = actionsOf(given, problems);
  const stateBytes = stateBytesOf(given, problems);
  // An action that could not be read has its name all the same: the machine is judged with all of them.
  const updates = new Map([...actions].map(([action, found]) => [action, (found?.update ?? null) as never]));
  const compiled = compileMachine(machine, {
    name,
    actions: updates,
    outcomes: new Map([...actions].map(([action, one]) => [action, outcomesOf(one)])),
    maxStateBytes: stateBytes,
  });
  if (!compiled.ok) {
    problems.push(...compiled.problems);
    for (const [problem, route] of compiled.routes ?? []) routes.set(problem, route);
  }
  const rest = {
    version: textOf(given, 'version', machine?.version ?? '1', maxVersionChars, problems),
    description: textOf(given, 'description', machine?.config?.description ?? '', 4_000, problems),
    timeoutMs: workflowTimeout(name, given, problems),
    projection: projectionOf(given['state'], compiled.ok ? compiled.machine : null, problems),
    refusals: refusalsOf(given['refusals'], problems),
    migrations: migrationsOf(given['migrations'], problems),
    debugMessages: debugMessagesOf(given['debug_messages'], problems),
  };
  if (compiled.ok) problems.push(...stagesWithoutEdges(actions, compiled.graph));
  const found = [...actions].flatMap(([action, one]) => (one === null ? [] : [[action, one] as const]));
  if (!compiled.ok) return null;
  const { graph, written } = compiled;
  return { name, machine: compiled.machine, graph, machineWritten: written, actions: new Map(found), ...rest };
}

/** What a stage may end as has an edge somewhere, or it leads nowhere. */
function stagesWithoutEdges(
  actions: ReadonlyMap<string, CheckedAction | null>,
  { edges }: WorkflowGraph,
): readonly string[] {
  const heard = new Set(edges.flatMap(({ kind, action }) => (kind === 'outcome' ? [action] : [])));
  return [...actions].flatMap(([name, action]) => {
    const own = action === null || stageOf(action) === null ? [] : outcomesOf(action);
    const missing = own.filter((outcome) => outcome !== failedOutcome && !heard.has(outcomeEvent(name, outcome)));
    return missing.map(
      (outcome) =>
        `action '${name}': its stage may end as '${outcome}', and no state has an edge '${outcomeEvent(name, outcome)}'`,
    );
  });
}

function stateBytesOf(given: Loose, problems: string[]): number {
  const bytes = given['max_state_bytes'] ?? defaultMaxStateBytes;
  if (isCount(bytes, 1_024, maxStateBytes)) return bytes;
  problems.push(`its max_state_bytes is not usable; use a number from 1024 to ${maxStateBytes}`);
  return defaultMaxStateBytes;
}

function debugMessagesOf(given: unknown, problems: string[]): boolean {
  if (given !== undefined && typeof given !== 'boolean') problems.push('its debug_messages is neither true nor false');
  return given === true;
}

function actionsOf(given: Loose, problems: string[]): ReadonlyMap<string, CheckedAction | null> {
  const { actions, inputValidators } = given;
  if (!isObject(actions)) {
    problems.push('it has no actions; write actions: { name: { input, run } }');
    return new Map();
  }
  const checked = new Map<string, CheckedAction | null>();
  for (const [name, definition] of Object.entries(actions)) {
    checked.set(
      name,
      checkAction(name, definition, (problem) => problems.push(`action '${name}': ${problem}`)),
    );
  }
  if (inputValidators !== undefined && !isObject(inputValidators)) {
    problems.push('its inputValidators are not an object; write inputValidators: { action: (inputs) => … }');
  }
  for (const [name, validators] of isObject(inputValidators) ? Object.entries(inputValidators) : []) {
    if (!checked.has(name)) problems.push(`inputValidators: there is no action '${name}'`);
    const first: readonly AnyValidator[] = validatorsOf(validators, (problem) =>
      problems.push(`inputValidators of '${name}': ${problem}`),
    );
    const action = checked.get(name);
    if (action) checked.set(name, { ...action, validators: [...first, ...action.validators] });
  }
  return checked;
}

function textOf(given: Loose, key: string, otherwise: unknown, max: number, problems: string[]): string {
  const text = given[key] ?? otherwise;
  if (typeof text === 'string' && text.length <= max && text.isWellFormed()) return text;
  problems.push(`its ${key} is not a text of at most ${max} characters`);
  return '';
}

function workflowTimeout(name: string, given: Loose, problems: string[]): number | null {
  try {
    return timeoutOf(name, given, 'actionTimeoutSeconds');
  } catch (thrown) {
    problems.push(thrown instanceof ToolDefinitionError ? thrown.problem : messageOf(thrown));
    return null;
  }
}

/** Fields are those of the context that the machine begins with. */
function projectionOf(state: unknown, machine: Machine | null, problems: string[]): Projection {
  if (state === undefined) return 'full';
  if (state === 'full' || state === 'none') return state;
  if (Array.isArray(state) && state.every((field) => typeof field === 'string')) {
    const started = machine?.start(0);
    const fields = started?.kind === 'moved' ? Object.keys(started.snapshot.context) : state;
    for (const field of state) if (!fields.includes(field)) problems.push(noField(field, fields));
    return Object.freeze([...state]);
  }
  problems.push("its state is not usable; use 'full', 'none', or a list of fields of the context");
  return 'full';
}

function noField(field: string, fields: readonly string[]): string {
  const near = nearest(field, fields);
  const use = fields.length === 0 ? 'it has none' : `it has ${fields.join(', ')}`;
  const fix =
    near === null ? `${use}; give the field a first value in the context, or leave it out` : `did you mean '${near}'?`;
  return `its state names '${field.slice(0, 80)}', which the context of the machine does not have; ${fix}`;
}

function refusalsOf(refusals: unknown, problems: string[]): RefusalRules {
  if (refusals === undefined) return defaultRefusals;
  if (!isObject(refusals)) {
    problems.push('its refusals are not an object; write refusals: { sharpen_after: 3, stop_after: 100 }');
    return defaultRefusals;
  }
  const known = ['sharpen_after', 'stop_after'];
  for (const key of Object.keys(refusals)) if (!known.includes(key)) problems.push(unknownKey(key, known));
  const { sharpen_after: sharpen = defaultRefusals.sharpenAfter, stop_after: stop = defaultRefusals.stopAfter } =
    refusals;
  const isUsable = isCount(sharpen, 1, 1_000_000) && (stop === null || isCount(stop, 1, 1_000_000));
  if (isUsable) return { sharpenAfter: sharpen, stopAfter: stop };
  problems.push('its refusals are not usable; use whole numbers from 1, or null for stop_after');
  return defaultRefusals;
}

function migrationsOf(migrations: unknown, problems: string[]): ReadonlyMap<string, Migration> {
  if (migrations === undefined) return new Map();
  const entries = isObject(migrations) ? Object.entries(migrations) : null;
  if (entries !== null && entries.every(([, migrate]) => typeof migrate === 'function')) {
    return new Map(entries as (readonly [string, Migration])[]);
  }
  problems.push(
    "its migrations are not usable; write migrations: { '1': ({ value, context }) => ({ value, context }) }",
  );
  return new Map();
}

function isCount(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

export class WorkflowDefinitionError extends Error {
  override name = 'WorkflowDefinitionError';
  /** Each names its place and what to do. */
  readonly problems: readonly string[];
  /** By problem, where it has one: the names from the root down to the state that it is about. */
  readonly routes: ReadonlyMap<string, readonly string[]>;

  constructor(
    workflow: string,
    problems: readonly string[],
    routes: ReadonlyMap<string, readonly string[]> = new Map(),
  ) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
    super(`workflow '${workflow.slice(0, 64)}' has ${count}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
    this.routes = routes;
  }
}
