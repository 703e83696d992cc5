/**
 * What budgets add to the commit that ends a call: what it held is given back, and what it cost is charged, in the
 * window in which it was held. A call in doubt keeps what it holds.
 */
import type { Cost } from '../../core/budget/budget.ts';
import type { CallState } from '../../core/taxonomy.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { Settlement } from '../../ports/store.ts';
import type { Ending, EndRider } from './ending.ts';
import type { HeldAmount } from './held-amounts.ts';

export const budgetRider: EndRider = ({ from, next, ending, context }) => {
  const { holds } = context;
  // What is adopted was paid by the call that did the work.
  if (holds.length === 0 || ending.adopts !== undefined || next.state === from.state) return {};
  const charged = chargeFor(next.state, holds, ending);
  if (charged === null) return {};
  return { parts: { settle: [{ call: next.id, spent: charged.spent }] }, facts: { budgets: charged.facts } };
};

interface Charged {
  readonly spent: Settlement['spent'];
  readonly facts: readonly JsonObject[];
}

/** Null while the call may still cost something. */
function chargeFor(state: CallState | '(none)', holds: readonly HeldAmount[], { result }: Ending): Charged | null {
  switch (state) {
    case 'SUCCEEDED':
      return chargedBy(holds.map((hold) => ({ hold, cost: costOf(hold, result) })));
    case 'CLOSED_UNKNOWN':
      return { spent: 'held', facts: holds.map(({ account, micros }) => ({ account, held: micros, spent: micros })) };
    case 'FAILED':
    case 'DENIED':
    case 'REJECTED':
    case 'EXPIRED':
    case 'CANCELLED':
      return { spent: 'nothing', facts: holds.map(({ account, micros }) => ({ account, held: micros, spent: 0 })) };
    case '(none)':
    case 'AWAITING_APPROVAL':
    case 'PREPARED':
    case 'DISPATCHED':
    case 'RETRY_WAIT':
    case 'IN_DOUBT':
      return null;
    default:
      return unreachable(state);
  }
}

function costOf({ micros, price }: HeldAmount, result: Json | undefined): Cost {
  if (price === null || result === undefined) return { ok: true, micros };
  return price(result);
}

/** What cannot be priced costs what was held, and the record says why. */
function chargedBy(costs: readonly { readonly hold: HeldAmount; readonly cost: Cost }[]): Charged {
  const charges = costs.map(({ hold, cost }) => ({
    account: hold.account,
    amount: cost.ok ? cost.micros : hold.micros,
  }));
  const facts = costs.map(({ hold: { account, micros }, cost }) => {
    const spent = cost.ok ? cost.micros : micros;
    const over = spent > micros ? { over: spent - micros } : {};
    return { account, held: micros, spent, ...over, ...(cost.ok ? {} : { problem: cost.problem }) };
  });
  return { spent: charges, facts };
}
