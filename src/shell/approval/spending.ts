/** What an approval of spending shows, allows and is bound to, beside what every approval has. */
import type { Approval, Spending } from '../../core/approval/approval.ts';
import { amountText } from '../../core/budget/amount.ts';
import { isAccountOf } from '../../core/budget/budget.ts';
import type { Call } from '../../core/call/call.ts';
import { instantText } from '../../core/values/instant.ts';
import type { Json } from '../../core/values/json.ts';
import type { AccountWrite } from '../../ports/store.ts';
import type { Shell } from '../shell.ts';

/** What an approver decides on. */
export const shownSpending = ({ budget, account, unit, maxMicros, raiseMicros, endsAtMs }: Spending): Json => ({
  budget,
  account,
  max: amountText(maxMicros, unit),
  beyond: amountText(raiseMicros, unit),
  until: endsAtMs === null ? null : instantText(endsAtMs),
});

/** How much beyond its budget may be spent from now on. */
export const allowing = ({ tenant, spending }: Approval, amount: number): readonly AccountWrite[] =>
  spending === undefined ? [] : [{ kind: 'allow', tenant, account: spending.account, amount }];

/** Its records name the call that gave rise to it, and belong to no session. */
export const unattached = ({ callId }: Approval): Pick<Call, 'id' | 'session'> => ({ id: callId, session: null });

/** Whether the budget still has the amounts that the approval is about. */
export function hasCurrentBudget({ account, unit, maxMicros, raiseMicros }: Spending, { policy }: Shell): boolean {
  const budget = policy()?.budgets.find((each) => isAccountOf(each, account));
  if (budget === undefined) return false;
  const { max, raise, onExceed } = budget.written;
  return onExceed === 'defer' && max.unit === unit && max.micros === maxMicros && raise.micros === raiseMicros;
}
