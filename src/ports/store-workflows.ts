/** What a store keeps about the workflow of a session, what a step changes in it, and fences outside workflows. */
import type { CallId } from '../core/call/call.ts';

export interface WorkflowSession {
  readonly name: string;
  /** The hash of the manifest that the session is pinned to; its text is a blob. */
  readonly manifest: string;
  /** The sequence at which this manifest was pinned: earlier states belong to another version. */
  readonly pinnedAtSeq: number;
  /** The call that has the turn, and its operation; null if the turn is free. */
  readonly turn: { readonly call: CallId; readonly operation: string } | null;
  readonly timerAtMs: number | null;
  /** Why it was stopped or closed. */
  readonly reason: string | null;
}

/** The state of a workflow after a step: kept under the sequence that the step gives the session. */
export interface SnapshotDraft {
  readonly text: string;
  /** When its first timer is due; null without one. */
  readonly dueAtMs: number | null;
}

/** What a step changes in the workflow of its session, in the same transaction. */
export interface WorkflowChange {
  /**
   * `take`: the turn must be free, and is `call`'s from here on. `release`: given back, if `call` has it. `free`:
   * nobody may have it. One step runs at a time, whichever process runs it.
   */
  readonly turn: 'take' | 'release' | 'free' | null;
  readonly call: CallId | null;
  /** With `take`: what is fenced if the step ends in doubt. */
  readonly operation: string | null;
  readonly snapshot: SnapshotDraft | null;
  /** `raised`: the operation of `call`, which has the turn, is in doubt. `lifted`: the fence of `call` is gone. */
  readonly fence: 'raised' | 'lifted' | null;
  /** Stops, closes or reopens the session. */
  readonly becomes: { readonly state: 'open' | 'stopped' | 'closed'; readonly reason: string | null } | null;
  /** Pins the session to this manifest; to another one than before, from the sequence that the step gives it. */
  readonly manifest: string | null;
}

/** The fence of a call in a session without a workflow. */
export type FenceWrite =
  | { readonly kind: 'raised'; readonly call: CallId; readonly operation: string }
  | { readonly kind: 'lifted'; readonly call: CallId }
  /** Another call takes the result, and the fence with it. A conflict on `session` unless the fence is there. */
  | { readonly kind: 'adopted'; readonly call: CallId };
