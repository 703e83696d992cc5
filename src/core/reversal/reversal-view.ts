/** What is told of reversals and rollbacks: field names as they are on the wire. Pure. */
import type { JsonObject } from '../values/json.ts';
import { instantText } from '../values/instant.ts';
import {
  isLeft,
  type Reversal,
  type ReversalState,
  type Rollback,
  type RollbackStep,
  type StepOutcome,
} from './reversal.ts';

export interface RollbackView {
  readonly session: string;
  readonly state: Rollback['state'];
  readonly by: string;
  readonly reason: string;
  readonly started_at: string;
  readonly finished_at: string | null;
  /** In the order in which the calls were undone, the last call first. */
  readonly steps: readonly StepView[];
  /** How many calls took effect, or may have, and were not undone. */
  readonly left: number;
}

export interface StepView {
  readonly call_id: string;
  readonly tool: string;
  readonly outcome: StepOutcome;
  readonly why: string | null;
  /** The reversing call. */
  readonly reversed_by: string | null;
  readonly at: string;
}

export function viewOfRollback(rollback: Rollback, steps: readonly RollbackStep[]): RollbackView {
  const { session, state, by, reason, startedAtMs, finishedAtMs } = rollback;
  return {
    session,
    state,
    by,
    reason,
    started_at: instantText(startedAtMs),
    finished_at: finishedAtMs === null ? null : instantText(finishedAtMs),
    steps: steps.map(viewOfStep),
    left: steps.filter(({ outcome }) => isLeft(outcome)).length,
  };
}

const viewOfStep = ({ call, tool, outcome, why, reversal, atMs }: RollbackStep): StepView => ({
  call_id: call,
  tool,
  outcome,
  why,
  reversed_by: reversal,
  at: instantText(atMs),
});

export interface ReversalView {
  readonly call_id: string;
  readonly tool: string;
  /** The tool that would undo it. */
  readonly reverser: string;
  readonly state: ReversalState;
  readonly expires_at: string | null;
  readonly reversed_by: string | null;
  /** With what it would be called now; null if that cannot be said, and why. */
  readonly args: JsonObject | null;
  readonly problem: string | null;
}

export function viewOfReversal(
  { call, tool, reverser, state, expiresAtMs, redeemedBy }: Reversal,
  made: { readonly args: JsonObject } | { readonly problem: string },
): ReversalView {
  return {
    call_id: call,
    tool,
    reverser,
    state,
    expires_at: expiresAtMs === null ? null : instantText(expiresAtMs),
    reversed_by: redeemedBy,
    args: 'args' in made ? made.args : null,
    problem: 'problem' in made ? made.problem : null,
  };
}
