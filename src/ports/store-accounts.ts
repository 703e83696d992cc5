/** How a store keeps the accounts of budgets and the buckets of rate limits. */
import type { Approval, ApprovalId } from '../core/approval/approval.ts';
import type { CallId } from '../core/call/call.ts';
import type { RateLimit } from '../core/rate/rate-limit.ts';

/**
 * Holds `amount` of an account for the transition's call: a conflict unless settled + held + amount stays within the
 * limit and what was allowed beyond it. `limit` null holds it whatever is left.
 */
export interface Reservation {
  readonly tenant: string;
  readonly account: string;
  readonly amount: number;
  readonly limit: number | null;
}

/**
 * Gives back all that the call holds, and charges what was spent. INVARIANT: what a call holds is given back once; one
 * that holds nothing changes nothing.
 */
export interface Settlement {
  readonly call: CallId;
  /** `held`: what it held is what it cost. A list: these accounts are charged so much, the others what they held. */
  readonly spent: 'held' | 'nothing' | readonly { readonly account: string; readonly amount: number }[];
}

/** Takes a token of a bucket at the time of the transition: a conflict if there is none, unless it is forced. */
export interface TokenTake extends Pick<RateLimit, 'bucket' | 'intervalMicros' | 'burst'> {
  readonly tenant: string;
  readonly isForced: boolean;
}

export type AccountWrite =
  /** An approval of more was asked for. A conflict unless the one before is as expected. */
  | {
      readonly kind: 'ask';
      readonly tenant: string;
      readonly account: string;
      readonly approval: ApprovalId;
      readonly expect: ApprovalId | null;
    }
  /** So much beyond its limit is allowed. */
  | { readonly kind: 'allow'; readonly tenant: string; readonly account: string; readonly amount: number }
  /** A person says what was spent. A conflict unless what is settled is as expected. */
  | {
      readonly kind: 'correct';
      readonly tenant: string;
      readonly account: string;
      readonly settled: number;
      readonly expect: number;
    };

export interface StoredAccount {
  readonly held: number;
  readonly settled: number;
  readonly allowed: number;
  /** The approval that was asked for last. */
  readonly approval: ApprovalId | null;
}

/** Point reads, which never wait for a commit. */
export interface AccountReader {
  /** Nothing was ever on an account that is not known. */
  account(tenant: string, account: string): Promise<StoredAccount>;
  holdsOf(call: CallId): Promise<readonly { readonly account: string; readonly amount: number }[]>;
  /** When the bucket would be full again; null if nothing was ever taken from it. */
  bucket(tenant: string, bucket: string): Promise<number | null>;
  /** Approvals of spending whose time is up and that nobody has ended. */
  overdueSpending(nowMs: number, limit: number): Promise<readonly Approval[]>;
}
