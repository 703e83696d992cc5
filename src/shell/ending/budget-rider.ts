/**
 * What budgets add to the commit that ends a call: what it held is given back, and what it cost is charged, in the
 * window in which it was held. A call in doubt keeps what it holds. Of a metered tool each attempt counts.
 */
import type { Cost } from '../../core/budget/budget.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import type { Settlement } from '../../ports/store.ts';
import type { EndRider, Move } from './ending.ts';
import { type AttemptUse, costOfUse, type HeldAmount, heldAfter } from './held-amounts.ts';

export const budgetRider: EndRider = (move) => {
  const { from, next, ending, context } = move;
  const { holds } = context;
  // What is adopted was paid by the call that did the work.
  if (holds.length === 0 || ending.adopts !== undefined || next.state === from.state) return {};
  if (next.state === 'RETRY_WAIT') return usedSoFar(holds, ending.use);
  const charged = chargeFor(move);
  if (charged === null) return {};
  return { parts: { settle: [{ call: next.id, spent: charged.spent }] }, facts: { budgets: charged.facts } };
};

/** For the process that ends the call, which need not be this one. */
function usedSoFar(holds: readonly HeldAmount[], use: AttemptUse | undefined): ReturnType<EndRider> {
  const used = heldAfter(holds, use).filter(({ usedBefore = 0 }) => usedBefore > 0);
  if (used.length === 0) return {};
  const budgets = used.map(({ account, micros, usedBefore = 0 }) => ({ account, held: micros, used: usedBefore }));
  return { facts: { budgets } };
}

interface Charged {
  readonly spent: Settlement['spent'];
  readonly facts: readonly JsonObject[];
}

/** Null while the call may still cost something. */
function chargeFor(move: Move): Charged | null {
  const { next, ending } = move;
  const { holds } = move.context;
  switch (next.state) {
    case 'SUCCEEDED':
      return chargedBy(holds.map((hold) => ({ hold, cost: costOf(hold, ending.result) })));
    case 'CLOSED_UNKNOWN':
      return chargedBy(holds.map((hold) => ({ hold, cost: { ok: true, micros: hold.micros } })));
    case 'FAILED':
    case 'DENIED':
    case 'REJECTED':
    case 'EXPIRED':
    case 'CANCELLED':
      return chargedBy(holds.map((hold) => ({ hold, cost: { ok: true, micros: failureCost(hold, move) } })));
    case '(none)':
    case 'AWAITING_APPROVAL':
    case 'PREPARED':
    case 'DISPATCHED':
    case 'RETRY_WAIT':
    case 'IN_DOUBT':
      return null;
    default:
      return unreachable(next.state);
  }
}

function failureCost(hold: HeldAmount, { from, ending }: Move): number {
  if (hold.usedBefore === undefined) return 0;
  // A doubt that ends as nothing done was an attempt all the same.
  return costOfUse(hold, ending.use ?? (from.state === 'IN_DOUBT' ? { kind: 'unknown' } : undefined));
}

function costOf({ micros, price }: HeldAmount, result: Json | undefined): Cost {
  if (price === null || result === undefined) return { ok: true, micros };
  return price(result);
}

/** What cannot be priced costs what was held, and the record says why. */
function chargedBy(costs: readonly { readonly hold: HeldAmount; readonly cost: Cost }[]): Charged {
  const charged = costs.map(({ hold, cost }) => {
    const spent = (cost.ok ? cost.micros : hold.micros) + (hold.usedBefore ?? 0);
    const over = spent > hold.micros ? { over: spent - hold.micros } : {};
    const problem = cost.ok ? {} : { problem: cost.problem };
    return { account: hold.account, held: hold.micros, spent, ...over, ...problem };
  });
  return { spent: charged.map(({ account, spent }) => ({ account, amount: spent })), facts: charged };
}
