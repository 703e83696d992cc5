/**
 * Compiles a JSON Schema and checks values with it. Schema and value come from outside: neither may throw, hang, load
 * or log. A value that passes allocates nothing.
 */
import type { ErrorObject } from 'ajv/dist/2020.js';
import type { FieldError } from '../call/catalogue.ts';
import type { Json } from '../values/json.ts';
import { preview } from '../values/canonical.ts';
import { clip } from './expectation.ts';
import { fieldErrors } from './field-errors.ts';
import { createPatternEngine, type PatternLimits } from './linear-pattern.ts';
import { plainSchema, type PlainSchemaLimits } from './plain-schema.ts';
import { createEngine, problemOfSchema } from './schema-engine.ts';
import { createBudget, refill, type WorkBudget, type WorkLimits } from './work-budget.ts';

export interface SchemaLimits extends PlainSchemaLimits, PatternLimits, WorkLimits {
  /** How many wrong fields one check lists. */
  readonly maxFieldErrors: number;
  /** Nodes of the schema times nodes of the value, beyond which only the first complaint is told. */
  readonly maxDetailWork: number;
}

export const defaultSchemaLimits: SchemaLimits = {
  maxSchemaChars: 256 * 1_024,
  maxSchemaDepth: 100,
  maxPatternChars: 1_000,
  maxPatternSize: 50_000,
  maxReferences: 100_000,
  maxPatternSteps: 20_000_000,
  maxFieldErrors: 20,
  maxDetailWork: 500_000,
};

export type CompiledSchema =
  | { readonly ok: true; readonly check: (value: Json) => readonly FieldError[] }
  | { readonly ok: false; readonly problem: string };

interface Judge {
  (value: unknown): boolean;
  errors?: ErrorObject[] | null;
  readonly listsAll: boolean;
}

export function compileSchema(schema: unknown, limits: Partial<SchemaLimits> = {}): CompiledSchema {
  const bounds = { ...defaultSchemaLimits, ...limits };
  const plain = plainSchema(schema, bounds);
  if (!plain.ok) return plain;
  try {
    const problem = problemOfSchema(plain.schema);
    if (problem !== null) return { ok: false, problem: clip(problem) };
    const budget = createBudget();
    const quick = compileQuick(plain.schema, bounds, budget);
    let thorough = quick.listsAll ? quick : undefined;
    const explain = (value: unknown): readonly ErrorObject[] => {
      if (plain.nodes * countNodes(value, bounds.maxDetailWork / plain.nodes) > bounds.maxDetailWork) {
        return quick.errors ?? [];
      }
      // Most tools never meet a wrong value, so the slower judge that lists everything is made when the first one
      // comes.
      thorough ??= compile(plain.schema, bounds, budget, true);
      refill(budget, bounds);
      return thorough(value) ? [] : (thorough.errors ?? []);
    };
    const check = (value: Json): readonly FieldError[] => {
      try {
        refill(budget, bounds);
        return quick(value) ? [] : fieldErrors(explain(value), value, plain.schema, bounds.maxFieldErrors);
      } catch (error) {
        return [tooMuchWork(error, budget)];
      }
    };
    return { ok: true, check };
  } catch (error) {
    return { ok: false, problem: clip(problemIn(error)) };
  }
}

/** The judge that stops at the first complaint is written as nested blocks, too deep for very many fields. */
function compileQuick(schema: object, limits: SchemaLimits, budget: WorkBudget): Judge {
  try {
    return compile(schema, limits, budget, false);
  } catch (error) {
    if (error instanceof RangeError) return compile(schema, limits, budget, true);
    throw error;
  }
}

function compile(schema: object, limits: SchemaLimits, budget: WorkBudget, allErrors: boolean): Judge {
  const patterns = createPatternEngine(limits, budget);
  const judge = createEngine(schema, { allErrors, patterns, budget }).compile(schema);
  return Object.assign(judge, { listsAll: allErrors });
}

function problemIn(error: unknown): string {
  if (error instanceof RangeError) return 'it is too large, or refers to itself without end';
  const message = error instanceof Error ? error.message : preview(error);
  const missing = /^can't resolve reference (\S+)/.exec(message)?.[1];
  return missing === undefined ? message : `it refers to ${missing}, which is not inside the schema`;
}

function tooMuchWork(error: unknown, budget: WorkBudget): FieldError {
  const endless = error instanceof RangeError;
  const known = endless || error === budget.exhausted;
  const reason = endless ? 'its schema refers to itself without end' : 'it is too large for its schema';
  return { path: '', expected: `a value that can be checked${known ? `: ${reason}` : ''}`, got: null };
}

function countNodes(value: unknown, limit: number): number {
  if (typeof value !== 'object' || value === null) return 1;
  let nodes = 1;
  for (const key in value) {
    nodes += countNodes((value as Record<string, unknown>)[key], limit - nodes);
    if (nodes > limit) break;
  }
  return nodes;
}
