/** Looks up what is left of the rate limits and budgets of a call. Reads only. */
import type { ApprovalId } from '../../core/approval/approval.ts';
import { accountAt, type Budget } from '../../core/budget/budget.ts';
import type { BudgetFact } from '../../core/budget/judge-budgets.ts';
import type { Principal, Request } from '../../core/call/call.ts';
import { budgetsOf } from '../../core/gates/budget.ts';
import type { Facts, RateFact } from '../../core/gates/facts.ts';
import { limitsOf } from '../../core/gates/rate.ts';
import type { Shell } from '../shell.ts';

/** Placeholder for the id of a new approval where none may be opened. */
const notOpened = 'apr_not_opened_yet' as ApprovalId;

export function fetchRates(
  request: Request,
  facts: Facts,
  { tenant }: Principal,
  { ports }: Shell,
): Promise<readonly RateFact[]> {
  const limits = limitsOf(request, facts);
  return Promise.all(limits.map(async ({ bucket }) => ({ fullAtMicros: await ports.store.bucket(tenant, bucket) })));
}

/** `mayAsk` false: whoever looks opens no approval. */
export function fetchBudgets(
  request: Request,
  facts: Facts,
  { tenant }: Principal,
  mayAsk: boolean,
  shell: Shell,
): Promise<readonly BudgetFact[]> {
  const session = facts.session?.found ? facts.session.id : null;
  return Promise.all(
    budgetsOf(request, facts).map(async (budget) => ({
      ...(await lookAtBudget(budget, tenant, session, facts.nowMs, shell)),
      freshId: mayAsk ? freshApproval(shell) : notOpened,
    })),
  );
}

const freshApproval = ({ ports: { ids, clock } }: Shell): ApprovalId =>
  ids.ordered('apr_', clock.nowMs()) as ApprovalId;

export async function lookAtBudget(
  budget: Budget,
  tenant: string,
  session: string | null,
  nowMs: number,
  { ports: { store } }: Shell,
): Promise<Omit<BudgetFact, 'freshId'>> {
  const window = accountAt(budget, session, nowMs);
  const { approval, ...found } = await store.account(tenant, window.account);
  return { ...window, ...found, approval: approval === null ? null : await store.approval(approval) };
}
