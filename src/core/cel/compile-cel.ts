/**
 * Compiles a CEL expression and reports every problem that can be found without values. Evaluation is pure, bounded,
 * and throws only what `throughSignals` names.
 */
import type { ParseResult } from '@marcbachmann/cel-js';
import type { Json } from '../values/json.ts';
import { createPatternEngine } from '../schema/linear-pattern.ts';
import { createBudget, refill } from '../schema/work-budget.ts';
import { type CelEngine, createCelEngine, type Evaluation, isOfEngine, noteThrow, tooMuchWork } from './cel-engine.ts';
import { type CelLimits, defaultCelLimits } from './cel-limits.ts';
import { type CelFieldType, fieldTypeOf } from './cel-types.ts';
import { type CelType, checkTypes, plainWords } from './check-types.ts';
import { type Inspected, inspectExpression } from './inspect-expression.ts';

export interface CelOptions {
  readonly variables: Readonly<Record<string, CelType>>;
  /** What it must give; anything that is JSON if not given. */
  readonly returns?: 'bool' | 'string';
  readonly limits?: Partial<CelLimits>;
  /** An error anywhere is an error of the whole: `||`, `&&` and loops do not make up for it. */
  readonly strict?: true;
  /** Which of the things that a value throws when it is read come out of `evaluate` unchanged; none if not given. */
  readonly throughSignals?: (thrown: unknown) => boolean;
}

export type CelResult = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string };

export interface CompiledCel {
  readonly ok: true;
  /** Values are read when the expression comes to them, and not otherwise. */
  readonly evaluate: (values: Readonly<Record<string, unknown>>) => CelResult;
  /** The variables it reads. */
  readonly reads: readonly string[];
  /** What it gives, as far as that can be told without values. */
  readonly gives: CelFieldType;
}

export interface CelProblem {
  readonly ok: false;
  readonly problem: string;
  /** In the expression, both from 1. */
  readonly at?: { readonly line: number; readonly column: number };
}

let shared: CelEngine | undefined;

export function compileCel(text: string, options: CelOptions): CompiledCel | CelProblem {
  const limits = options.limits === undefined ? defaultCelLimits : { ...defaultCelLimits, ...options.limits };
  if (text.trim() === '') return { ok: false, problem: 'the expression is empty' };
  if (text.length > limits.maxExpressionChars)
    return { ok: false, problem: `the expression is longer than ${limits.maxExpressionChars} characters` };
  const engine = options.limits === undefined ? (shared ??= createCelEngine(limits)) : createCelEngine(limits);
  const { variables } = options;
  try {
    const parsed = engine.parse(text);
    const comment = commentIn(text);
    if (comment !== null) return problemAt(text, noComments, comment);
    const inspected = inspectExpression(parsed.ast, variables, limits);
    if (inspected.problem !== null) return problemAt(text, inspected.problem.says, inspected.problem.node.pos);
    const patterns = compilePatterns(inspected, limits);
    if ('problem' in patterns) return problemAt(text, patterns.problem, patterns.at ?? null);
    const replace = (root: typeof parsed.ast) => void inspectExpression(root, variables, limits);
    const types = checkTypes({ text, variables, paths: inspected.paths, replace }, limits);
    if (!types.ok) return problemAt(text, types.problem, types.offset);
    const unfit = wrongType(types.type, options.returns);
    if (unfit !== null) return { ok: false, problem: unfit };
    const evaluate = createEvaluate({ engine, parsed, limits }, inspected, patterns.matches, options);
    return { ok: true, evaluate, reads: inspected.reads, gives: fieldTypeOf(types.type) };
  } catch (error) {
    if (isOfEngine(error)) return problemOf(text, error.summary, offsetOf(error));
    return { ok: false, problem: 'it cannot be read: it is nested too deeply, or too large' };
  }
}

function wrongType(type: string, returns: CelOptions['returns']): string | null {
  if (returns === undefined || type === returns || type === 'dyn') return null;
  return `it must give a ${wordFor[returns]}, and gives a value of type ${plainWords(type)}`;
}

/**
 * In YAML a condition on several lines may be folded into one, and a comment then takes the rest of the condition with
 * it.
 */
const noComments = '// begins a comment, which can hide the rest of the expression: write it as a # comment above';

