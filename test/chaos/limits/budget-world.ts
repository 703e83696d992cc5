/**
 * Budgets and a rate limit of the chaos: each agent has a budget of its own, and when it is used up everybody goes on
 * as the next agent. What a payment costs is told by its arguments.
 */
import { compilePolicy } from '../../../src/core/policy/compile-policy.ts';
import type { Policy } from '../../../src/core/policy/policy.ts';
import { anAgent } from '../../support/a-policy.ts';
import { aBudget, aLimit } from '../../support/limits/written-quotas.ts';
import type { Orders, Payment } from '../recovery/recovery-orders.ts';

/** How many ask at once, in all processes together. */
export const callers = 64;
export const maxDollars = 30;
/** What a note costs, which has no amount. */
export const noteDollars = 2;
export const rate = { perSecond: 100, burst: 50 };
const agents = 400;

export const agentOf = (generation: number): string => `a${generation}`;
export const accountOf = (agent: string): string => `agent/${agent}/spent/USD`;

export interface BudgetPayment extends Payment {
  readonly agent: string;
  readonly dollars: number;
}

export interface BudgetOrders extends Orders {
  readonly open: readonly BudgetPayment[];
  /** Whose budget is not used up yet, as far as anybody has heard. */
  readonly generation: number;
}

export function budgetPolicy(): Policy {
  const cost = `has(args.amount) ? args.amount : ${noteDollars}.0`;
  const budgets = [aBudget(`${maxDollars} USD`, { name: 'spent', window: 'total', cost })];
  const limits = [aLimit('**', `${rate.perSecond}/second`, { burst: rate.burst })];
  const written = Array.from({ length: agents }, (_, at) => anAgent(agentOf(at), [['permit', '**']], { budgets }));
  const compiled = compilePolicy({ mode: 'enforce', ref: 'recourse.yaml:4', agents: written, limits }, null);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  return compiled.policy;
}

export function aPayment(tool: string, order: string, agent: string, dollars: number): BudgetPayment {
  const what = tool === 'add_note' ? { text: 'n' } : { amount: dollars };
  return { tool, args: { order, ...what }, key: order, agent, dollars: tool === 'add_note' ? noteDollars : dollars };
}
