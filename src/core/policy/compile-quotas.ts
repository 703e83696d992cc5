/**
 * Compiles rate limits and budgets, and finds those of a tool. Reports every problem; a limit or a budget with one is
 * left out, for nothing starts with it.
 */
import { type Budget, costOf, type EndedCall, type WrittenBudget } from '../budget/budget.ts';
import type { Cost } from '../budget/budget.ts';
import { timestampOf } from '../cel/cel-time.ts';
import type { CelType } from '../cel/cel-types.ts';
import { compileCel, type CelResult } from '../cel/compile-cel.ts';
import { callVariables, conditionVariables } from './compile-conditions.ts';
import { maxFillMicros, readRate, type RateLimit, type WrittenLimit } from '../rate/rate-limit.ts';
import type { PolicyLimits } from './policy-limits.ts';
import type { PolicyProblem } from './policy.ts';
import { compileToolPattern, matchesTool, type ToolPattern } from './tool-pattern.ts';

/** What a call costs, by name: functions of extensions. They may throw and give anything. */
export type CostFunctions = ReadonlyMap<string, (call: EndedCall) => unknown>;

export interface QuotaBounds {
  readonly limits: PolicyLimits;
  readonly costs: CostFunctions;
}

export type TellQuota = (problem: Omit<PolicyProblem, 'agent' | 'rule'>) => void;

/** `owner`: whose buckets they are. Limits of one pattern over different times are different buckets. */
export function compileLimits(
  written: readonly WrittenLimit[],
  owner: string,
  limits: PolicyLimits,
  tell: TellQuota,
): readonly RateLimit[] {
  const buckets = new Set<string>();
  return written.flatMap((limit, index): readonly RateLimit[] => {
    const compiled = compileToolPattern(limit.match, limits);
    if (!compiled.ok) tell({ field: 'limits', index, message: compiled.problem, fix: compiled.fix });
    const rate = readRate(limit.rate);
    if (rate === null)
      tell({ field: 'limits', index, message: `'${limit.rate}' is no rate`, fix: 'write a rate such as 10/minute' });
    if (!compiled.ok || rate === null) return [];
    const { count, period, intervalMicros } = rate;
    const burst = limit.burst ?? count;
    if (burst * intervalMicros > maxFillMicros) {
      const message = `${burst} calls at ${limit.rate} take more than a hundred years to come back`;
      tell({ field: 'limits', index, message, fix: 'use a lower burst, or a higher rate' });
    }
    const bucket = `${owner}/${limit.match}/${period}`;
    if (buckets.has(bucket)) {
      const message = `${limit.match} is limited by the ${period} twice`;
      tell({ field: 'limits', index, message, fix: 'keep the lower of the two rates' });
    }
    buckets.add(bucket);
    return [{ written: limit, pattern: compiled.pattern, bucket, intervalMicros, burst }];
  });
}

const atEnd: Readonly<Record<string, CelType>> = { args: 'dyn', result: 'dyn', usage: 'dyn' };
/** One object, so that the checker is made once. */
const variables = { ...callVariables, ...atEnd };

const fix = `write what a call costs, over ${conditionVariables.join(', ')}; or over ${Object.keys(atEnd).join(', ')}, with reserve unless it reads only usage`;

export function compileBudget(
  written: WrittenBudget,
  scope: string,
  { limits, costs }: QuotaBounds,
  tell: TellQuota,
): Budget | null {
  const about = { field: 'budgets', budget: written.name } as const;
  const compiled = compileToolPattern(written.match, limits);
  if (!compiled.ok) tell({ ...about, message: compiled.problem, fix: compiled.fix });
  const pricing = compileCost(written, costs);
  if ('problem' in pricing) tell({ ...about, message: pricing.problem, fix: pricing.fix, ...pricing.at });
  if (!compiled.ok || 'problem' in pricing) return null;
  return { written, pattern: compiled.pattern, scope, ...pricing };
}

type Pricing = Pick<Budget, 'hold' | 'price'>;
interface WrongPricing {
  readonly problem: string;
  readonly fix: string;
  readonly at: { readonly at?: { readonly line: number; readonly column: number } };
}

