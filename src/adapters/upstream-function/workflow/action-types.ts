/** Types that derive names, inputs and context of actions from a machine and its schemas. Types only. */
import type { EffectClass } from '../../../core/taxonomy.ts';
import type { Migration, Projection } from '../../../core/workflow/workflow.ts';
import type { ActionNames, AnyMachine, ContextOf } from './machine-types.ts';
import type { ValidatorAnswer } from './run-validators.ts';
import type { StageDefinition } from '../stage/stage-types.ts';
import type { InputOf, OutputOf, StandardSchema } from '../standard-schema.ts';
import type { JsonSchema } from '../tool.ts';
import type { ToolContext } from '../tool-context.ts';
import type { PartialResult } from '../tool-failure.ts';

type AnySchema = StandardSchema | JsonSchema;
type Awaitable<Value> = Value | Promise<Value>;

/** What a body gets: the output of a Standard Schema. */
type Given<Schema> = Schema extends StandardSchema ? OutputOf<Schema> : Record<string, unknown>;

/** What a caller writes. */
export type Sent<Schema> = Schema extends StandardSchema ? InputOf<Schema> : Record<string, unknown>;

/** As a method, so that an author without a schema that has types may annotate the inputs. */
interface Annotated<Context, Returned = unknown> {
  run(inputs: Record<string, unknown>, ctx: ToolContext<Readonly<Context>>): Returned;
  validate(inputs: Record<string, unknown>, step: StepFacts<Context>): Awaitable<ValidatorAnswer>;
  key(inputs: Record<string, unknown>): string;
}

/** With an output schema that has a type, what a body returns must fit it, as in tool.ts. */
type Returned<Output> = Output extends StandardSchema
  ? Awaitable<InputOf<Output> | PartialResult<InputOf<Output>>>
  : unknown;

type Run<Schema, Output, Context> = Schema extends StandardSchema
  ? (inputs: OutputOf<Schema>, ctx: ToolContext<Readonly<Context>>) => Returned<Output>
  : Annotated<Context, Returned<Output>>['run'];

export interface StepFacts<Context> {
  /** Where the session stands; frozen. */
  readonly context: Readonly<Context>;
  readonly action: string;
}

type InputValidator<Schema, Context> = Schema extends StandardSchema
  ? (inputs: OutputOf<Schema>, step: StepFacts<Context>) => Awaitable<ValidatorAnswer>
  : Annotated<Context>['validate'];

/** Exactly one of them. */
type Doing<Schema, Output, Context> =
  | {
      readonly run: Run<Schema, Output, Context>;
      readonly tool?: undefined;
      readonly isolate?: true;
      readonly stage?: undefined;
    }
  /** The tool of the gateway that is called instead of a body. */
  | { readonly tool: string; readonly run?: undefined; readonly isolate?: undefined; readonly stage?: undefined }
  /** A module that exports the body. */
  | { readonly isolate: URL; readonly run?: undefined; readonly tool?: undefined; readonly stage?: undefined }
  /** Phases instead of a body. */
  | {
      readonly stage: StageDefinition<Given<Schema>, Context, unknown, Resulting<Output>>;
      readonly run?: undefined;
      readonly tool?: undefined;
      readonly isolate?: undefined;
    };

type ActionDefinition<Schema, Output, Context> = ActionSettings<Schema, Output, Context> &
  Doing<Schema, Output, Context>;

/**
 * What a success of the action has: it is checked and passed on unchanged, so it is the side of the schema that is
 * written.
 */
export type Resulting<Output> = Output extends StandardSchema ? InputOf<Output> : unknown;

interface ActionSettings<Schema, Output, Context> {
  /** What it does, in a sentence. Models choose actions by it. */
  readonly description?: string;
  /** Any object if not given; with `tool`, that tool's own. */
  readonly input?: Schema;
  readonly output?: AnySchema;
  /** 'plain' if not given, or what the tool says. */
  readonly effect?: EffectClass;
  /** For 'keyed': how long the upstream remembers `ctx.idempotency_key`. */
  readonly dedupe_window_seconds?: number;
  readonly timeout_seconds?: number;
  readonly blocking?: false;
  /** A body that throws has had no effect. A timeout still proves nothing. */
  readonly atomic?: boolean;
  /** Whether it may run while an abandoned earlier body of it still runs. Reads may. */
  readonly overlap?: boolean;
  /** What the step is about: a step in doubt fences only steps about the same thing. */
  readonly operation_key?: Schema extends StandardSchema
    ? (inputs: OutputOf<Schema>) => string
    : Annotated<Context>['key'];
  /** After the schema, in order. */
  readonly validators?: readonly InputValidator<Schema, Context>[];
  /** What its success changes in the context, before the actions of the edge that is taken. */
  readonly update?: (step: {
    readonly context: Readonly<Context>;
    readonly inputs: Given<Schema>;
    readonly result: Resulting<Output>;
  }) => Partial<Context>;
}

export type OutputFor<Outputs, Action> = Action extends keyof Outputs ? Outputs[Action] : unknown;

type OneOrMore<Item> = Item | readonly Item[];

export interface MountOptions<Name extends string, Machine extends AnyMachine, Schemas, Outputs> {
  /** The machine's id if not given. */
  readonly name?: Name;
  readonly version?: string;
  readonly description?: string;
  readonly actions: {
    readonly [Action in keyof Schemas]: Action extends ActionNames<Machine>
      ? ActionDefinition<Schemas[Action], OutputFor<Outputs, Action>, ContextOf<Machine>>
      : never;
    // The schemas of results are found beside those of inputs.
  } & { readonly [Action in keyof Outputs]: { readonly output?: Outputs[Action] } };
  /** Before an action's own validators. */
  readonly inputValidators?: {
    readonly [Action in keyof NoInfer<Schemas>]?: OneOrMore<InputValidator<Schemas[Action], ContextOf<Machine>>>;
  };
  /** For actions that set none. */
  readonly actionTimeoutSeconds?: number;
  /** How much of the state a reply shows. */
  readonly state?: Projection;
  readonly refusals?: { readonly sharpen_after?: number; readonly stop_after?: number | null };
  /** By the version they come from. */
  readonly migrations?: Readonly<Record<string, Migration>>;
  /** Messages of the author's code reach agents with their stack. */
  readonly debug_messages?: boolean;
  readonly max_state_bytes?: number;
}
