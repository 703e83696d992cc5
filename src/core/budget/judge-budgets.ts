/**
 * Judges what a call would do to its budgets: whether it fits, what it holds, what is warned about, and whether
 * somebody is asked to let more be spent. Pure; gates/budget.ts asks it.
 */
import { type Approval, type ApprovalId, stateAt } from '../approval/approval.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Notice } from '../call/reply.ts';
import { instantText } from '../values/instant.ts';
import { unreachable } from '../values/unreachable.ts';
import { amountText, percentOf } from './amount.ts';
import { type Budget, type BudgetAccount, textOf, warnsFrom } from './budget.ts';

/** What is on a budget's account in the window of the call. */
export interface BudgetFact extends BudgetAccount {
  readonly settled: number;
  readonly held: number;
  /** What was approved beyond the budget, in this window. */
  readonly allowed: number;
  /** The approval that was asked for, in this window. */
  readonly approval: Approval | null;
  /** The id of one that would be asked for now. */
  readonly freshId: ApprovalId;
}

/** What the intent takes of one account; `limit` null takes it whatever is left. */
export interface Hold {
  readonly budget: Budget;
  readonly account: string;
  readonly micros: number;
  readonly limit: number | null;
  /** What the reply says about this budget; null below its mark. */
  readonly warning: Notice | null;
}

/** Asks a person to let more be spent than the budget has: once in a window. */
export interface SpendingAsk {
  readonly id: ApprovalId;
  readonly budget: Budget;
  readonly account: string;
  readonly endsAtMs: number | null;
  /** One that is over and stands in its place. */
  readonly replaces: Approval | null;
}

export interface BudgetJudgement {
  readonly hold: Hold;
  readonly ask: SpendingAsk | null;
  /** Null if the call fits, or may go beyond. */
  readonly refusal: Refusal | null;
}

/** The call, as far as budgets look at it. `mayAsk` false: nobody is asked to let more be spent. */
export interface PricedCall {
  readonly tool: string;
  readonly micros: number;
  readonly nowMs: number;
  readonly mayAsk: boolean;
}

export function judgeBudget(budget: Budget, fact: BudgetFact, call: PricedCall): BudgetJudgement {
  const { written } = budget;
  const { micros, nowMs } = call;
  const canAsk = written.onExceed === 'defer' && call.mayAsk;
  const max = written.max.micros;
  const after = fact.settled + fact.held + micros;
  const limit = max + fact.allowed;
  // The store adds what is allowed beyond it at that moment.
  const hold: Hold = { budget, account: fact.account, micros, limit: max, warning: null };
  const mark = warnsFrom(written);
  if (after <= limit) {
    if (mark === null || after < mark) return { hold, ask: null, refusal: null };
    const ask = canAsk ? askFor(budget, fact, nowMs) : null;
    const warned = { ...hold, warning: warning(budget, fact, after, ask) };
    return { hold: warned, ask: ask?.fresh ?? null, refusal: null };
  }
  switch (written.onExceed) {
    case 'deny':
      return { hold, ask: null, refusal: exceeded(budget, fact, micros) };
    case 'audit':
      return {
        hold: { ...hold, limit: null, warning: warning(budget, fact, after, null) },
        ask: null,
        refusal: null,
      };
    case 'defer': {
      const ask = !canAsk || micros > max + written.raise.micros ? null : askFor(budget, fact, nowMs);
      if (ask === null) return { hold, ask: null, refusal: exceeded(budget, fact, micros) };
      return { hold, ask: ask.fresh, refusal: deferred(call.tool, budget, ask.id) };
    }
    default:
      return unreachable(written.onExceed);
  }
}

interface Asked {
  readonly id: ApprovalId;
  /** Null if it is open already. */
  readonly fresh: SpendingAsk | null;
}

/** Null if nobody is to be asked: more was allowed in this window already, or somebody said no. */
function askFor(budget: Budget, fact: BudgetFact, nowMs: number): Asked | null {
  if (fact.allowed > 0) return null;
  const { approval, account, endsAtMs, freshId: id } = fact;
  const fresh: Asked = { id, fresh: { id, budget, account, endsAtMs, replaces: approval } };
  if (approval === null) return fresh;
  const state = stateAt(approval, nowMs);
  switch (state) {
    case 'pending':
      return { id: approval.id, fresh: null };
    case 'denied':
    case 'granted':
    case 'revoked':
    case 'used':
      return null;
    case 'expired':
    case 'void':
      return fresh;
    default:
      return unreachable(state);
  }
}

function warning(budget: Budget, fact: BudgetFact, after: number, ask: Asked | null): Notice {
  const { name, max, window } = budget.written;
  return {
    code: 'BUDGET_WARNING',
    budget_id: name,
    human_message: `budget ${percentOf(after, max.micros)}% consumed (${textOf(after, budget)}/${textOf(max.micros, budget)} ${window})`,
    resolution:
      ask !== null
        ? { type: 'pending_approval', approval_id: ask.id }
        : fact.endsAtMs === null
          ? { type: 'manual_audit' }
          : { type: 'budget_reset', resets_at: instantText(fact.endsAtMs) },
  };
}

/** A window that never ends, and a cost that no window has room for, are no matter of time. */
function exceeded(budget: Budget, { endsAtMs }: BudgetFact, micros: number): Refusal {
  const { name, max, ref } = budget.written;
  const sentence = `denied: ${name} budget ceiling (${amountText(max.micros, max.unit)}) reached`;
  return {
    error: 'denied',
    class: 'Governance',
    code: 'BUDGET_EXCEEDED',
    message: sentence,
    human_message: sentence,
    budget_id: name,
    resolution:
      endsAtMs === null || micros > max.micros
        ? { type: 'rule_block', rule_id: ref }
        : { type: 'budget_reset', resets_at: instantText(endsAtMs) },
  };
}

function deferred(tool: string, { written }: Budget, id: ApprovalId): Refusal {
  const sentence = `${tool} deferred for operator approval`;
  return {
    error: 'denied',
    class: 'Governance',
    code: 'POLICY_DEFER',
    message: `${sentence}: the ${written.name} budget (${amountText(written.max.micros, written.max.unit)}) is used up`,
    human_message: sentence,
    rule_ref: written.ref,
    budget_id: written.name,
    resolution: { type: 'pending_approval', approval_id: id },
  };
}

/** A cost that cannot be told denies, by name. */
export function unpriced(tool: string, { written }: Budget, problem: string): Refusal {
  const sentence = `denied: ${tool} blocked by budget ${written.name}: its cost cannot be told (${problem})`;
  return {
    error: 'denied',
    class: 'Governance',
    code: 'POLICY_DENY',
    message: sentence,
    human_message: sentence,
    rule_ref: written.ref,
    resolution: { type: 'rule_block', rule_id: written.ref },
  };
}
