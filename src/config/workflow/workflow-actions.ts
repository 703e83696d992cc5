/** Converts the actions of a YAML workflow into what `mount` takes. Expressions become functions. */
import { compileSchema } from '../../core/schema/compile-schema.ts';
import type { CelType } from '../../core/cel/check-types.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import type { EffectClass } from '../../core/taxonomy.ts';
import { writtenAs } from '../../core/workflow/read/reading.ts';
import type { Tell } from '../problem.ts';
import { keyPlaceOf, placeOf } from '../shape/read-shape.ts';
import { mapOf, numberOf, textOf, withoutGaps } from '../yaml/plain-values.ts';
import { type Evaluate, type Expressions, inputTypes } from './workflow-expressions.ts';
import { readStage, type WrittenStage } from './workflow-stages.ts';
import type { Tree } from '../yaml/yaml-tree.ts';

/** What a validator says: nothing if the inputs are right. */
export type Complaint = { readonly reason: string; readonly field?: string } | undefined;

/** An action as `mount` takes it. */
export interface WrittenAction {
  readonly description?: string;
  readonly input?: JsonObject;
  readonly tool?: string;
  readonly stage?: WrittenStage;
  readonly run?: (inputs: Json, ctx: { readonly context: unknown }) => Promise<Json>;
  readonly effect?: EffectClass;
  readonly dedupe_window_seconds?: number;
  readonly timeout_seconds?: number;
  readonly atomic?: boolean;
  readonly overlap?: boolean;
  readonly operation_key?: (inputs: Json) => string;
  readonly validators?: readonly ((inputs: Json, step: { readonly context: unknown }) => Complaint)[];
  readonly update?: (step: {
    readonly context: unknown;
    readonly inputs: unknown;
    readonly result: unknown;
  }) => Record<string, Json>;
}

export interface ActionParts {
  readonly tree: Tree;
  readonly tell: Tell;
  readonly expressions: Expressions;
  readonly context: CelType;
}

export function readActions(declared: JsonObject, parts: ActionParts): Readonly<Record<string, WrittenAction>> {
  return Object.fromEntries(
    Object.entries(declared).map(([name, action]) => [name, readAction(name, mapOf(action), parts)]),
  );
}

function readAction(name: string, action: JsonObject, parts: ActionParts): WrittenAction {
  const { expressions, context } = parts;
  const here = ['actions', name] as const;
  checkAction(here, action, parts);
  const inputs = inputTypes(action['input']);
  const tool = textOf(action['tool']);
  const { input, atomic, overlap, update } = action;
  const result = expressions.read([...here, 'result'], action['result'], { inputs, context });
  const key = expressions.read([...here, 'operation_key'], action['operation_key'], { inputs }, 'string');
  const stage =
    action['stage'] === undefined
      ? null
      : readStage(mapOf(action['stage']), [...here, 'stage'], { expressions, context, inputs });
  const over = { context, inputs, result: 'dyn' } as const;
  return withoutGaps({
    description: textOf(action['description']),
    input: input === undefined ? null : mapOf(input),
    tool,
    stage,
    run: tool === null && stage === null ? bodyOf(result) : null,
    effect: effectOf(action),
    dedupe_window_seconds: seconds(action['dedupe_window']),
    timeout_seconds: seconds(action['timeout']),
    atomic: typeof atomic === 'boolean' ? atomic : null,
    overlap: typeof overlap === 'boolean' ? overlap : null,
    operation_key:
      key === null ? null : writtenAs((args: Json) => String(key({ inputs: args })), String(action['operation_key'])),
    validators: readRules(action['validate'], [...here, 'validate'], { inputs, context }, expressions),
    update:
      update === undefined
        ? null
        : writtenAs(expressions.readFields([...here, 'update'], mapOf(update), over), JSON.stringify(update)),
  });
}

/** An action without a tool or a stage has no effects. */
function effectOf(action: JsonObject): EffectClass | null {
  const effect = textOf(action['effect']) as EffectClass | null;
  return effect ?? ('tool' in action || 'stage' in action ? null : 'pure');
}

function bodyOf(result: Evaluate | null): NonNullable<WrittenAction['run']> {
  return async (inputs, ctx) => (result === null ? {} : result({ inputs, context: ctx.context }));
}

const notWithStage = ['tool', 'result', 'effect', 'dedupe_window', 'atomic', 'update'];

function checkAction(here: readonly string[], action: JsonObject, { tree, tell }: ActionParts): void {
  const { input } = action;
  const judged = input === undefined ? null : compileSchema(mapOf(input));
  if (judged?.ok === false)
    tell(placeOf(tree, [...here, 'input']), `this schema cannot be used: ${judged.problem}`, 'correct the schema');
  for (const key of 'tool' in action ? ['atomic', 'result'] : []) {
    if (!(key in action)) continue;
    const says = key === 'result' ? 'gets its result from it' : 'cannot say what its failures have done';
    tell(keyPlaceOf(tree, [...here, key]), `an action with a tool ${says}`, `leave ${key} out`);
  }
  for (const key of 'stage' in action ? notWithStage : []) {
    if (key in action)
      tell(keyPlaceOf(tree, [...here, key]), `an action with a stage has no ${key}`, `leave ${key} out`);
  }
  const isKeyed = effectOf(action) === 'keyed';
  if (isKeyed === 'dedupe_window' in action) return;
  const key = isKeyed ? 'effect' : 'dedupe_window';
  tell(keyPlaceOf(tree, [...here, key]), 'effect: keyed and dedupe_window belong together', 'write both, or neither');
}

function readRules(
  rules: Json | undefined,
  path: readonly string[],
  variables: Readonly<Record<string, CelType>>,
  expressions: Expressions,
): WrittenAction['validators'] | null {
  if (!Array.isArray(rules) || rules.length === 0) return null;
  return rules.flatMap((each: Json, index) => {
    const rule = mapOf(each);
    const holds = expressions.read([...path, index, 'when'], rule['when'], variables, 'bool');
    if (holds === null) return [];
    const field = textOf(rule['field']);
    const reason = textOf(rule['reason']) ?? '';
    const complaint = field === null ? { reason } : { reason, field };
    const check = (inputs: Json, { context }: { readonly context: unknown }) =>
      holds({ inputs, context }) === true ? undefined : complaint;
    return [writtenAs(check, JSON.stringify(rule))];
  });
}

export function seconds(ms: Json | undefined): number | null {
  const number = numberOf(ms);
  return number === null ? null : number / 1_000;
}
