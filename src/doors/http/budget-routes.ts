/** Routes for budgets: list, set, reset. An agent sees those that it draws from; only admins change what was spent. */
import type { DoorCode } from '../../core/http/door-problems.ts';
import type { BudgetCorrection, BudgetProblem, Changed } from '../../shell/budget/budget-service.ts';
import { type Answer, type Asked, json, refuse, refuseInput } from './answer.ts';
import { scopeOf, storeUnavailable } from './call-routes.ts';

export async function listBudgets({ query, who, parts }: Asked): Promise<Answer> {
  const { agent, session } = query as Readonly<Record<string, string | undefined>>;
  const found = await parts.budgets.list(scopeOf(who), {
    ...(agent === undefined ? {} : { agent }),
    ...(session === undefined ? {} : { session }),
  });
  if (found !== null) return json({ budgets: found });
  const expected = 'a session that is known to this key';
  return refuseInput('listBudgets', [{ path: '/session', expected, got: session ?? null }], parts);
}

/** The door's code for each problem; an unavailable store is answered as for a call. */
export const codeOfProblem = {
  not_found: 'UnknownBudget',
  bad_change: 'BadAmount',
  outcome_unknown: 'OutcomeUnknown',
} as const satisfies Record<Exclude<BudgetProblem, 'store_unavailable'>, DoorCode>;

export async function setBudget({ id, body, who, parts }: Asked): Promise<Answer> {
  return answerTo(await parts.budgets.set(id, who, body as BudgetCorrection), 'set_budget', parts);
}

export async function resetBudget({ id, body, who, parts }: Asked): Promise<Answer> {
  const input = body as Omit<BudgetCorrection, 'spent'>;
  return answerTo(await parts.budgets.reset(id, who, input), 'reset_budget', parts);
}

function answerTo(changed: Changed, requested: string, { newCallId }: Asked['parts']): Answer {
  if (changed.ok) return json(changed.budget);
  const { problem, message } = changed;
  if (problem === 'store_unavailable') return storeUnavailable(requested, newCallId());
  return refuse(codeOfProblem[problem], message);
}