const stringOrComment = /("""|''')(?:\\[^]|[^\\])*?\1|(["'])(?:\\[^]|(?!\2)[^\\])*\2|\/\//g;

/** Where the first comment of a text that was parsed begins. */
function commentIn(text: string): number | null {
  for (const { 0: found, index } of text.matchAll(stringOrComment)) if (found === '//') return index;
  return null;
}

const wordFor = { bool: 'true or false', string: 'text' } as const;

const noPatterns = { matches: { matches: () => false, start: () => undefined } };

function compilePatterns({ patterns }: Inspected, limits: CelLimits) {
  if (patterns.length === 0) return noPatterns;
  const budget = createBudget();
  const engine = createPatternEngine(limits, budget);
  const compiled = new Map<string, { test(text: string): boolean }>();
  for (const { text, node } of patterns) {
    try {
      compiled.set(text, engine(text, 'u'));
    } catch (error) {
      return { problem: error instanceof Error ? error.message : 'the pattern cannot be used', at: node.pos };
    }
  }
  const matches = (text: string, pattern: string): boolean => {
    try {
      return compiled.get(pattern)?.test(text) ?? false;
    } catch (error) {
      throw error === budget.exhausted ? tooMuchWork : error;
    }
  };
  const start = () => refill(budget, { maxReferences: 0, maxPatternSteps: limits.maxPatternSteps });
  return { matches: { matches, start } };
}

interface Matching {
  readonly matches: (text: string, pattern: string) => boolean;
  readonly start: () => void;
}

interface Program {
  readonly engine: CelEngine;
  readonly parsed: ParseResult;
  readonly limits: CelLimits;
}

function createEvaluate(
  { engine, parsed, limits }: Program,
  { traversed }: Inspected,
  { matches, start }: Matching,
  { returns, throughSignals, strict }: CelOptions,
): CompiledCel['evaluate'] {
  return (values) => {
    const evaluation: Evaluation = { stepsLeft: limits.maxSteps, foreign: null, failed: null, matches, traversed };
    start();
    let answer: CelResult;
    try {
      answer = resultToJson(engine.evaluate(parsed, values, evaluation), limits);
    } catch (error) {
      noteThrow(evaluation, error);
      answer = { ok: false, problem: isOfEngine(error) ? plainWords(error.summary) : unreadable };
    }
    // `&&`, `||` and loops go on after a throw, and may give a result all the same: these two ends count nevertheless.
    if (evaluation.foreign !== null) {
      const { thrown } = evaluation.foreign;
      if (throughSignals?.(thrown) === true) throw thrown;
      return { ok: false, problem: unreadable };
    }
    if (evaluation.stepsLeft < 0) return { ok: false, problem: tooMuchWork.message };
    if (strict === true && evaluation.failed !== null) return { ok: false, problem: plainWords(evaluation.failed) };
    if (answer.ok && returns !== undefined && typeof answer.value !== typeName[returns])
      return { ok: false, problem: `it must give a ${wordFor[returns]}, and gave ${sortOf(answer.value)}` };
    return answer;
  };
}

const unreadable = 'a value refuses to be read, or is too large';
const typeName = { bool: 'boolean', string: 'string' } as const;

function sortOf(value: Json): string {
  if (value === null) return 'null';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'a map';
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}

function offsetOf(error: object): number | null {
  const { range } = error as { readonly range?: { readonly start: number } };
  return range?.start ?? null;
}

/** Of a word that cannot stand where it does the engine names the last letter; of a lone = only that it is there. */
function problemOf(text: string, summary: string, offset: number | null): CelProblem {
  const isStray = summary.startsWith('Unexpected character') && offset !== null;
  const stray = isStray ? /^(?:=|\w{2,})/.exec(text.slice(offset))?.[0] : undefined;
  if (stray === undefined) return problemAt(text, plainWords(summary), offset);
  return problemAt(text, stray === '=' ? 'unexpected =; equal is ==' : `unexpected word: ${stray}`, offset);
}

function problemAt(text: string, problem: string, offset: number | null): CelProblem {
  if (offset === null) return { ok: false, problem };
  const before = text.slice(0, offset).split('\n');
  return { ok: false, problem, at: { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 } };
}

type JsonResult = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string };

class NotJson extends Error {}

/**
 * Always a copy: what an expression was given may be frozen, and what it gives may be kept. Throws what a value throws.
 */
function resultToJson(result: unknown, limits: CelLimits): JsonResult {
  let nodesLeft = limits.maxResultNodes;
  const copy = (value: unknown, depth: number): Json => {
    if (--nodesLeft < 0) throw new NotJson('its result is too large');
    if (depth > limits.maxResultDepth) throw new NotJson('its result is nested too deeply');
    if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
    if (typeof value === 'bigint') return whole(value);
    if (typeof value === 'number') {
      if (Number.isFinite(value)) return value;
      throw new NotJson(`its result is ${value}, which is no number of JSON`);
    }
    if (Array.isArray(value)) return value.map((each) => copy(each, depth + 1));
    const entries = entriesOf(value);
    if (entries === null) throw new NotJson('its result is no JSON: give a text, a number, a list or a map');
    // Defined, not assigned: a key may have any name.
    const object: Record<string, Json> = {};
    for (const [key, each] of entries)
      Object.defineProperty(object, key, {
        value: copy(each, depth + 1),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    return object;
  };
  try {
    return { ok: true, value: copy(result, 0) };
  } catch (error) {
    if (error instanceof NotJson) return { ok: false, problem: error.message };
    throw error;
  }
}

function whole(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new NotJson(`its result ${value} is beyond the whole numbers that JSON can hold`);
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] | null {
  if (value instanceof Map) return [...value].map(([key, each]) => [String(key), each] as const);
  if (typeof value !== 'object' || value === null) return null;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? Object.entries(value) : null;
}
