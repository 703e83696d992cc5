/**
 * What tokens cost: whole millionths of a currency, rounded up, so that sums are exact and nothing is free that has a
 * price. Pure.
 */
import { maxMicros } from '../budget/amount.ts';
import type { Price } from './model-provider.ts';
import type { TokenUsage } from './protocol.ts';

const perTokens = 1_000_000n;
const perUnit = 1_000_000n;

/** As budgets read amounts: `0.0125 USD`. Null if it is more than an amount can be. */
export function costOf(price: Price, usage: TokenUsage): string | null {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const { inputMicros, outputMicros, cacheReadMicros = inputMicros, cacheWriteMicros = inputMicros } = price;
  const parts: readonly (readonly [number, number])[] = [
    [plain, inputMicros],
    [cacheReadTokens, cacheReadMicros],
    [cacheWriteTokens, cacheWriteMicros],
    [outputTokens, outputMicros],
  ];
  const sum = parts.reduce((total, [tokens, micros]) => total + BigInt(tokens) * BigInt(micros), 0n);
  const micros = (sum + perTokens - 1n) / perTokens;
  return micros > BigInt(maxMicros) ? null : costText(micros, price.currency);
}

/** As budgets read amounts. */
export function costText(micros: bigint, currency: string): string {
  const fraction = String(micros % perUnit)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${micros / perUnit}${fraction === '' ? '' : `.${fraction}`} ${currency}`;
}

/** Whether input costs more if it is written to a cache on the way. */
export const isWriteDearer = ({ inputMicros, cacheWriteMicros = 0 }: Price): boolean => cacheWriteMicros > inputMicros;
