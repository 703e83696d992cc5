/**
 * Converts a stage of a YAML workflow into one as `mount` takes it: expressions become the phases, and a list of calls
 * becomes act. Only `setup` can write to the context.
 */
import type { CelType } from '../../core/cel/check-types.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { writtenAs } from '../../core/workflow/read/reading.ts';
import { failedOutcome, skippedOutcome } from '../../core/workflow/step-error.ts';
import { mapOf, textOf } from '../yaml/plain-values.ts';
import type { Evaluate, EvaluateFields, Expressions, Path, Variables } from './workflow-expressions.ts';

interface PhaseContext {
  readonly inputs: unknown;
  readonly context: unknown;
  readonly attempt: number;
  readonly pass: number;
}

interface ActContext extends PhaseContext {
  readonly call: (tool: string, args: Json) => Promise<{ readonly result: unknown }>;
}

/** What act gives: results and errors of its calls, by their names. */
interface Acted {
  readonly acted: Record<string, Json>;
  readonly errors: Record<string, Json>;
}

/** A stage as `mount` takes it. */
export interface WrittenStage {
  readonly setup?: (ctx: PhaseContext) => Record<string, Json>;
  readonly act: (ctx: ActContext) => Promise<Acted>;
  readonly assert?: (ctx: PhaseContext, acted: Acted) => true | string;
  readonly exit: (ctx: PhaseContext, acted: Acted) => Json;
  readonly next?: (ctx: PhaseContext, end: JsonObject) => JsonObject | null;
  readonly events?: readonly string[];
  readonly calls: readonly string[];
  readonly retry?: JsonObject;
  readonly unrecoverable?: Json;
}

interface Parts {
  readonly expressions: Expressions;
  readonly context: CelType;
  readonly inputs: CelType;
}

const counts = { attempt: 'double', pass: 'double' } as const;

export function readStage(stage: JsonObject, path: Path, { expressions, context, inputs }: Parts): WrittenStage {
  const begin: Variables = { context, inputs, attempt: 'double' };
  const later: Variables = { context, inputs, ...counts, acted: 'dyn', errors: 'dyn' };
  const calls = listOf(stage['act']).map((call, index) => readCall(call, [...path, 'act', index], later, expressions));
  const { setup, assert, exit, next, retry, unrecoverable } = stage;
  const fields = setup === undefined ? null : expressions.readFields([...path, 'setup'], mapOf(setup), begin);
  const result = exit === undefined ? null : expressions.readArgs([...path, 'exit'], mapOf(exit), later);
  const events = eventsOf(stage);
  return {
    ...(fields === null ? {} : { setup: written((ctx: PhaseContext) => fields(valuesOf(ctx)), setup) }),
    act: written((ctx: ActContext) => actOf(calls, ctx), stage['act']),
    ...(assert === undefined
      ? {}
      : { assert: written(checksOf(assert, [...path, 'assert'], later, expressions), assert) }),
    exit: written(
      (ctx: PhaseContext, acted: Acted) => (result === null ? acted.acted : result(valuesOf(ctx, acted))),
      exit,
    ),
    ...(next === undefined ? {} : { next: written(routesOf(next, [...path, 'next'], begin, expressions), next) }),
    ...(events.length === 0 ? {} : { events }),
    calls: [...new Set(calls.map(({ tool }) => tool))],
    ...(retry === undefined ? {} : { retry: mapOf(retry) }),
    ...(unrecoverable === undefined ? {} : { unrecoverable }),
  };
}

/** How a step with this stage may end beside its success. */
export function stageOutcomes(stage: Json | undefined): readonly string[] {
  if (stage === undefined) return [failedOutcome];
  const skipped = mapOf(stage)['unrecoverable'] === 'skip' ? [skippedOutcome] : [];
  return [failedOutcome, ...skipped, ...eventsOf(mapOf(stage))];
}

function eventsOf(stage: JsonObject): readonly string[] {
  return [...new Set(listOf(stage['next']).flatMap((route) => textOf(route['event']) ?? []))];
}

interface ReadCall {
  readonly tool: string;
  readonly as: string | null;
  readonly args: EvaluateFields;
  readonly each: Evaluate | null;
  readonly when: Evaluate | null;
  readonly mayFail: boolean;
}

