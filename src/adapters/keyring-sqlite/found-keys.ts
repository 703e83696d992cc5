/**
 * Which keys were found a moment ago? Saves the look into the file for a caller who asks all the time. Holds only keys
 * that were right, under their hash, so that a wrong secret costs the same whether or not its id is known.
 */
import { keyLimits } from './key-limits.ts';
import type { KeyRow } from './key-rows.ts';

export interface FoundKeys {
  get(name: string): KeyRow | undefined;
  put(name: string, row: KeyRow): void;
  clear(): void;
}

export function createFoundKeys(monotonicMs: () => number): FoundKeys {
  const found = new Map<string, { readonly row: KeyRow; readonly untilMs: number }>();
  return {
    get(name) {
      const kept = found.get(name);
      if (kept === undefined) return undefined;
      // INVARIANT: by the clock that never jumps, so that a revocation of another process waits no longer than this.
      if (monotonicMs() < kept.untilMs) return kept.row;
      found.delete(name);
      return undefined;
    },
    put(name, row) {
      const [oldest] = found.size >= keyLimits.maxFound ? found.keys() : [];
      if (oldest !== undefined) found.delete(oldest);
      found.set(name, { row, untilMs: monotonicMs() + keyLimits.foundForMs });
    },
    clear: () => found.clear(),
  };
}
