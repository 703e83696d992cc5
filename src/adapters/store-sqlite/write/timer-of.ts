/** When must someone look at a call again? The row that it has in `timers`, or null if it has none. */
import type { CallState } from '../../../core/taxonomy.ts';
import { never } from '../file/schema.ts';

/** Not finished and not in doubt: recovery walks over these. */
export const unfinishedStates: readonly CallState[] = ['PREPARED', 'DISPATCHED', 'RETRY_WAIT', 'AWAITING_APPROVAL'];

const unfinished: ReadonlySet<string> = new Set(unfinishedStates);

export function timerOf(state: string, dueAtMs: number | null): number | null {
  return dueAtMs ?? (unfinished.has(state) ? never : null);
}
