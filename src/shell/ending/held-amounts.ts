/** What a call holds of the accounts of its budgets, and what it will cost once its result is known. */
import { type Cost, isAccountOf, usageIn } from '../../core/budget/budget.ts';
import type { Call } from '../../core/call/call.ts';
import type { Take } from '../../core/gates/gate.ts';
import type { Json } from '../../core/values/json.ts';
import type { Shell } from '../shell.ts';

/** What a call holds of one account. */
export interface HeldAmount {
  readonly account: string;
  readonly micros: number;
  /** What it costs once the result is known; null if that is what it holds. */
  readonly price: ((result: Json) => Cost) | null;
}

export const heldBy = (takes: readonly Take[], args: Json): readonly HeldAmount[] =>
  takes.flatMap((take) => {
    if (take.kind !== 'hold') return [];
    const { price } = take.budget;
    const priced = price === null ? null : (result: Json) => price({ args, result, usage: usageIn(result) });
    return [{ account: take.account, micros: take.micros, price: priced }];
  });

/** For a call that another process began: what it holds, priced by the budgets of today. */
export async function heldOnRecord(call: Call, shell: Shell): Promise<readonly HeldAmount[]> {
  const { store } = shell.ports;
  const holds = await store.holdsOf(call.id);
  if (holds.length === 0) return [];
  const budgets = shell.policy()?.budgets ?? [];
  const stored = await store.args(call.id);
  const args = stored.kind === 'text' ? (JSON.parse(stored.text) as Json) : null;
  return holds.map(({ account, amount }) => {
    const price = budgets.find((budget) => isAccountOf(budget, account))?.price ?? null;
    return {
      account,
      micros: amount,
      price: price === null ? null : (result) => price({ args, result, usage: usageIn(result) }),
    };
  });
}
