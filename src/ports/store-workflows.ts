/** What a store keeps about the workflow of a session. Types only; store.ts defines how it changes. */
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
