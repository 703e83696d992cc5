/**
 * Binds a workflow to the tools of a gateway: each action gets its effect class, timeout and input rule, from its own
 * declaration or from its tool. The tools must exist. Must not run any code of the author's.
 */
import { canonicalText } from '../../../core/values/canonical.ts';
import type { Catalogue, InputRule, ToolEntry } from '../../../core/call/catalogue.ts';
import type { Json, JsonObject } from '../../../core/values/json.ts';
import { nearest } from '../../../core/values/nearest.ts';
import { reachOf } from '../../../core/policy/policy.ts';
import type { ActionEntry, Workflow } from '../../../core/workflow/workflow.ts';
import { ignoreRejection } from '../../../core/workflow/read/copy-json.ts';
import { sourceOf } from '../../../core/workflow/read/reading.ts';
import type { Validated, Validator } from '../../../ports/validator.ts';
import { type CheckedAction, stageOf } from './check-action.ts';
import { stageTimeoutMs } from '../../../core/workflow/stage-rule.ts';
import type { CheckedWorkflow } from './check-workflow.ts';
import { asJson, judgeArguments } from '../declared-schema.ts';
import { runValidators } from './run-validators.ts';
import { freeze } from '../tool-context.ts';

export interface BindDefaults {
  /** For actions that set no time, in a workflow that sets none. */
  readonly timeoutMs: number;
  /** Asks a tool's own schema where that is code: an action without a schema of its own is judged by its tool's. */
  readonly validate?: Validator['validate'];
  /** Why a tool is not there, where somebody knows better than that its name may be wrong. */
  readonly whyMissing?: (tool: string) => string | null;
}

export type Validate = (action: string, args: Json, context: JsonObject) => Promise<Validated>;

export type Bound =
  | { readonly ok: true; readonly workflow: Workflow; readonly validate: Validate }
  | { readonly ok: false; readonly problems: readonly string[] };

const maxOperationChars = 256;

export function bindWorkflow(checked: CheckedWorkflow, tools: Catalogue, defaults: BindDefaults): Bound {
  const problems: string[] = [];
  const actions = new Map<string, ActionEntry>();
  const judges = new Map<string, (args: unknown) => Promise<Validated>>();
  for (const [name, action] of checked.actions) {
    for (const called of stageOf(action)?.calls ?? [])
      if (!tools.has(called)) problems.push(missing(name, called, tools, defaults));
    const tool = boundTool(action, tools, problems, defaults);
    if (tool === null && action.runs.kind === 'tool') continue;
    const judge = judgeOf(action, tool, defaults);
    if (judge === null) {
      problems.push(`action '${name}': the schema of its tool cannot be asked here; give the action an input schema`);
      continue;
    }
    judges.set(name, judge);
    actions.set(name, entryOf(checked, action, tool, defaults));
  }
  if (problems.length > 0) {
    return { ok: false, problems: problems.map((problem) => `workflow '${checked.name}', ${problem}`) };
  }
  const { name, version, description, machine, graph, projection, refusals, migrations, debugMessages } = checked;
  const workflow: Workflow = Object.freeze({
    name,
    version,
    description,
    machine,
    graph,
    actions,
    catalogue: actions,
    projection,
    refusals,
    migrations,
    debugMessages,
    manifest: manifestOf(checked, actions, tools),
  });
  const validate: Validate = async (action, args, context) => {
    const judge = judges.get(action);
    if (judge === undefined) return unknownAction;
    return runValidators(action, args, context, checked.actions.get(action)?.validators ?? [], judge);
  };
  return { ok: true, workflow, validate };
}

const unknownAction: Validated = {
  ok: false,
  errors: [{ path: '', expected: 'the name of a known action', got: null }],
};

function boundTool(
  { name, runs }: CheckedAction,
  tools: Catalogue,
  problems: string[],
  defaults: BindDefaults,
): ToolEntry | null {
  if (runs.kind === 'body') return null;
  const tool = tools.get(runs.tool);
  if (tool !== undefined) return tool;
  problems.push(missing(name, runs.tool, tools, defaults));
  return null;
}

function missing(action: string, tool: string, tools: Catalogue, { whyMissing }: BindDefaults): string {
  const near = nearest(tool, [...tools.keys()]);
  const hint =
    whyMissing?.(tool) ?? (near === null ? 'register the tool, or correct the name' : `did you mean '${near}'?`);
  return `action '${action}': there is no tool '${tool}'; ${hint}`;
}

/** Null if the rule is code of a tool and nobody can run it. */
function judgeOf(
  { input }: CheckedAction,
  tool: ToolEntry | null,
  { validate }: BindDefaults,
): ((args: unknown) => Promise<Validated>) | null {
  if (input !== null) return (args) => judgeArguments(input, args);
  const rule: InputRule = tool?.input ?? { kind: 'anything' };
  switch (rule.kind) {
    case 'anything':
      return async (args) => asJson(args, 'a validator');
    case 'schema':
      return async (args) => {
        const errors = rule.check(args as Json);
        return errors.length === 0 ? { ok: true, args: args as Json } : { ok: false, errors };
      };
    default:
      if (validate === undefined || tool === null) return null;
      return (args) => validate(tool.name, args as Json, null);
  }
}

