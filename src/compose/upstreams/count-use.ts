/** Counts what was used of one provider of models since the process began: of calls that gave a whole answer. */
import { readAmount } from '../../core/budget/amount.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';
import type { ModelsUsed } from '../../core/model/model-status.ts';
import { costText } from '../../core/model/price.ts';
import type { Json } from '../../core/values/json.ts';
import type { Upstream } from '../../ports/upstream.ts';

export interface CountedUse {
  readonly upstream: Upstream;
  used(): ModelsUsed;
}

export function countUse(upstream: Upstream, entryOf: (tool: string) => ToolEntry | undefined): CountedUse {
  const sums = { calls: 0, input_tokens: 0, output_tokens: 0 };
  let cost: { readonly micros: bigint; readonly unit: string } | null = null;

  function count(tool: string, args: Json, output: Json): void {
    const used = entryOf(tool)?.metered?.used(args, output) ?? {};
    sums.calls++;
    sums.input_tokens += numberOf(used['input_tokens']);
    sums.output_tokens += numberOf(used['output_tokens']);
    const paid = typeof used['cost'] === 'string' ? readAmount(used['cost']) : null;
    // All prices of a provider are in one currency.
    if (paid !== null) cost = { micros: (cost?.micros ?? 0n) + BigInt(paid.micros), unit: paid.unit };
  }

  return {
    upstream: {
      async invoke(attempt, signal, late) {
        const result = await upstream.invoke(attempt, signal, late);
        if (result.kind === 'returned') count(attempt.tool, attempt.args, result.output as Json);
        return result;
      },
    },
    used: () => ({ ...sums, cost: cost === null ? null : costText(cost.micros, cost.unit) }),
  };
}

const numberOf = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
