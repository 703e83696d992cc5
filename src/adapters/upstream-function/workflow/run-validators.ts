/**
 * Runs an author's validators on the inputs of a step, in order, after the schema. Each may refuse with a reason or
 * replace the inputs, which are then validated again. Whatever they throw or return becomes a typed answer.
 */
import { canonicalise, preview } from '../../../core/values/canonical.ts';
import type { FieldError } from '../../../core/call/catalogue.ts';
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import { gotOf } from '../../../core/schema/field-errors.ts';
import { pointerOf, stepsOf, valueAt } from '../../../core/schema/json-pointer.ts';
import type { Validated } from '../../../ports/validator.ts';
import { messageOf, read } from '../describe-throw.ts';
import { asJson } from '../declared-schema.ts';

/** Nothing or true accepts. A text is the reason, used verbatim. */
export type ValidatorAnswer<Inputs = unknown> =
  | undefined
  | void
  | true
  | string
  | { readonly reason: string; readonly field?: string; readonly got?: unknown }
  | { readonly inputs: Inputs };

export type AnyValidator = (inputs: never, step: { readonly context: never; readonly action: string }) => unknown;

const maxSteps = 64;

export async function runValidators(
  action: string,
  args: Json,
  context: JsonObject,
  validators: readonly AnyValidator[],
  judge: (args: unknown) => Promise<Validated>,
): Promise<Validated> {
  let current = await judge(args);
  for (const validator of validators) {
    if (!current.ok) return current;
    current = await runOne(validator, action, current.args, context, judge);
  }
  return current;
}

async function runOne(
  validator: AnyValidator,
  action: string,
  inputs: Json,
  context: JsonObject,
  judge: (args: unknown) => Promise<Validated>,
): Promise<Validated> {
  let answer: unknown;
  try {
    answer = await validator(structuredClone(inputs) as never, Object.freeze({ context: context as never, action }));
    return await understand(answer, inputs, judge);
  } catch (thrown) {
    return refused(messageOf(thrown), null, undefined, inputs);
  }
}

/** May throw: an answer can be anything, a proxy included. */
async function understand(
  answer: unknown,
  inputs: Json,
  judge: (args: unknown) => Promise<Validated>,
): Promise<Validated> {
  if (answer === undefined || answer === null || answer === true) return { ok: true, args: inputs };
  if (typeof answer === 'string') return refused(answer, null, undefined, inputs);
  if (answer instanceof Error) return refused(messageOf(answer), null, undefined, inputs);
  const reason = read(answer, 'reason');
  if (typeof reason === 'string') return refused(reason, read(answer, 'field'), read(answer, 'got'), inputs);
  const replacement = read(answer, 'inputs');
  if (replacement === undefined) return refused(answer === false ? '' : oddAnswer(answer), null, undefined, inputs);
  const replaced = asJson(replacement, 'a validator');
  return replaced.ok ? judge(replaced.args) : replaced;
}

/** A mistake of the workflow's author: the inputs are refused, and the message says what to write instead. */
function oddAnswer(answer: unknown): string {
  return (
    `a validator of the workflow answered ${preview(answer)}, which says nothing; ` +
    'return nothing or true to accept, a text or { reason, field } to refuse, { inputs } to replace'
  );
}

function refused(reason: string, field: unknown, got: unknown, inputs: Json): Validated {
  const steps = typeof field === 'string' && field !== '' ? stepsTo(field, inputs) : [];
  const error: FieldError = {
    path: pointerOf(steps),
    expected: reason === '' ? 'a validator of the workflow refused the inputs' : reason,
    got: show(got === undefined && steps.length > 0 ? valueAt(inputs, steps) : got),
    said: 'verbatim',
  };
  return { ok: false, errors: [error] };
}

/** A name of a field, a path with dots, or a JSON Pointer. */
function stepsTo(field: string, inputs: Json): readonly string[] {
  if (isObject(inputs) && Object.hasOwn(inputs, field)) return [field];
  return (field.startsWith('/') ? stepsOf(field) : field.split('.')).slice(0, maxSteps);
}

/** A short JSON form of any value. */
function show(value: unknown): Json {
  if (value === undefined) return null;
  const written = canonicalise(value, { maxDepth: maxSteps });
  return written.ok ? gotOf(JSON.parse(written.text)) : preview(value);
}
