/** A policy as the HTTP door shows it, with wire names. Contains everything that decides a call. */
import { type ApprovalTerms, defaultTerms } from '../approval/approval.ts';
import { type Amount, scaleOf } from '../budget/amount.ts';
import type { WrittenBudget } from '../budget/budget.ts';
import type { RuleEffect, WrittenAgent, WrittenPolicy } from './policy.ts';

export interface TermsView {
  /** Who may approve; null for anybody who may approve at all. */
  readonly roles: readonly string[] | null;
  readonly needed: number;
  readonly expires_ms: number;
  readonly on_approve: 'wait' | 'run';
  readonly client_may_approve: boolean;
}

export function policyView({ agents, roles, budgets, ...rest }: WrittenPolicy) {
  return {
    ...rest,
    agents: agents.map(agentView),
    ...(roles === undefined ? {} : { roles }),
    ...(budgets === undefined ? {} : { budgets: budgets.map(budgetView) }),
  };
}

function agentView({ default: fallback, rules, budgets, ...rest }: WrittenAgent) {
  return {
    ...rest,
    default: fallback === null ? null : withTerms(fallback),
    rules: rules.map(withTerms),
    ...(budgets === undefined ? {} : { budgets: budgets.map(budgetView) }),
  };
}

/** Amounts are in the unit of the budget; terms stand only where something is deferred. */
function budgetView({ max, reserve, raise, timeZone, warnAt, onExceed, terms, ...rest }: WrittenBudget) {
  const inUnits = ({ micros, unit }: Amount): number => micros / scaleOf(unit);
  return {
    ...rest,
    unit: max.unit,
    max: inUnits(max),
    reserve: reserve === null ? null : inUnits(reserve),
    time_zone: timeZone,
    warn_at: warnAt,
    on_exceed: onExceed,
    ...(onExceed === 'defer' ? { raise: inUnits(raise), terms: termsView(terms) } : {}),
  };
}

interface Deferring {
  readonly effect: RuleEffect;
  readonly terms?: ApprovalTerms;
}

/** Terms stand only where something is deferred. */
function withTerms<Rule extends Deferring>({ terms = defaultTerms, ...rule }: Rule) {
  return rule.effect === 'defer' ? { ...rule, terms: termsView(terms) } : rule;
}

const termsView = ({ roles, needed, expiresMs, onApprove, clientMayApprove }: ApprovalTerms): TermsView => ({
  roles,
  needed,
  expires_ms: expiresMs,
  on_approve: onApprove,
  client_may_approve: clientMayApprove,
});
