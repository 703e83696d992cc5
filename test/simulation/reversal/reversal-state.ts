/** What a memory store holds of reversals and rollbacks. */
import type { Reversal, Rollback, RollbackStep } from '../../../src/core/reversal/reversal.ts';

export interface ReversalState {
  /** By call. */
  readonly reversals: Map<string, Reversal>;
  /** By session. */
  readonly rollbacks: Map<string, Rollback>;
  readonly steps: Map<string, readonly RollbackStep[]>;
}

export const createReversalState = (): ReversalState => ({
  reversals: new Map(),
  rollbacks: new Map(),
  steps: new Map(),
});
