/** What a store keeps about the workflow of a session. Types only; store.ts defines how it changes. */
import type { CallId } from '../core/call/call.ts';

export interface WorkflowSession {
  readonly name: string;
  /** The hash of the manifest that the session is pinned to; its text is a blob. */
  readonly manifest: string;
  /** The sequence since which this manifest holds: a state from before it belongs to another workflow. */
  readonly pinnedAtSeq: number;
  /** The call whose turn it is, and what it is about; null when nobody's. */
  readonly turn: { readonly call: CallId; readonly operation: string } | null;
  readonly timerAtMs: number | null;
  /** Why it was stopped or closed. */
  readonly reason: string | null;
}
