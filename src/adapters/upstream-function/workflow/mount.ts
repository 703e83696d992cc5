/**
 * The public way to serve an XState machine: its events are actions, and each action has a body or a tool. Names,
 * inputs and context are typed by the machine and the schemas. What could not be served safely is refused at once.
 */
import type { AnyStateMachine } from 'xstate';
import type { Catalogue } from '../../../core/call/catalogue.ts';
import type { Json, JsonObject } from '../../../core/values/json.ts';
import type { WorkflowGraph } from '../../../core/workflow/graph.ts';
import type { Validated } from '../../../ports/validator.ts';
import type { MountOptions, OutputFor, Resulting, Sent } from './action-types.ts';
import { bindWorkflow, bodyName, type BindDefaults, type Bound, type Validate } from './bind-workflow.ts';
import { checkWorkflow, type CheckedWorkflow } from './check-workflow.ts';
import { declareSchema } from '../declared-schema.ts';
import type { ActionNames, AnyMachine, IdOf } from './machine-types.ts';
import { asTool, type Tool } from '../tool.ts';

export { WorkflowDefinitionError } from './check-workflow.ts';

/** Only for the compiler. */
declare const types: unique symbol;

export interface MountedWorkflow<
  Name extends string = string,
  Inputs extends object = Record<string, unknown>,
  Results extends object = Record<string, unknown>,
> {
  readonly [types]?: { readonly inputs: Inputs; readonly results: Results };
  readonly name: Name;
  readonly version: string;
  readonly description: string;
  /** In the order of declaration. */
  readonly actions: readonly string[];
  /** For drawings and checks, which need no gateway. */
  readonly graph: WorkflowGraph;
  /** What the upstream for functions runs: a tool for each action that has a body. */
  readonly bodies: readonly Tool[];
  /** Gives the actions the tools they are bound to. Problems name the action and what to do. */
  bind(tools: Catalogue, defaults: BindDefaults): Bound;
  /** Schema and validators of an action, as it was bound last. Never rejects. */
  validate(action: string, inputs: Json, context: JsonObject): Promise<Validated>;
}

/** The names of a workflow's actions. */
export type ActionsOf<Workflow extends MountedWorkflow> = string & keyof NonNullable<Workflow[typeof types]>['inputs'];

/** What a caller of an action writes. */
export type InputsOf<Workflow extends MountedWorkflow, Action extends ActionsOf<Workflow>> = NonNullable<
  Workflow[typeof types]
>['inputs'][Action];

/** What a success of an action carries as its `result`; unknown without an output schema that has a type. */
export type ResultsOf<Workflow extends MountedWorkflow, Action extends ActionsOf<Workflow>> = NonNullable<
  Workflow[typeof types]
>['results'][Action];

export function mount<
  Machine extends AnyMachine,
  Schemas extends Record<ActionNames<Machine>, unknown>,
  Outputs = unknown,
  const Name extends string = IdOf<Machine>,
>(
  machine: Machine,
  options: MountOptions<Name, Machine, Schemas, Outputs>,
): MountedWorkflow<
  Name,
  { readonly [Action in keyof Schemas]: Sent<Schemas[Action]> },
  { readonly [Action in keyof Schemas]: Resulting<OutputFor<Outputs, Action>> }
> {
  const checked = checkWorkflow(machine as unknown as AnyStateMachine, options);
  let validate: Validate | null = null;
  return Object.freeze({
    name: checked.name as Name,
    version: checked.version,
    description: checked.description,
    actions: Object.freeze([...checked.actions.keys()]),
    graph: checked.graph,
    bodies: bodiesOf(checked),
    bind(tools: Catalogue, defaults: BindDefaults) {
      const bound = bindWorkflow(checked, tools, defaults);
      if (bound.ok) ({ validate } = bound);
      return bound;
    },
    validate: async (action: string, inputs: Json, context: JsonObject) =>
      validate === null ? notBound(checked.name) : validate(action, inputs, context),
  });
}

function notBound(name: string): Validated {
  const expected = `inputs for a workflow that is served; '${name}' is not bound to the tools of a gateway`;
  return { ok: false, errors: [{ path: '', expected, got: null }] };
}

/** Inputs were validated before, by the action's own rule. */
const anything = declareSchema({});

function bodiesOf(workflow: CheckedWorkflow): readonly Tool[] {
  return [...workflow.actions.values()].flatMap((action) => {
    const { runs, name, description, effectClass, dedupeWindowMs, output } = action;
    if (runs.kind === 'tool' || !anything.ok) return [];
    const found = {
      name: bodyName(workflow.name, name),
      description,
      effectClass: effectClass ?? 'plain',
      timeoutMs: action.timeoutMs ?? workflow.timeoutMs,
      dedupeWindowMs,
      reportsWithinMs: null,
      reach: null,
      input: anything.declared,
      output,
      body: runs.body,
      throwProvesNone: runs.throwProvesNone,
    };
    return [asTool(found)];
  });
}
