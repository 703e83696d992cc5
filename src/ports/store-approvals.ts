/** How a store writes and reads approvals, and tasks that go on after their call. */
import type { Approval, ApprovalId, ApprovalState } from '../core/approval/approval.ts';
import type { CallId } from '../core/call/call.ts';

/**
 * Opens an approval, or moves it along legal states. A conflict if another version is found; at an opening also if an
 * equal call of the agent has a live one (pending, granted or denied), or the agent has `maxPending` of them. Those of
 * one transition are applied in order, all or none.
 */
export interface ApprovalWrite {
  /** The new value; its version is one more than `expect`, or 1. */
  readonly approval: Approval;
  /** The version that must be found; null opens it. */
  readonly expect: number | null;
  /** Only when an approval is opened. */
  readonly maxPending: number | null;
}

/** Work that continues after its call has succeeded, and must be reported in time. */
export type TaskChange =
  | { readonly kind: 'open'; readonly call: CallId; readonly dueAtMs: number }
  /** A conflict on `task` unless it is open. */
  | { readonly kind: 'close'; readonly call: CallId; readonly as: 'reported' | 'overdue' };

export interface StoredTask {
  readonly call: CallId;
  readonly dueAtMs: number;
  readonly state: 'open' | 'reported' | 'overdue';
}

export interface ApprovalFilter {
  readonly tenant: string;
  readonly agent?: string;
  readonly session?: string;
  readonly state?: ApprovalState;
  /** Only those older than this one: newest first, page by page. */
  readonly before?: string;
  readonly limit: number;
}

/** Point reads, which never wait for a commit. */
export interface ApprovalReader {
  approval(id: ApprovalId): Promise<Approval | null>;
  /** The agent's newest approval with this subject: denied, else granted, else pending, else any; edits count. */
  approvalOf(tenant: string, agent: string, subject: string): Promise<Approval | null>;
  /** The newest approval that waits with this call, or covers it. */
  approvalOfCall(call: CallId): Promise<Approval | null>;
  /** How many approvals of the agent are pending in the store, expired or not. */
  pendingApprovals(tenant: string, agent: string): Promise<number>;
  listApprovals(filter: ApprovalFilter): Promise<readonly Approval[]>;
  /** Granted approvals that the gateway itself runs, oldest first; `after` is the last id seen. */
  approvalsToRun(after: string, limit: number): Promise<readonly Approval[]>;
  task(call: CallId): Promise<StoredTask | null>;
  /** Open tasks that are due, the longest overdue first. */
  dueTasks(nowMs: number, limit: number): Promise<readonly StoredTask[]>;
}
