/**
 * What do the expressions of a workflow mean, and which functions are made of them? All are read and checked once, when the
 * file is read; a problem is told where it stands. A function that is made here throws an ExpressionError when its
 * expression fails, and lets through, unchanged, whatever a value throws that refuses to be read.
 */
import { type CelOptions, compileCel, type CompiledCel } from '../core/cel/compile-cel.ts';
import type { CelFieldType, CelType } from '../core/cel/check-types.ts';
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import type { Tell } from './problem.ts';
import { findScalar, placeOf } from './read-shape.ts';
import type { Tree } from './yaml-tree.ts';

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
  /** Null if it is not there or wrong, which has been told. */
  readonly read: (
    path: Path,
    text: Json | undefined,
    variables: Variables,
    returns?: 'bool' | 'string',
  ) => Evaluate | null;
  /** Several fields at once; what is wrong is left out. */
  readonly readFields: (path: Path, fields: JsonObject, variables: Variables) => EvaluateFields;
}

export type EvaluateFields = (values: Readonly<Record<string, unknown>>) => Record<string, Json>;

export function createExpressions(tree: Tree, tell: Tell): Expressions {
  const read: Expressions['read'] = (path, text, variables, returns) => {
    if (typeof text !== 'string') return null;
    const options: CelOptions = {
      variables,
      throughSignals: () => true,
      ...(returns === undefined ? {} : { returns }),
    };
    const compiled = compileCel(text, options);
    if (compiled.ok) return evaluateOf(text, compiled);
    const scalar = findScalar(tree, path);
    const place = compiled.at === undefined ? null : scalar?.inside(compiled.at);
    tell(place ?? placeOf(tree, path), `this expression is wrong: ${compiled.problem}`, fixFor(variables, returns));
    return null;
  };
  const readFields: Expressions['readFields'] = (path, fields, variables) => {
    const read_ = Object.entries(fields).flatMap(([name, text]) => {
      const evaluate = read([...path, name], text, variables);
      return evaluate === null ? [] : [[name, evaluate] as const];
    });
    return (values) => Object.fromEntries(read_.map(([name, evaluate]) => [name, evaluate(values)]));
  };
  return { read, readFields };
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
