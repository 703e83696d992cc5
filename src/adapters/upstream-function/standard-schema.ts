/**
 * Standard Schema v1, the interface that zod, valibot, arktype and others share, copied as types to avoid a
 * dependency; and validation by such a schema. Its code is the author's: whatever it throws or returns becomes an
 * answer.
 */
import type { FieldError } from '../../core/call/catalogue.ts';
import { gotOf } from '../../core/schema/field-errors.ts';
import { pointerOf, valueAt } from '../../core/schema/json-pointer.ts';
import { messageOf, nameOf, read } from './describe-throw.ts';

export type Judgement =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

const maxIssues = 20;
const maxSteps = 256;

export async function judgeByStandard(schema: StandardSchema, value: unknown): Promise<Judgement> {
  try {
    const standard = schema['~standard'];
    const result: unknown = await standard.validate(value);
    if (typeof result !== 'object' && typeof result !== 'function') throw new TypeError('it answered with no result');
    const issues = (result as { issues?: unknown }).issues;
    if (!issues) return { ok: true, value: (result as { value?: unknown }).value };
    return { ok: false, errors: errorsOf(issues, value) };
  } catch (thrown) {
    // No stack here: this text is for the agent.
    const expected = `a value that its ${vendorOf(schema)} schema can check; it failed with ${nameOf(thrown)}: ${messageOf(thrown)}`;
    return { ok: false, errors: [{ path: '', expected, got: null }] };
  }
}

export function vendorOf(schema: unknown): string {
  const vendor = read(read(schema, '~standard'), 'vendor');
  return typeof vendor === 'string' && vendor !== '' ? vendor.slice(0, 40) : 'own';
}

function errorsOf(issues: unknown, value: unknown): readonly FieldError[] {
  const byPath = new Map<string, { steps: readonly string[]; messages: Set<string> }>();
  const length = Math.min(Number(read(issues, 'length')) || 0, 10 * maxIssues);
  for (let index = 0; index < length && byPath.size < maxIssues; index++) {
    const issue = read(issues, index);
    const steps = stepsOfIssue(issue);
    const path = pointerOf(steps);
    const known = byPath.get(path) ?? { steps, messages: new Set() };
    byPath.set(path, known);
    const message = read(issue, 'message');
    known.messages.add(typeof message === 'string' && message !== '' ? message : 'a value that its schema accepts');
  }
  if (byPath.size === 0) return [{ path: '', expected: 'a value that its schema accepts', got: readGot(value, []) }];
  return [...byPath].map(([path, { steps, messages }]) => ({
    path,
    expected: [...messages].join('; '),
    said: true,
    got: readGot(value, steps),
  }));
}

function stepsOfIssue(issue: unknown): readonly string[] {
  const path = read(issue, 'path');
  const length = Math.min(Number(read(path, 'length')) || 0, maxSteps);
  return Array.from({ length }, (_, index) => {
    const step = read(path, index);
    return stepText(typeof step === 'object' && step !== null ? read(step, 'key') : step);
  });
}

function stepText(step: unknown): string {
  return typeof step === 'string' || typeof step === 'number' || typeof step === 'symbol' ? String(step) : '?';
}

function readGot(value: unknown, steps: readonly string[]): FieldError['got'] {
  try {
    return gotOf(valueAt(value, steps));
  } catch {
    return null;
  }
}

export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  };
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a caller writes. */
export type InputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input'];

/** What the validated value is. */
export type OutputOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

export function isStandardSchema(value: unknown): value is StandardSchema {
  // Some libraries make schemas that are functions.
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return false;
  const { '~standard': standard } = value as { '~standard'?: unknown };
  return typeof standard === 'object' && standard !== null && 'validate' in standard;
}
