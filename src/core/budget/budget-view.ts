/** The wire type of a budget in its present window, as operators and agents see it. Amounts are in its own unit. */
import { instantText } from '../values/instant.ts';
import { scaleOf, type Unit } from './amount.ts';
import { type Budget, type BudgetAccount, type OnExceed, warnsFrom } from './budget.ts';
import type { WindowKind } from './window.ts';

/** `warned`: at or beyond `warn_at`. `used_up`: nothing is left. */
export const budgetStates = ['open', 'warned', 'used_up'] as const;
export type BudgetState = (typeof budgetStates)[number];

/** A budget on the wire. */
export interface BudgetView {
  /** `agent/name` for one of an agent's own, `name` for one that agents share. */
  readonly budget: string;
  readonly name: string;
  /** Whose it is; null if it is shared. */
  readonly agent: string | null;
  readonly match: string;
  readonly window: WindowKind;
  readonly time_zone: string;
  /** Of a window by session: which; otherwise null. */
  readonly session: string | null;
  /** A currency of three letters, `calls` or `tokens`. */
  readonly unit: Unit;
  readonly max: number;
  /** What was approved beyond `max`, in this window. */
  readonly allowed: number;
  readonly spent: number;
  /** Of calls that run or are in doubt. */
  readonly held: number;
  readonly left: number;
  readonly warn_at: number | null;
  readonly on_exceed: OnExceed;
  readonly state: BudgetState;
  /** Null if its window does not end by itself. */
  readonly resets_at: string | null;
  /** `file:line` of it. */
  readonly ref: string;
}

/** What an operator says that has been spent, as a door takes it. */
export interface BudgetCorrection {
  /** An amount such as `120 USD`, or a number in the unit of the budget. */
  readonly spent: string | number;
  readonly note?: string;
  /** Of a budget that counts by session: which. */
  readonly session?: string;
}

/** What is on its account. */
export interface OnAccount extends BudgetAccount {
  readonly settled: number;
  readonly held: number;
  readonly allowed: number;
}

/** Its name for people and programs: its scope without the kind of its owner. */
export const budgetIdOf = ({ scope }: Pick<Budget, 'scope'>): string => scope.slice(scope.indexOf('/') + 1);

/** Null if agents share it. */
export function ownerOf(budget: Pick<Budget, 'scope'>): string | null {
  const id = budgetIdOf(budget);
  // Names of budgets have no slash.
  const end = id.lastIndexOf('/');
  return end < 0 ? null : id.slice(0, end);
}

/** Whether calls of this agent are charged to it. */
export function drawsFrom(agent: string, budget: Budget): boolean {
  const owner = ownerOf(budget);
  if (owner !== null) return owner === agent;
  return budget.written.agents === null || budget.written.agents.includes(agent);
}

export function viewOfBudget(budget: Budget, account: OnAccount, session: string | null): BudgetView {
  const { name, match, max, window, timeZone, warnAt, onExceed, ref } = budget.written;
  const mark = warnsFrom(budget.written);
  const inUnits = (micros: number): number => micros / scaleOf(max.unit);
  const { settled, held, allowed, endsAtMs } = account;
  const left = Math.max(0, max.micros + allowed - settled - held);
  return {
    budget: budgetIdOf(budget),
    name,
    agent: ownerOf(budget),
    match,
    window,
    time_zone: timeZone,
    session: window === 'session' ? session : null,
    unit: max.unit,
    max: inUnits(max.micros),
    allowed: inUnits(allowed),
    spent: inUnits(settled),
    held: inUnits(held),
    left: inUnits(left),
    warn_at: warnAt,
    on_exceed: onExceed,
    state: left === 0 ? 'used_up' : mark !== null && settled + held >= mark ? 'warned' : 'open',
    resets_at: endsAtMs === null ? null : instantText(endsAtMs),
    ref,
  };
}
