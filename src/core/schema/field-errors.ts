/**
 * Turns ajv's errors into one error for each field: path, expectation, and what was sent. collapse-alternatives.ts
 * chooses among alternatives.
 */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { preview } from '../values/canonical.ts';
import type { FieldError } from '../call/catalogue.ts';
import type { Json } from '../values/json.ts';
import { collapseAlternatives } from './collapse-alternatives.ts';
import { clip, expectationOf, expectationOfMissing } from './expectation.ts';
import { pointerOf, stepsOf, valueAt } from './json-pointer.ts';

const maxGotNodes = 20;
const maxGotChars = 80;
const maxExpectedChars = 400;

/** Keywords that only say that something below them is wrong, which is reported by itself. */
const echoes = new Set(['if']);

export function fieldErrors(
  errors: readonly ErrorObject[],
  value: unknown,
  schema: object,
  maxErrors: number,
): readonly FieldError[] {
  const byPath = new Map<string, Set<string>>();
  for (const error of collapseAlternatives(errors, schema)) {
    if (echoes.has(error.keyword)) continue;
    const { path, expected } = locate(error);
    const known = byPath.get(path);
    if (known !== undefined) known.add(expected);
    else if (byPath.size < maxErrors) byPath.set(path, new Set([expected]));
  }
  return [...byPath].map(([path, expected]) => ({
    path,
    expected: clip([...expected].join(' and '), maxExpectedChars),
    got: gotOf(valueAt(value, stepsOf(path))),
  }));
}

function locate(error: ErrorObject): { readonly path: string; readonly expected: string } {
  const params: Readonly<Record<string, unknown>> = error.params;
  const { missingProperty } = params;
  if (typeof missingProperty === 'string') {
    const path = error.instancePath + pointerOf([missingProperty]);
    return { path, expected: expectationOfMissing(error, missingProperty) };
  }
  const extra = params['additionalProperty'] ?? params['unevaluatedProperty'] ?? params['propertyName'];
  const path = typeof extra === 'string' ? error.instancePath + pointerOf([extra]) : error.instancePath;
  return { path, expected: expectationOf(error) };
}

/** The value itself while it is small; otherwise a short rendering of it. Nothing is null. */
export function gotOf(value: unknown): Json {
  if (value === undefined) return null;
  return sizeUpTo(value, maxGotNodes) <= maxGotNodes ? (value as Json) : preview(value, maxGotChars);
}

/** Counts no further than needed: a value may be large. */
function sizeUpTo(value: unknown, limit: number): number {
  if (typeof value === 'string') return value.length <= maxGotChars ? 1 : limit + 1;
  if (typeof value === 'number') return Number.isFinite(value) ? 1 : limit + 1;
  if (typeof value !== 'object' || value === null) return typeof value === 'boolean' || value === null ? 1 : limit + 1;
  let size = 1;
  for (const key in value) {
    size += key.length > maxGotChars ? limit : sizeUpTo((value as Record<string, unknown>)[key], limit - size);
    if (size > limit) break;
  }
  return size;
}

export function describeMismatch(tool: string, errors: readonly FieldError[]): string {
  // What a schema of the author's says of a field is a sentence of its own.
  const listed = errors.map(({ path, expected, said }) =>
    said === true ? `${path || 'the result'}: ${expected}` : `${path || 'the result'} should be ${expected}`,
  );
  return `the result of '${tool}' does not match its output schema: ${listed.join('; ')}`;
}
