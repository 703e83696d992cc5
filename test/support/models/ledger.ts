/** What a local provider was asked, and what it bills for it: also an answer that nobody waited for. */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../../src/core/values/json.ts';
import type { SaidTokens } from './said.ts';

/** In dollars for a million tokens. Tokens from a cache cost what is written here, else as much as other input. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

export interface LedgerEntry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Null for a request without one. */
  readonly body: JsonObject | null;
  readonly model: string;
  /** Null for what is not billed: refusals, and requests that never reached the model. */
  billed: Required<SaidTokens> | null;
  /** Events that were written to the connection. */
  events: number;
  /** `left`: the client closed the connection first. */
  ended: 'open' | 'whole' | 'left' | 'broken' | 'refused';
}

export interface Bill {
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Millionths of a dollar, whole with whole prices. */
  readonly microDollars: number;
}

export function billOf(entries: readonly LedgerEntry[], prices: (model: string) => Prices): Bill {
  const billed = entries.flatMap((entry) => (entry.billed === null ? [] : [{ ...entry.billed, model: entry.model }]));
  const cost = billed.map(({ model, input, output, cacheRead, cacheWrite }) => {
    const price = prices(model);
    const plain = (input - cacheRead - cacheWrite) * price.input + output * price.output;
    return plain + cacheRead * (price.cacheRead ?? price.input) + cacheWrite * (price.cacheWrite ?? price.input);
  });
  return {
    requests: billed.length,
    inputTokens: billed.reduce((sum, { input }) => sum + input, 0),
    outputTokens: billed.reduce((sum, { output }) => sum + output, 0),
    microDollars: cost.reduce((sum, each) => sum + each, 0),
  };
}