function readCall(call: JsonObject, path: Path, over: Variables, expressions: Expressions): ReadCall {
  const each = expressions.read([...path, 'each'], call['each'], over);
  const inLoop = call['each'] === undefined ? over : { ...over, item: 'dyn' as const };
  return {
    tool: textOf(call['call']) ?? '',
    as: textOf(call['as']),
    args: expressions.readArgs([...path, 'args'], mapOf(call['args']), inLoop),
    each,
    when: expressions.read([...path, 'when'], call['when'], inLoop, 'bool'),
    mayFail: call['may_fail'] === true,
  };
}

async function actOf(calls: readonly ReadCall[], ctx: ActContext): Promise<Acted> {
  const soFar: Acted = { acted: {}, errors: {} };
  for (const call of calls) {
    const items = call.each === null ? [null] : itemsOf(call.each(valuesOf(ctx, soFar)));
    const results: Json[] = [];
    for (const item of items) {
      const values = { ...valuesOf(ctx, soFar), ...(call.each === null ? {} : { item }) };
      if (call.when !== null && call.when(values) !== true) continue;
      results.push(await resultOf(call, values, soFar, ctx));
    }
    if (call.as !== null) soFar.acted[call.as] = call.each === null ? (results[0] ?? null) : results;
  }
  return soFar;
}

async function resultOf(
  { tool, as, args, mayFail }: ReadCall,
  values: Readonly<Record<string, unknown>>,
  { errors }: Acted,
  { call }: ActContext,
): Promise<Json> {
  const sent = args(values);
  try {
    return (await call(tool, sent)).result as Json;
  } catch (thrown) {
    if (!mayFail || !(thrown instanceof Error) || !('code' in thrown)) throw thrown;
    // Kept under the name of the call: the phases that follow may look at it.
    if (as !== null) errors[as] = errorIn(thrown as unknown as Readonly<Record<string, unknown>>);
    return null;
  }
}

function errorIn(thrown: Readonly<Record<string, unknown>>): JsonObject {
  const names = ['error', 'class', 'code', 'verdict', 'effect', 'message'] as const;
  return Object.fromEntries(names.map((name) => [name, (thrown[name] ?? null) as Json]));
}

function checksOf(rules: Json, path: Path, over: Variables, expressions: Expressions) {
  const checks = listOf(rules).flatMap((rule, index) => {
    const holds = expressions.read([...path, index, 'when'], rule['when'], over, 'bool');
    return holds === null ? [] : [{ holds, reason: textOf(rule['reason']) ?? 'an assertion does not hold' }];
  });
  return (ctx: PhaseContext, acted: Acted): true | string =>
    checks.find(({ holds }) => holds(valuesOf(ctx, acted)) !== true)?.reason ?? true;
}

function routesOf(rules: Json, path: Path, begin: Variables, expressions: Expressions) {
  const over: Variables = { ...begin, ...counts, outcome: 'string', error: errorOrNull, result: 'dyn' };
  const routes = listOf(rules).map((rule, index) => ({
    when: expressions.read([...path, index, 'when'], rule['when'], over, 'bool'),
    event: textOf(rule['event']),
  }));
  return (ctx: PhaseContext, { outcome, error, result }: JsonObject): JsonObject | null => {
    const values = { ...valuesOf(ctx), outcome, error, result };
    const chosen = routes.find(({ when }) => when === null || when(values) === true);
    if (chosen === undefined) return null;
    return chosen.event === null ? { again: true } : { event: chosen.event };
  };
}

/** Null after a success, so nothing is said of its fields. */
const errorOrNull: CelType = 'dyn';

const valuesOf = ({ inputs, context, attempt, pass }: PhaseContext, more: object = {}) => ({
  inputs,
  context,
  attempt,
  pass,
  ...more,
});

const itemsOf = (value: Json): readonly Json[] => {
  if (Array.isArray(value)) return value as readonly Json[];
  throw new TypeError('each must give a list');
};

const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.map((each: Json) => mapOf(each)) : [];

/** A changed expression is a changed stage. */
function written<Code extends (...given: never) => unknown>(code: Code, text: Json | undefined): Code {
  return writtenAs(code, JSON.stringify(text ?? null)) as Code;
}
