/**
 * What a call holds of the accounts of its budgets, and what it will cost once its result is known. A metered tool uses
 * something with each attempt, also with one that failed.
 */
import { type Cost, isAccountOf, usageIn } from '../../core/budget/budget.ts';
import type { Call } from '../../core/call/call.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import type { Take } from '../../core/gates/gate.ts';
import { isObject, type Json, type JsonObject } from '../../core/values/json.ts';
import type { Shell } from '../shell.ts';

/** What a call holds of one account. */
export interface HeldAmount {
  readonly account: string;
  readonly micros: number;
  /** What it costs once the result is known; null if that is what it holds. `usage`: instead of what the result says. */
  readonly price: ((result: Json, usage?: JsonObject) => Cost) | null;
  /** What attempts before this one have used; absent if only a success costs. */
  readonly usedBefore?: number;
}

/** What an attempt has used that gave no result: of one that was not sent, or used nothing, nothing is said. */
export type AttemptUse = { readonly kind: 'unknown' } | { readonly kind: 'known'; readonly usage: JsonObject };

type Meter = Pick<ToolEntry, 'metered'>;

export const heldBy = (takes: readonly Take[], args: Json, tool: Meter): readonly HeldAmount[] =>
  takes.flatMap((take) => {
    if (take.kind !== 'hold') return [];
    const { price } = take.budget;
    return [{ account: take.account, micros: take.micros, ...pricedBy(price, args, tool), ...usedFrom(0, tool) }];
  });

const usedFrom = (usedBefore: number, { metered }: Meter) => (metered === undefined ? {} : { usedBefore });

function pricedBy(
  price: ((ended: { args: Json; result: Json; usage: Json }) => Cost) | null,
  args: Json,
  { metered }: Meter,
): Pick<HeldAmount, 'price'> {
  if (price === null) return { price };
  const usageOf = (result: Json) => (metered === undefined ? usageIn(result) : metered.used(args, result));
  return { price: (result, usage) => price({ args, result, usage: usage ?? usageOf(result) }) };
}

/** For a call that another process began: what it holds, priced by the budgets of today. */
export async function heldOnRecord(call: Call, tool: Meter | undefined, shell: Shell): Promise<readonly HeldAmount[]> {
  const { store } = shell.ports;
  const holds = await store.holdsOf(call.id);
  if (holds.length === 0) return [];
  const budgets = shell.policy()?.budgets ?? [];
  const stored = await store.args(call.id);
  const args = stored.kind === 'text' ? (JSON.parse(stored.text) as Json) : null;
  const used = tool?.metered === undefined ? null : await usedOnRecord(call, shell);
  return holds.map(({ account, amount }) => {
    const price = budgets.find((budget) => isAccountOf(budget, account))?.price ?? null;
    const before = used === null ? {} : { usedBefore: used.get(account) ?? 0 };
    return { account, micros: amount, ...pricedBy(price, args, tool ?? {}), ...before };
  });
}

/** What the attempts of a call had used when its last retry was planned, by account. */
async function usedOnRecord({ id, attempt }: Call, { ports }: Shell): Promise<ReadonlyMap<string, number>> {
  const records = attempt === 0 ? [] : await ports.store.recordsOf(id);
  const planned = records.findLast(({ kind }) => kind === 'retry_planned');
  const fields = planned === undefined ? null : (JSON.parse(planned.body) as Json);
  const budgets: unknown = isObject(fields) ? fields['budgets'] : null;
  const told = Array.isArray(budgets) ? (budgets as readonly { account: string; used: number }[]) : [];
  return new Map(told.map(({ account, used }) => [account, used]));
}

/** What an attempt costs that gave no result. What nobody knows counts as the most that it could use. */
export function costOfUse({ micros, price }: HeldAmount, use: AttemptUse | undefined): number {
  if (use === undefined) return 0;
  if (use.kind === 'unknown' || price === null) return micros;
  const cost = price(null, use.usage);
  return cost.ok ? cost.micros : micros;
}

/** After an attempt that is followed by another. A budget whose cost is known ahead counts the call, once. */
export const heldAfter = (holds: readonly HeldAmount[], use: AttemptUse | undefined): readonly HeldAmount[] =>
  holds.map((hold) =>
    hold.usedBefore === undefined || hold.price === null
      ? hold
      : { ...hold, usedBefore: hold.usedBefore + costOfUse(hold, use) },
  );
