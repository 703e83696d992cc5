/**
 * Approvals as doors speak of them: looked at, waited for, decided. What may be decided by whom is core/approval/approval.ts; here it is
 * read, checked and committed. Never rejects; never runs a call except one that was approved to be run.
 */
import type { ApprovalState, Decider } from '../../core/approval/approval.ts';
import type { ApprovalView } from '../../core/approval/approval-view.ts';
import type { Json } from '../../core/values/json.ts';
import type { Scope } from '../look/tenant-view.ts';

export type { ApprovalView };

export interface ApprovalWish {
  readonly agent?: string;
  readonly session?: string;
  readonly state?: ApprovalState;
  readonly before?: string;
  readonly limit: number;
}

export const decideProblems = {
  not_found: 404,
  own_request: 403,
  not_an_approver: 403,
  not_pending: 409,
  already_approved: 409,
  /** What they saw is not what is there now. */
  saw_another: 409,
  bad_edit: 422,
  store_unavailable: 503,
} as const;

export type DecideProblem = keyof typeof decideProblems;

export type Decided =
  | { readonly ok: true; readonly approval: ApprovalView }
  | { readonly ok: false; readonly problem: DecideProblem; readonly message: string };

/** What comes with a decision. `args` makes it an approval of a changed call. */
export interface Word {
  readonly reason?: string;
  readonly shown?: string;
  readonly args?: Json;
}

export interface ApprovalService {
  /** Null if there is none in the scope: an agent sees its own, a person those of the tenant. */
  read(id: string, scope: Scope): Promise<ApprovalView | null>;
  /** The newest first. */
  list(scope: Scope, wish: ApprovalWish): Promise<readonly ApprovalView[]>;
  approve(id: string, by: Decider, word: Word): Promise<Decided>;
  deny(id: string, by: Decider, word: Pick<Word, 'reason' | 'shown'>): Promise<Decided>;
  revoke(id: string, by: Decider, word: Pick<Word, 'reason'>): Promise<Decided>;
  /** Until it is no longer pending, for `waitMs` at most, or until the signal. As it is then; null if there is none. */
  wait(id: string, scope: Scope, waitMs: number, signal?: AbortSignal): Promise<ApprovalView | null>;
  /** Whether the user of the agent's own client may decide it, now. */
  mayClientDecide(id: string, agent: { readonly tenant: string; readonly agent: string }): Promise<boolean>;
}
