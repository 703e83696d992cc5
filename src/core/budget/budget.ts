/**
 * What a budget is, what a call costs it, and which account its window has. A cost that cannot be told is a problem,
 * never a guess. Pure.
 */
import type { ApprovalTerms } from '../approval/approval.ts';
import type { CelResult } from '../cel/compile-cel.ts';
import type { ToolPattern } from '../policy/tool-pattern.ts';
import { instantText } from '../values/instant.ts';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { type Amount, amountText, readAmount, toMicros, type Unit, wholeFrom } from './amount.ts';
import { windowAt, type WindowKind } from './window.ts';

export const exceedings = ['deny', 'defer', 'audit'] as const;
export type OnExceed = (typeof exceedings)[number];

/** One budget, as it is written. Amounts have been read; `cost` is CEL. */
export interface WrittenBudget {
  readonly name: string;
  readonly max: Amount;
  readonly match: string;
  /** Null: every call costs 1. */
  readonly cost: string | null;
  /** In place of it: the name of a cost function that an extension adds. */
  readonly costFunction?: string;
  /** What a call holds whose cost only its result tells; null without one. */
  readonly reserve: Amount | null;
  readonly window: WindowKind;
  readonly timeZone: string;
  /** From which share on it warns; null never does. */
  readonly warnAt: number | null;
  readonly onExceed: OnExceed;
  /** By how much an approval raises it for the rest of its window. */
  readonly raise: Amount;
  readonly terms: ApprovalTerms;
  /** The agents that share it; null for every agent of the tenant. */
  readonly agents: readonly string[] | null;
  /** `file:line` of the budget. */
  readonly ref: string;
}

/** What a cost can look at once the call has ended. */
export interface EndedCall {
  readonly args: Json;
  readonly result: Json;
  readonly usage: Json;
}

/** The call as rules see it: what a cost may read depends on its expression. */
export interface BegunCall {
  readonly nowMs: number;
  readonly args?: Json;
}

/** The most that a call of a metered tool can use; null if nothing bounds it. Not handed in for any other tool. */
export type MostUsed = () => JsonObject | null;

/** From which amount on it warns; null never does. */
export const warnsFrom = ({ warnAt, max }: WrittenBudget): number | null =>
  warnAt === null ? null : wholeFrom(warnAt * max.micros);

export interface Budget {
  readonly written: WrittenBudget;
  readonly pattern: ToolPattern;
  /** Whose it is, and its name: the first part of its accounts. */
  readonly scope: string;
  /** What the call holds when it begins. */
  readonly hold: (call: BegunCall, most?: MostUsed) => Cost;
  /** What it cost in the end; null if that is what it held. */
  readonly price: ((ended: EndedCall) => Cost) | null;
}

export type Cost = { readonly ok: true; readonly micros: number } | { readonly ok: false; readonly problem: string };

/** The window a call falls in, and the account of it. `endsAtMs` null: it does not end by itself. */
export interface BudgetAccount {
  readonly account: string;
  readonly endsAtMs: number | null;
}

/** INVARIANT: an account has one unit. A budget whose unit is changed begins at nothing. */
const accountsOf = ({ scope, written }: Budget): string => `${scope}/${written.max.unit}`;

/** INVARIANT: which window a call is charged to is decided when it begins, and never again. */
export function accountAt(budget: Budget, session: string | null, nowMs: number): BudgetAccount {
  const { window, timeZone } = budget.written;
  const accounts = accountsOf(budget);
  if (window === 'total') return { account: accounts, endsAtMs: null };
  if (window === 'session') return { account: `${accounts}/${session ?? ''}`, endsAtMs: null };
  const { startsAtMs, endsAtMs } = windowAt(window, timeZone, nowMs);
  return { account: `${accounts}/${instantText(startsAtMs)}`, endsAtMs };
}

/** Whether it is one of the accounts of this budget, in any window. */
export function isAccountOf(budget: Budget, account: string): boolean {
  const accounts = accountsOf(budget);
  return account === accounts || account.startsWith(`${accounts}/`);
}

/** What an expression gave, as a cost in this unit: a number, `12.50 EUR`, or `{amount, currency}`. */
export function costOf(result: CelResult, unit: Unit): Cost {
  if (!result.ok) return { ok: false, problem: result.problem };
  const { value } = result;
  if (typeof value === 'number') return numberCost(value, unit);
  if (typeof value === 'string') {
    const amount = readAmount(value);
    return amount === null ? wrong('it is no amount') : amountCost(amount, unit);
  }
  if (isObject(value)) {
    const { amount, currency } = value as Readonly<Record<string, Json>>;
    if (currency !== unit) return wrong(`it is not in ${unit}`);
    return typeof amount === 'number' ? numberCost(amount, unit) : wrong('its amount is no number');
  }
  return wrong(value === null ? 'it is missing' : 'it is no number');
}

const wrong = (problem: string): Cost => ({ ok: false, problem });

function numberCost(value: number, unit: Unit): Cost {
  const micros = toMicros(value, unit);
  if (micros !== null) return { ok: true, micros };
  return wrong(value < 0 ? 'it is negative' : Number.isFinite(value) ? 'it is too large' : 'it is not finite');
}

const amountCost = (amount: Amount, unit: Unit): Cost =>
  amount.unit === unit ? { ok: true, micros: amount.micros } : wrong(`it is not in ${unit}`);

export const textOf = (micros: number, { written }: Budget): string => amountText(micros, written.max.unit);

/** What a tool says that it used: `recourse/usage` of an MCP result's _meta, or the field usage of any other result. */
export function usageIn(result: Json): Json {
  const fields = isObject(result) ? (result as Readonly<Record<string, Json>>) : {};
  const meta = fields['_meta'];
  const told = isObject(meta) ? (meta as Readonly<Record<string, Json>>)['recourse/usage'] : undefined;
  return told ?? fields['usage'] ?? null;
}
