/**
 * Gate 11: whether every budget that applies has room for what the call costs. Beyond one that defers, a person may let
 * more be spent; near its end the reply carries a warning.
 */
import { type BudgetFact, type BudgetJudgement, judgeBudget, unpriced } from '../budget/judge-budgets.ts';
import { amountText, maxSumMicros } from '../budget/amount.ts';
import type { Budget } from '../budget/budget.ts';
import type { Request } from '../call/call.ts';
import { ruleCallOf } from '../policy/rule-call.ts';
import { instantText } from '../values/instant.ts';
import type { JsonObject } from '../values/json.ts';
import { invariant } from '../values/unreachable.ts';
import type { Facts } from './facts.ts';
import { type Gate, type GateAnswer, pass } from './gate.ts';

/** The budgets that the call is charged to. */
export function budgetsOf({ tool }: Request, { catalogue, policy }: Facts): readonly Budget[] {
  const entry = catalogue.get(tool);
  return entry === undefined ? [] : (policy?.agent?.budgetsFor(entry.policyName) ?? []);
}

export const budget: Gate = {
  name: 'budget',
  check(request, facts) {
    const budgets = budgetsOf(request, facts);
    if (budgets.length === 0) return pass;
    const entry = facts.catalogue.get(request.tool);
    invariant(entry !== undefined, 'budgets are of tools that exist');
    const call = ruleCallOf(request, facts, entry);
    const judged: BudgetJudgement[] = [];
    // Audit mode opens no approvals.
    const priced = { tool: entry.policyName, nowMs: facts.nowMs, mayAsk: facts.policy?.mode !== 'audit' };
    const { metered } = entry;
    const most = metered === undefined ? undefined : () => metered.most(call.args);
    for (const [at, each] of budgets.entries()) {
      const cost = each.hold(call, most);
      if (!cost.ok) return { kind: 'refuse', refusal: unpriced(entry.policyName, each, cost.problem) };
      if (facts.budgets === undefined) return { kind: 'need', fact: 'budgets' };
      const fact = facts.budgets[at];
      invariant(fact !== undefined, 'each budget has its account');
      if (fact.settled + fact.held + cost.micros > maxSumMicros)
        return { kind: 'refuse', refusal: unpriced(entry.policyName, each, 'with what is spent it is too large') };
      judged.push(judgeBudget(each, fact, { ...priced, micros: cost.micros }));
    }
    return answerOf(judged);
  },
  saw: (request, facts) => {
    const budgets = budgetsOf(request, facts).map((each, at) => sawOf(each, facts.budgets?.[at]));
    return budgets.length === 0 ? {} : { budgets };
  },
};

/** Without its account where that was not looked at: a cost that cannot be told denies before. */
function sawOf({ written: { name, max, ref } }: Budget, fact: BudgetFact | undefined): JsonObject {
  const amount = (micros: number) => amountText(micros, max.unit);
  if (fact === undefined) return { budget: name, ref, max: amount(max.micros) };
  const { settled, held, allowed, endsAtMs } = fact;
  const limit = max.micros + allowed;
  return {
    budget: name,
    ref,
    max: amount(limit),
    spent: amount(settled),
    held: amount(held),
    left: amount(Math.max(0, limit - settled - held)),
    resets_at: endsAtMs === null ? null : instantText(endsAtMs),
  };
}

/** A plain no comes before a question to a person: it would be asked in vain. */
function answerOf(judged: readonly BudgetJudgement[]): GateAnswer {
  const refused =
    judged.find(({ refusal }) => refusal !== null && refusal.code !== 'POLICY_DEFER') ??
    judged.find(({ refusal }) => refusal !== null);
  const takes = judged.map(({ hold }) => {
    const limit = refused === undefined ? hold.limit : null;
    return { kind: 'hold', ...hold, limit } as const;
  });
  if (refused !== undefined && refused.refusal !== null)
    return { kind: 'refuse', refusal: refused.refusal, takes, asks: refused.ask === null ? [] : [refused.ask] };
  return {
    kind: 'pass',
    takes,
    asks: judged.flatMap(({ ask }) => ask ?? []),
    notices: judged.flatMap(({ hold }) => hold.warning ?? []),
  };
}