function compileCost(written: WrittenBudget, costs: CostFunctions): Pricing | WrongPricing {
  const { cost, max, reserve } = written;
  const { unit } = max;
  if (written.costFunction !== undefined) return functionCost(written.costFunction, written, costs);
  if (cost === null) {
    const one: Cost = { ok: true, micros: 1 };
    if (unit !== 'calls') return wrong(`what a call costs in ${unit} is not said`, 'add cost');
    return { hold: () => one, price: null };
  }
  const compiled = compileCel(cost, { variables, strict: true });
  if (!compiled.ok) return wrong(`the cost is wrong: ${compiled.problem}`, fix, compiled.at);
  const { reads, evaluate } = compiled;
  const isAtEnd = reads.includes('result') || reads.includes('usage');
  if (!isAtEnd) return { hold: holdBy(evaluate, reads.includes('now'), unit), price: null };
  const price = (ended: EndedCall) => costOf(evaluate({ ...ended }), unit);
  const early = reads.find((name) => !Object.hasOwn(atEnd, name));
  if (early !== undefined) return wrong(`a cost that reads the result cannot read ${early}`, fix);
  if (reserve !== null) {
    const held: Cost = { ok: true, micros: reserve.micros };
    return { hold: () => held, price };
  }
  if (reads.includes('result'))
    return wrong(
      'a cost that only the result tells needs an amount to hold',
      'add reserve: the most that a call costs',
    );
  return { hold: holdMost(evaluate, unit), price };
}

const untold = (problem: string): Cost => ({ ok: false, problem });

/** The same expression over the most that the call can use. */
function holdMost(evaluate: Evaluate, unit: string): Budget['hold'] {
  return ({ args = null }, most) => {
    if (most === undefined) return untold('it is not metered, and the budget has no reserve');
    const usage = most();
    return usage === null ? untold('nothing bounds what it can use') : costOf(evaluate({ args, usage }), unit);
  };
}

/** Asked when the call begins, of its arguments and the most that it can use, and again when it has ended. */
function functionCost(
  name: string,
  { max: { unit }, reserve }: WrittenBudget,
  costs: CostFunctions,
): Pricing | WrongPricing {
  const cost = costs.get(name);
  if (cost === undefined) return wrong(`there is no cost function '${name}'`, 'add the extension that has it');
  // Its own copy: what a function does to it changes no call.
  const copyOf = (ended: EndedCall) => JSON.parse(JSON.stringify(ended)) as EndedCall;
  const price = (ended: EndedCall) =>
    costOf(
      answerOf(name, () => cost(copyOf(ended))),
      unit,
    );
  if (reserve !== null) {
    const held: Cost = { ok: true, micros: reserve.micros };
    return { hold: () => held, price };
  }
  return { hold: ({ args = null }, most) => price({ args, result: null, usage: most?.() ?? null }), price };
}

/** INVARIANT: a function that throws, or gives no cost, is a problem that denies: never a call that costs nothing. */
function answerOf(name: string, ask: () => unknown): CelResult {
  try {
    const value = ask();
    const isCost = typeof value === 'number' || typeof value === 'string';
    return isCost
      ? { ok: true, value }
      : { ok: false, problem: `the cost function '${name}' gave no number and no amount` };
  } catch {
    return { ok: false, problem: `the cost function '${name}' threw` };
  }
}

function holdBy(evaluate: Evaluate, readsNow: boolean, unit: string): Budget['hold'] {
  return (call) => {
    const values = call as unknown as Readonly<Record<string, unknown>>;
    return costOf(evaluate(readsNow ? { ...values, now: timestampOf(call.nowMs) } : values), unit);
  };
}

type Evaluate = Extract<ReturnType<typeof compileCel>, { ok: true }>['evaluate'];

function wrong(problem: string, how: string, at?: { readonly line: number; readonly column: number }): WrongPricing {
  return { problem, fix: how, at: at === undefined ? {} : { at } };
}

/** Those whose pattern matches, in order; `maxKept` tools are remembered. */
export function findByTool<Item extends { readonly pattern: ToolPattern }>(
  items: readonly Item[],
  maxKept: number,
): (tool: string) => readonly Item[] {
  if (items.length === 0) return () => none;
  const kept = new Map<string, readonly Item[]>();
  return (tool) => {
    const known = kept.get(tool);
    if (known !== undefined) return known;
    const found = items.filter(({ pattern }) => matchesTool(pattern, tool));
    if (kept.size < maxKept) kept.set(tool, found);
    return found;
  };
}

const none: readonly never[] = [];
