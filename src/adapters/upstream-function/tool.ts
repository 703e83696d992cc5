/**
 * The public way to define a tool as a function. Types flow from the schemas to `args` and the result; with a plain
 * JSON Schema the author annotates `args`. A definition that could not run safely is refused at once.
 */
import type { Reach } from '../../core/policy/policy.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import { checkDefinition, type CheckedTool, type LocalBody } from './check-definition.ts';
import type { InputOf, OutputOf, StandardSchema } from './standard-schema.ts';
import type { WrittenPartial } from './declared-partial.ts';
import type { WrittenRead, WrittenReconcile, WrittenRetry, WrittenReverse } from './declared-recovery.ts';
import type { ToolContext } from './tool-context.ts';
import type { PartialResult } from './tool-failure.ts';

/** A JSON Schema object. `~standard` marks a Standard Schema. */
export interface JsonSchema {
  readonly '~standard'?: never;
  readonly [keyword: string]: unknown;
}

type AnySchema = StandardSchema | JsonSchema;

/** What `run` gets: the output of a Standard Schema, or the annotated type. */
type ArgsFor<Input, Annotated> = Input extends StandardSchema ? OutputOf<Input> : Annotated;

type SentFor<Input, Annotated> = Input extends StandardSchema ? InputOf<Input> : Annotated;

type Awaitable<Value> = Value | Promise<Value>;

/**
 * What `run` is. With an output schema that has a type, what it returns must fit: it is checked and passed on
 * unchanged, so it is the side of the schema that is written. As a conditional type it lets the compiler keep literals
 * ('a' | 'b').
 */
type RunFor<Args, Output, Returned> = Output extends StandardSchema
  ? (args: Args, ctx: ToolContext) => Awaitable<InputOf<Output> | PartialResult<InputOf<Output>>>
  : (args: Args, ctx: ToolContext) => Returned;

/** The payload of what `run` returns. */
type ResultFor<Output, Returned> = Output extends StandardSchema ? InputOf<Output> : Payload<Awaited<Returned>>;

type Payload<Value> = Value extends PartialResult<infer Result> ? Result : Value;

/** What is said of a tool, whatever it runs. */
export interface DescribedTool<Name extends string, Input, Output> {
  readonly name: Name;
  /** What it does, in a sentence. Models choose tools by it. */
  readonly description?: string;
  readonly input: Input;
  readonly output?: Output;
  /** 'plain' if not given: a write that nobody can deduplicate or ask about. */
  readonly effect?: EffectClass;
  /** For 'keyed': how long the upstream remembers `ctx.idempotency_key`. */
  readonly dedupe_window_seconds?: number;
  readonly timeout_seconds?: number;
  /** For a tool that answers at once and goes on working: by when it must report with `recourse/tasks/complete`. */
  readonly reports_within_seconds?: number;
  /** How far a call can reach, for ceilings: 'read_only' if pure, else 'destructive', if not given. */
  readonly reach?: Reach;
  /** When it is sent again after a failure, in place of what the playbook says. */
  readonly retry?: WrittenRetry;
  /** The read that tells whether a call in doubt took effect. */
  readonly reconcile?: WrittenReconcile;
  /** How long after a doubt it may still be carried out: a read that finds nothing counts only after it. */
  readonly quarantine_seconds?: number;
  /** Calls with the same key are the same operation: one in doubt fences the others of its session. */
  readonly operation_key?: (args: never) => string;
  /** How its partial results are read, and whether failed items are sent again. */
  readonly partial?: WrittenPartial;
  /** The reads that its calls rely on: the gateway makes them, for the agent, before each call. */
  readonly evidence?: readonly WrittenRead[];
  /** How a call of it is undone. */
  readonly reverse?: WrittenReverse;
}

/** In this thread (async, or sync that never blocks), or in a worker from its own source. */
interface WithFunction<Run> {
  readonly isolate?: true;
  readonly blocking?: false;
  readonly run: Run;
}

/** In a worker, from the default or `run` export of a module. */
interface WithModule {
  readonly isolate: URL;
  readonly blocking?: never;
  readonly run?: never;
}

/** Only for the compiler. What a caller sends may differ from what the body gets (defaults, coercions). */
declare const types: unique symbol;

export type Tool<Name extends string = string, Args = never, Result = unknown, Sent = unknown> = DescribedTool<
  Name,
  AnySchema,
  AnySchema
> & {
  readonly [types]?: { readonly sent: Sent; readonly result: Result };
  readonly isolate?: true | URL;
  readonly blocking?: false;
  /** Absent when the body is a module. */
  readonly run?: (args: Args, ctx: ToolContext) => Awaitable<Result | PartialResult<Result>>;
};

export type ArgsOf<Of extends Tool> =
  NonNullable<Of['run']> extends (args: infer Args, ctx: never) => unknown ? Args : never;

export type ResultOf<Of extends Tool> = NonNullable<Of[typeof types]>['result'];

/** What a caller of the tool writes. */
export type SentTo<Of extends Tool> = NonNullable<Of[typeof types]>['sent'];

const checked = new WeakMap<object, CheckedTool>();
/** Shared by every copy of this package: a globally installed command serves what a project's own copy mounted. */
const checkedElsewhere = Symbol.for('recourse.checked-tool');

export function tool<
  const Name extends string,
  Input extends AnySchema,
  Output extends AnySchema = JsonSchema,
  Annotated = Record<string, unknown>,
  Returned = unknown,
>(
  definition: DescribedTool<Name, Input, Output> &
    (WithFunction<RunFor<ArgsFor<Input, Annotated>, Output, Returned>> | WithModule),
): Tool<Name, ArgsFor<Input, Annotated>, ResultFor<Output, Returned>, SentFor<Input, Annotated>> {
  const found = checkDefinition(definition);
  const frozen = Object.freeze({ ...definition });
  checked.set(frozen, found);
  return frozen as object as ReturnType<typeof tool<Name, Input, Output, Annotated, Returned>>;
}

/** The result of `tool()`; any other definition is checked now. */
export function checkedTool(definition: Tool): CheckedTool {
  const { [checkedElsewhere]: elsewhere } = definition as { readonly [checkedElsewhere]?: CheckedTool };
  return checked.get(definition) ?? elsewhere ?? checkDefinition(definition);
}

/** The body of this name, if the definition is of it and runs where it was defined; null otherwise. */
export function checkedBody(definition: unknown, name: string): LocalBody | null {
  const { [checkedElsewhere]: found } = Object(definition) as { readonly [checkedElsewhere]?: CheckedTool };
  return found?.name === name && found.body.kind === 'here' ? found.body.run : null;
}

/** A tool that was checked elsewhere, under a name that authors cannot give: the body of an action. */
export function asTool(found: CheckedTool): Tool {
  const definition = { name: found.name, description: found.description, input: {} };
  Object.defineProperty(definition, checkedElsewhere, { value: found });
  checked.set(definition, found);
  return Object.freeze(definition) as Tool;
}
