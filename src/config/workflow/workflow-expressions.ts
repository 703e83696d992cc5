/**
 * Compiles the expressions of a workflow when the file is read, and reports problems at their place. A compiled
 * function throws an ExpressionError when its expression fails. Errors thrown by a value that refuses to be read pass
 * unchanged.
 */
import { type CelOptions, compileCel, type CompiledCel } from '../../core/cel/compile-cel.ts';
import type { CelFieldType, CelType } from '../../core/cel/check-types.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import { nearest } from '../../core/values/nearest.ts';
import type { Tell } from '../problem.ts';
import { findScalar, keyPlaceOf, placeOf } from '../shape/read-shape.ts';
import type { Tree } from '../yaml/yaml-tree.ts';

export class ExpressionError extends Error {
  override name = 'ExpressionError';

  constructor(text: string, problem: string) {
    super(`${text}: ${problem}`);
  }
}

export type Path = readonly (string | number)[];
export type Evaluate = (values: Readonly<Record<string, unknown>>) => Json;
export type Variables = Readonly<Record<string, CelType>>;

export interface Expressions {
  /** Null if it is missing, or invalid and reported. */
  readonly read: (
    path: Path,
    text: Json | undefined,
    variables: Variables,
    returns?: 'bool' | 'string',
  ) => Evaluate | null;
  /** Several fields of the context at once; what is wrong is left out. */
  readonly readFields: (path: Path, fields: JsonObject, variables: Variables) => EvaluateFields;
  /** The same for arguments and results, which have fields of their own. */
  readonly readArgs: (path: Path, fields: JsonObject, variables: Variables) => EvaluateFields;
}

export type EvaluateFields = (values: Readonly<Record<string, unknown>>) => Record<string, Json>;

/** `begins`: the initial context, with every field; null if the file has none. */
export function createExpressions(tree: Tree, tell: Tell, begins: JsonObject | null = null): Expressions {
  const compile = (
    path: Path,
    text: Json | undefined,
    variables: Variables,
    returns?: 'bool' | 'string',
  ): CompiledCel | null => {
    if (typeof text !== 'string') return null;
    const options: CelOptions = {
      variables,
      throughSignals: () => true,
      ...(returns === undefined ? {} : { returns }),
    };
    const compiled = compileCel(text, options);
    if (compiled.ok) return compiled;
    const scalar = findScalar(tree, path);
    const place = compiled.at === undefined ? null : scalar?.inside(compiled.at);
    tell(place ?? placeOf(tree, path), `this expression is wrong: ${compiled.problem}`, fixFor(variables, returns));
    return null;
  };
  const read: Expressions['read'] = (path, text, variables, returns) => {
    const compiled = compile(path, text, variables, returns);
    return compiled === null ? null : evaluateOf(String(text), compiled);
  };
  const readAll = (path: Path, fields: JsonObject, variables: Variables, begins: JsonObject | null): EvaluateFields => {
    const read_ = Object.entries(fields).flatMap(([name, text]) => {
      const compiled = compile([...path, name], text, variables);
      if (begins !== null) checkField([...path, name], compiled, begins, { tree, tell });
      return compiled === null ? [] : [[name, evaluateOf(String(text), compiled)] as const];
    });
    return (values) => Object.fromEntries(read_.map(([name, evaluate]) => [name, evaluate(values)]));
  };
  return {
    read,
    readFields: (path, fields, variables) => readAll(path, fields, variables, begins),
    readArgs: (path, fields, variables) => readAll(path, fields, variables, null),
  };
}

/** An unknown field, or one of another type than guards expect, would silently leave a session stuck. */
function checkField(
  path: Path,
  compiled: CompiledCel | null,
  begins: JsonObject,
  { tree, tell }: { readonly tree: Tree; readonly tell: Tell },
): void {
  const name = String(path.at(-1));
  if (!Object.hasOwn(begins, name)) {
    const near = nearest(name, Object.keys(begins));
    const fix = near === null ? 'add it to context, with what it starts with' : `did you mean ${near}?`;
    return tell(keyPlaceOf(tree, path), `the context has no field '${name}'`, fix);
  }
  const first = sortOf(begins[name] ?? null);
  const gives = compiled?.gives ?? 'dyn';
  if (first === 'dyn' || gives === 'dyn' || first === gives) return;
  const problem = `context.${name} starts as ${wordFor[first]}, and this gives ${wordFor[gives]}`;
  tell(placeOf(tree, path), problem, `give ${wordFor[first]}, or let it start as ${wordFor[gives]} or null`);
}

const wordFor: Readonly<Record<CelFieldType, string>> = {
  bool: 'true or false',
  double: 'a number',
  dyn: 'anything',
  list: 'a list',
  map: 'a map',
  string: 'a text',
  timestamp: 'a time',
};

/** Null may become anything. */
function sortOf(value: Json): CelFieldType {
  if (value === null) return 'dyn';
  if (Array.isArray(value)) return 'list';
  return typeOfSort[typeof value] ?? 'dyn';
}

function evaluateOf(text: string, { evaluate }: CompiledCel): Evaluate {
  return (values) => {
    const result = evaluate(values);
    if (result.ok) return result.value;
    throw new ExpressionError(text, result.problem);
  };
}

function fixFor(variables: Variables, returns: 'bool' | 'string' | undefined): string {
  const gives = returns === undefined ? '' : ` that gives ${returns === 'bool' ? 'true or false' : 'a text'}`;
  return `write an expression over ${Object.keys(variables).join(', ')}${gives}`;
}

/** What is known of the inputs of an action: the fields of its schema, if it permits no others. */
export function inputTypes(schema: Json | undefined): CelType {
  if (!isObject(schema) || schema['additionalProperties'] !== false || !isObject(schema['properties'])) return 'dyn';
  if (['allOf', 'anyOf', 'oneOf', '$ref', 'patternProperties'].some((keyword) => keyword in schema)) return 'dyn';
  const fields = Object.entries(schema['properties']).map(([name, each]) => [name, fieldType(each)] as const);
  return { fields: Object.fromEntries(fields) };
}

const typeOfSort: Readonly<Record<string, CelFieldType>> = {
  array: 'list',
  boolean: 'bool',
  integer: 'double',
  number: 'double',
  object: 'map',
  string: 'string',
};

function fieldType(schema: unknown): CelFieldType {
  const sort = isObject(schema) ? schema['type'] : undefined;
  return typeof sort === 'string' && Object.hasOwn(typeOfSort, sort) ? (typeOfSort[sort] ?? 'dyn') : 'dyn';
}
