/**
 * Evaluates parsed CEL with a step limit: every node costs a step, and searching or comparing costs by size. Types are
 * decided by the value itself, never by its fields. A field named `constructor` is an ordinary field.
 */
import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { registerFunctions, registerNumbers, WrongValue } from './cel-functions.ts';
import type { CelLimits } from './cel-limits.ts';

/** `truth`: not looked through, but it must be true or false. */
export type Traversal = 'whole' | 'keys' | 'truth';

/** One evaluation under way. */
export interface Evaluation {
  stepsLeft: number;
  /** What was thrown by something else than the engine: a value that refuses to be read. The first one counts. */
  foreign: { readonly thrown: unknown } | null;
  /** The first error of the engine, whether or not the expression went on after it. */
  failed: string | null;
  readonly matches: (text: string, pattern: string) => boolean;
  /**
   * Operands that are looked through as a whole (searched, compared, joined), whose keys are listed, or that are
   * conditions.
   */
  readonly traversed: ReadonlyMap<object, Traversal>;
}

/** Built once: throwing it must not cost a stack trace each time. */
class TooMuchWork extends Error {
  override name = 'TooMuchWork';
}

export const tooMuchWork = new TooMuchWork('the expression needs too much work');

/** What the evaluator of the engine offers to macros and functions, as far as it is used here. */
interface Evaluator {
  run(node: object, context: unknown): unknown;
  debugType(value: unknown): unknown;
  debugTypeDeep(value: unknown): unknown;
  readonly mapType: unknown;
  readonly listType: unknown;
}

interface Runnable {
  evaluate(evaluator: Evaluator, node: object, context: unknown): unknown;
}

export interface CelEngine {
  /** Throws the engine's ParseError. */
  parse(text: string): ParseResult;
  /** Throws whatever the engine throws. */
  evaluate(parsed: ParseResult, values: object, evaluation: Evaluation): unknown;
}

export function createCelEngine(limits: CelLimits): CelEngine {
  let current: Evaluation | null = null;
  const charge = (steps: number): void => {
    if (current === null) return;
    current.stepsLeft -= steps;
    if (current.stepsLeft < 0) throw tooMuchWork;
  };
  const environment = new Environment({ ...engineOptions(limits), unlistedVariablesAreDyn: true });
  registerNumbers(environment);
  registerFunctions(environment, { charge, matches: (text, pattern) => current?.matches(text, pattern) ?? false });
  watch(evaluatorOf(environment), charge, () => current);
  return {
    parse: (text) => environment.parse(text),
    evaluate(parsed, values, evaluation) {
      const outer = current;
      current = evaluation;
      try {
        return parsed(values);
      } finally {
        current = outer;
      }
    },
  };
}

export function engineOptions(limits: CelLimits) {
  const { maxExpressionDepth: maxDepth, maxExpressionNodes: maxAstNodes } = limits;
  return { homogeneousAggregateLiterals: false, limits: { maxDepth, maxAstNodes } } as const;
}

/** A function of the engine is called with the evaluator as `this`. */
function evaluatorOf(environment: Environment): Evaluator {
  const seen: Evaluator[] = [];
  environment.registerFunction('recourse_evaluator(): bool', function (this: Evaluator) {
    return seen.push(this) > 0;
  });
  environment.evaluate('recourse_evaluator()');
  const [found] = seen;
  if (found === undefined) throw new Error('bug: the engine hides its evaluator');
  return found;
}

function watch(evaluator: Evaluator, charge: (steps: number) => void, current: () => Evaluation | null): void {
  const typeOfOthers = evaluator.debugType.bind(evaluator);
  const debugType = (value: unknown): unknown => {
    if (Array.isArray(value)) return evaluator.listType;
    return isPlain(value) ? evaluator.mapType : typeOfOthers(value);
  };
  // INVARIANT: no value is evaluated but through here, so no work escapes the count and no foreign throw is swallowed.
  const run = (node: object, context: unknown): unknown => {
    const evaluation = current();
    try {
      charge(1);
      const value = (node as Runnable).evaluate(evaluator, node, context);
      const traversal = evaluation?.traversed.get(node);
      if (traversal === 'truth') needTruth(value);
      else if (traversal !== undefined) charge(traversal === 'whole' ? weightOf(value) : weightOfKeys(value));
      if (typeof value === 'number' || typeof value === 'bigint') needNumber(value);
      return readable(value, charge);
    } catch (error) {
      if (evaluation !== null) noteThrow(evaluation, error);
      throw error;
    }
  };
  Object.assign(evaluator, { debugType, debugTypeDeep: debugType, run });
}

/**
 * The engine takes whatever `&&` and `||` are given for an error, and lets the other side make up for it without a
 * word.
 */
function needTruth(value: unknown): void {
  if (typeof value !== 'boolean') throw new WrongValue('&& and || need true or false on both sides');
}

/**
 * INVARIANT: every number is one that JSON or a whole number of 64 bits can hold: comparing with NaN or Infinity tells
 * nothing.
 */
function needNumber(value: number | bigint): void {
  if (typeof value === 'bigint' ? BigInt.asIntN(64, value) !== value : !Number.isFinite(value))
    throw new WrongValue(`${typeof value === 'bigint' ? 'a whole number' : 'a calculation'} is out of range`);
}

/** The engine tells maps by their `constructor`; a map that has a field of that name is handed on in another form. */
function readable(value: unknown, charge: (steps: number) => void): unknown {
  if (typeof value !== 'object' || value === null || !isPlain(value) || !Object.hasOwn(value, 'constructor'))
    return value;
  const entries = Object.entries(value);
  // A copy costs more than a look.
  charge(entries.length);
  return new Map(entries);
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const namesOfEngine: ReadonlySet<unknown> = new Set(['EvaluationError', 'ParseError', 'TypeError']);

/** Errors of the engine have a code beside their name, which those of JavaScript itself have not. */
export function isOfEngine(error: unknown): error is Error & { summary: string; node?: ASTNode } {
  return error instanceof Error && namesOfEngine.has(error.name) && 'summary' in error;
}

/** `&&`, `||` and loops catch what is thrown below them and go on; what must end the evaluation is kept here. */
export function noteThrow(evaluation: Evaluation, error: unknown): void {
  if (error === tooMuchWork) evaluation.stepsLeft = -1;
  else if (isOfEngine(error)) evaluation.failed ??= error.summary;
  else evaluation.foreign ??= { thrown: error };
}

const charsPerStep = 64;
const nodesPerStep = 16;
const stopCounting = 10_000_000;

function weightOf(value: unknown): number {
  if (typeof value === 'string') return Math.ceil(value.length / charsPerStep);
  if (typeof value !== 'object' || value === null) return 0;
  return Math.ceil(countNodes(value, 0) / nodesPerStep);
}

/** What a loop costs before it begins: it lists the keys of a map, however soon it ends. */
function weightOfKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 0;
  return value instanceof Map ? value.size : Object.keys(value).length;
}

function countNodes(value: unknown, before: number): number {
  if (before > stopCounting) return before;
  if (typeof value === 'string') return before + 1 + (value.length * nodesPerStep) / charsPerStep;
  if (typeof value !== 'object' || value === null) return before + 1;
  let nodes = before + 1;
  if (Array.isArray(value)) for (const each of value) nodes = countNodes(each, nodes);
  else if (value instanceof Map) for (const each of value.values()) nodes = countNodes(each, nodes);
  else for (const key of Object.keys(value)) nodes = countNodes((value as Record<string, unknown>)[key], nodes);
  return nodes;
}