/** Its own, its workflow's, or what a step like it has. */
function timeoutOf({ timeoutMs }: CheckedWorkflow, action: CheckedAction, otherwiseMs: number): number {
  return action.timeoutMs ?? timeoutMs ?? (stageOf(action) === null ? otherwiseMs : stageTimeoutMs);
}

function entryOf(
  workflow: CheckedWorkflow,
  action: CheckedAction,
  tool: ToolEntry | null,
  defaults: BindDefaults,
): ActionEntry {
  const { name, input, validators, operationKey } = action;
  const own = tool ?? bodyTool(workflow, action, defaults);
  const operation = tool === null ? own.policyName : tool.name;
  const effectClass = action.effectClass ?? own.effectClass;
  const settled = {
    name,
    effectClass,
    timeoutMs: timeoutOf(workflow, action, own.timeoutMs),
    dedupeWindowMs: action.effectClass === null ? own.dedupeWindowMs : action.dedupeWindowMs,
    invokes: own.invokes,
    boundTool: tool === null ? null : tool.name,
    overlap: action.overlap ?? effectClass === 'pure',
  };
  return Object.freeze({
    ...settled,
    description: action.description || own.description,
    // Without code of the author's, the gate validates by itself.
    input: validators.length > 0 ? ({ kind: 'validator' } as const) : (input?.rule ?? own.input),
    inputSchema: input === null ? own.inputSchema : input.listed,
    listing: null,
    policyName: operation,
    ...declaredAbout(tool),
    reach: own.reach,
    reportsWithinMs: own.reportsWithinMs,
    host: own.host,
    operation: operationKey === null ? operation : null,
    operations: operation,
    operationOf: keyed(operation, operationKey),
    ...(stageOf(action) === null ? {} : { isStage: true as const }),
    manifest: canonicalText(declarationOf(action, settled)),
  });
}

/** What is declared about a tool holds for the actions that are bound to it. */
function declaredAbout(tool: ToolEntry | null): Pick<ToolEntry, 'recovery' | 'credentials' | 'reverse' | 'isReversal'> {
  return {
    ...(tool?.recovery === undefined ? {} : { recovery: tool.recovery }),
    ...(tool?.reverse === undefined ? {} : { reverse: tool.reverse }),
    ...(tool?.isReversal === undefined ? {} : { isReversal: tool.isReversal }),
    ...(tool?.credentials === undefined ? {} : { credentials: tool.credentials }),
  };
}

/** An action that runs a body, described as a tool would be. */
function bodyTool(
  workflow: CheckedWorkflow,
  { name, effectClass: declared }: CheckedAction,
  { timeoutMs }: BindDefaults,
): Omit<ToolEntry, 'name' | 'listing' | 'manifest'> {
  const effectClass = declared ?? 'plain';
  return {
    effectClass,
    timeoutMs,
    dedupeWindowMs: null,
    invokes: bodyName(workflow.name, name),
    description: '',
    input: { kind: 'anything' },
    inputSchema: null,
    policyName: `${workflow.name}/${name}`,
    reach: reachOf(effectClass),
    reportsWithinMs: null,
    host: null,
  };
}

/** Under which name the body of an action is known to the upstream; authors of tools cannot give such a name. */
export function bodyName(workflow: string, action: string): string {
  return `workflow:${workflow}/${action}`;
}

/** Never throws: what cannot say its key is fenced as a whole. So is what writes to the inputs, for they are frozen. */
function keyed(operation: string, operationKey: CheckedAction['operationKey']): (inputs: Json) => string {
  if (operationKey === null) return () => operation;
  return (inputs) => {
    try {
      const key = operationKey(freeze(inputs));
      ignoreRejection(key);
      if (typeof key !== 'string' || key === '' || !key.isWellFormed()) return operation;
      return `${operation}:${key.slice(0, maxOperationChars).toWellFormed()}`;
    } catch {
      return operation;
    }
  };
}

/** What a session is pinned to: a body may be mended under it, what the body promises may not change. */
function declarationOf(action: CheckedAction, settled: Readonly<Record<string, Json>>): JsonObject {
  const { input, output, operationKey, update, validators } = action;
  const stage = stageOf(action);
  return {
    ...settled,
    input: input?.written ?? null,
    output: output?.written ?? null,
    ...(action.runs.kind === 'body' ? { atomic: action.runs.isAtomic } : {}),
    ...(stage === null ? {} : { stage: stage.written }),
    ...(operationKey === null ? {} : { operation_key: sourceOf(operationKey) }),
    ...(update === null ? {} : { update: sourceOf(update) }),
    ...(validators.length === 0 ? {} : { validators: validators.map(sourceOf) }),
  };
}

function manifestOf(checked: CheckedWorkflow, actions: ReadonlyMap<string, ActionEntry>, tools: Catalogue): string {
  const bound = new Set([...actions.values()].flatMap(({ boundTool: name }) => (name === null ? [] : [name])));
  return canonicalText({
    version: checked.version,
    machine: checked.machineWritten,
    actions: Object.fromEntries([...actions].map(([name, { manifest }]) => [name, JSON.parse(manifest)])),
    tools: Object.fromEntries([...bound].map((name) => [name, JSON.parse(tools.get(name)?.manifest ?? 'null')])),
  });
}
