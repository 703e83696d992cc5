/** Maps rows of reversals, rollbacks and their steps to the types of the port. */
import type { CallId, SessionId } from '../../../core/call/call.ts';
import {
  type Reversal,
  type ReversalId,
  reversalStates,
  type Rollback,
  type RollbackStep,
  stepOutcomes,
} from '../../../core/reversal/reversal.ts';

export interface ReversalRow {
  readonly id: string;
  readonly tenant: string;
  readonly agent: string;
  readonly session: string | null;
  readonly call_id: string;
  readonly tool: string;
  readonly reverser: string;
  readonly state: string;
  readonly window_ms: number;
  readonly expires_at: number | null;
  readonly redeemed_by: string | null;
  readonly tries: number;
  readonly asked_by: string | null;
  readonly reason: string | null;
}

export function reversalOf(row: ReversalRow): Reversal {
  return {
    id: row.id as ReversalId,
    tenant: row.tenant,
    agent: row.agent,
    session: row.session as SessionId | null,
    call: row.call_id as CallId,
    tool: row.tool,
    reverser: row.reverser,
    // INVARIANT: a state that this version does not know permits nothing.
    state: Object.hasOwn(reversalStates, row.state) ? (row.state as Reversal['state']) : 'void',
    windowMs: row.window_ms,
    expiresAtMs: row.expires_at,
    redeemedBy: row.redeemed_by as CallId | null,
    tries: row.tries,
    askedBy: row.asked_by,
    reason: row.reason,
  };
}

export interface RollbackRow {
  readonly session: string;
  readonly tenant: string;
  readonly agent: string;
  readonly state: string;
  readonly asked_by: string;
  readonly reason: string;
  readonly started_at: number;
  readonly finished_at: number | null;
  readonly version: number;
}

export function rollbackOf(row: RollbackRow): Rollback {
  return {
    session: row.session as SessionId,
    tenant: row.tenant,
    agent: row.agent,
    state: row.state === 'running' ? 'running' : 'finished',
    by: row.asked_by,
    reason: row.reason,
    startedAtMs: row.started_at,
    finishedAtMs: row.finished_at,
    version: row.version,
  };
}

export interface StepRow {
  readonly call_id: string;
  readonly tool: string;
  readonly position: number;
  readonly outcome: string;
  readonly why: string | null;
  readonly reversal: string | null;
  readonly at: number;
}

export function stepOf(row: StepRow): RollbackStep {
  return {
    call: row.call_id as CallId,
    tool: row.tool,
    position: row.position,
    outcome: Object.hasOwn(stepOutcomes, row.outcome) ? (row.outcome as RollbackStep['outcome']) : 'unknown',
    why: row.why,
    reversal: row.reversal as CallId | null,
    atMs: row.at,
  };
}
