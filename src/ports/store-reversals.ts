/** How a store writes and reads reversals, and rollbacks of sessions. */
import type { CallId, SessionId } from '../core/call/call.ts';
import type { Reversal, ReversalId, Rollback, RollbackStep } from '../core/reversal/reversal.ts';

export type ReversalWrite =
  /** A conflict on `reversal` if its call has one. */
  | { readonly kind: 'issue'; readonly reversal: Reversal }
  /** issued → armed, or → due if the gateway is to use it at once. Changes nothing if the call has none that is issued. */
  | { readonly kind: 'arm'; readonly call: CallId; readonly atMs: number; readonly due: ReversalOrder | null }
  /** issued → void. Changes nothing if the call has none that is issued. */
  | { readonly kind: 'void'; readonly call: CallId }
  /** armed → due. A conflict on `reversal` otherwise. */
  | { readonly kind: 'order'; readonly id: ReversalId; readonly order: ReversalOrder }
  /** due → armed: the gateway gives it up. A conflict on `reversal` otherwise. */
  | { readonly kind: 'give_up'; readonly id: ReversalId }
  /** armed or due → redeemed. A conflict on `reversal` otherwise, or if as many were tried as `tries` does not say. */
  | { readonly kind: 'redeem'; readonly id: ReversalId; readonly by: CallId; readonly tries: number }
  /** redeemed → armed: the reversing call has done nothing. Changes nothing if another one has it. */
  | { readonly kind: 'rearm'; readonly id: ReversalId; readonly by: CallId };

/** Who asked the gateway to reverse a call, and why. */
export interface ReversalOrder {
  readonly by: string;
  readonly reason: string;
}

export type RollbackWrite =
  /**
   * Closes the session, if it is open or stopped, and opens its rollback. One that is running goes on as it is; one
   * that is finished runs again, for what could not be undone.
   */
  | { readonly kind: 'start'; readonly rollback: Rollback }
  /** A conflict on `rollback` unless it is running at this version. A later step about the same call replaces it. */
  | { readonly kind: 'step'; readonly session: SessionId; readonly expect: number; readonly step: RollbackStep }
  | { readonly kind: 'finish'; readonly session: SessionId; readonly expect: number; readonly atMs: number };

/** Point reads, which never wait for a commit. */
export interface ReversalReader {
  reversal(id: string): Promise<Reversal | null>;
  reversalOf(call: CallId): Promise<Reversal | null>;
  /** Those that the gateway is to use, by id. */
  dueReversals(limit: number): Promise<readonly Reversal[]>;
  /** Armed ones whose call a rollback listed as in doubt: it has succeeded since. By id. */
  lateReversals(limit: number): Promise<readonly Reversal[]>;
  rollback(session: SessionId): Promise<Rollback | null>;
  /** Its steps, in order. */
  rollbackSteps(session: SessionId): Promise<readonly RollbackStep[]>;
  /** By session. */
  runningRollbacks(limit: number): Promise<readonly Rollback[]>;
  /** The calls of this agent whose keys begin like this, in the order of the keys. */
  callsByKeys(tenant: string, agent: string, prefix: string, limit: number): Promise<readonly CallId[]>;
}
