/**
 * The dispatcher: what follows a failed attempt. One switch over the compensation that the playbook names, guarded by
 * what the effect class allows. Pure: time, chance and what was tried before are handed in.
 */
import type { Call } from '../call/call.ts';
import { mayResend } from '../call/lifecycle.ts';
import type { Compensation, Effect, ToolError, Verdict } from '../taxonomy.ts';
import { unreachable } from '../values/unreachable.ts';
import type { Classification } from './classify.ts';
import {
  type Entry,
  inFlightEntry,
  mismatchEntry,
  neverRetried,
  pausesOf,
  retryableVerdicts,
  type ToolRecovery,
  unrecognisedEntry,
} from './playbook.ts';

/** A failed attempt, as it was classified. */
export interface Trouble {
  readonly error: ToolError;
  readonly classification: Classification;
  /** What is proven about this attempt; the tool's own word where it has one. */
  readonly effect: Effect;
}

/** What was tried before this failure. */
export interface History {
  /** The first failure of the call; null if this is the first. */
  readonly first: ToolError | null;
  /** The verdict of the failure before this one. */
  readonly last: Verdict | null;
  /** Retries that were planned, by verdict. */
  readonly retries: Readonly<Partial<Record<Verdict, number>>>;
}

export const nothingTried: History = { first: null, last: null, retries: {} };

export interface PlanFacts {
  readonly call: Call;
  readonly trouble: Trouble;
  readonly history: History;
  readonly recovery: ToolRecovery;
  readonly dedupeWindowMs: number | null;
  readonly nowMs: number;
  /** From 0 to 1: where within its jitter a pause falls. */
  readonly chance: number;
  /** The longest Retry-After that is waited for. */
  readonly maxRetryAfterMs: number;
  /** Whether the upstream's retry budget has a token left. */
  readonly budgetLeft: boolean;
}

export type Plan =
  | {
      readonly kind: 'retry';
      readonly action: Compensation;
      readonly atMs: number;
      readonly pauseMs: number;
      /** What made a resend possible that the playbook does not know; absent for its own retries. */
      readonly why?: string;
    }
  | { readonly kind: 'exhausted'; readonly action: Compensation; readonly why: string }
  | { readonly kind: 'deprecated'; readonly action: Compensation; readonly reason: string; readonly probe: boolean }
  | { readonly kind: 'escalated'; readonly action: Compensation; readonly queue: string }
  | { readonly kind: 'refresh'; readonly action: Compensation; readonly then: 'retry' | 'abort' }
  /** To be undone, if it is proven that it took effect. */
  | { readonly kind: 'reverse'; readonly action: Compensation; readonly reason: string }
  | { readonly kind: 'reversed'; readonly action: Compensation; readonly reason: string }
  | { readonly kind: 'reversal_refused'; readonly action: Compensation; readonly why: string };

export function plan(facts: PlanFacts): Plan {
  const { action, jitter } = entryFor(facts);
  // INVARIANT: whoever has read a part of one answer never reads a part of another after it.
  if (isHalfTold(facts.trouble)) return { kind: 'exhausted', action, why: 'a part of the answer was relayed' };
  switch (action.kind) {
    case 'retry_with_backoff':
      return planRetry(action, jitter, facts);
    case 'refresh_evidence':
      return { kind: 'refresh', action, then: action.then };
    case 'escalate_to_human':
      return { kind: 'escalated', action, queue: action.queue };
    case 'issue_reversal':
      return { kind: 'reverse', action, reason: action.reason };
    case 'deprecate_tool_call': {
      // INVARIANT: only a read of the upstream proves that a key that it knows stands for an effect.
      const probe = facts.trouble.classification.detail === 'completed';
      return { kind: 'deprecated', action, reason: action.reason, probe };
    }
    default:
      return unreachable(action);
  }
}

/** What reading the evidence again showed; null if it was not read. `limit`: its session has used up its refreshes. */
export type EvidenceNow = 'same' | 'changed' | 'limit' | null;

/** A call is sent once more after its evidence was read again, and only if that says what it said. */
export function planAfterRefresh(planned: Plan, facts: PlanFacts, evidence: EvidenceNow): Plan {
  if (planned.kind !== 'refresh' || planned.then === 'abort') return planned;
  const { action } = planned;
  if (isRefreshed(facts.history))
    return { kind: 'deprecated', action, reason: 'post-refresh retry still failing', probe: false };
  return evidence === 'same' ? { kind: 'retry', action, atMs: facts.nowMs, pauseMs: 0 } : planned;
}

/** Whether a call that is to be undone can be: `proven`, or why not. Null if nothing is to be undone. */
export type ReversalNow = 'proven' | (string & {}) | null;

/** INVARIANT: only what is proven to have happened is undone, and only by its own token. */
export function planAfterProof(planned: Plan, reversal: ReversalNow): Plan {
  if (planned.kind !== 'reverse') return planned;
  const { action, reason } = planned;
  if (reversal === 'proven') return { kind: 'reversed', action, reason };
  return { kind: 'reversal_refused', action, why: reversal ?? noToken };
}

export const noToken = 'the call has no reversal token';

/** What asking for another secret gave; null if nobody asked. */
export type CredentialNow = 'new' | 'same' | 'unavailable' | null;

/** INVARIANT: once for a call, and only if the upstream refused it unauthenticated and nothing was done. */
export const mayRefreshCredential = (facts: PlanFacts): boolean =>
  facts.trouble.error.kind === '401_unauthenticated' &&
  facts.trouble.effect === 'none' &&
  facts.history.retries.auth_expired === undefined &&
  mayRetry(facts);

const resendOnce: Compensation = { kind: 'retry_with_backoff', max_attempts: 1, backoff_ms: [0] };

/** A call that was refused unauthenticated is sent once more, at once, with a secret that the upstream has not seen. */
export function planAfterCredential(planned: Plan, facts: PlanFacts, credential: CredentialNow): Plan {
  if (credential !== 'new' || !mayRefreshCredential(facts)) return planned;
  return { kind: 'retry', action: resendOnce, atMs: facts.nowMs, pauseMs: 0, why: 'the credential was refreshed' };
}

/** Evidence is refreshed once for a call. */
export const isRefreshed = ({ retries }: History): boolean => retries.evidence_stale !== undefined;

const noRetry: Entry = { action: { kind: 'retry_with_backoff', max_attempts: 0, backoff_ms: [] }, jitter: 0 };

const isHalfTold = ({ classification }: Pick<Trouble, 'classification'>): boolean =>
  classification.detail === 'stream_broken';

const endsAtOnce: ReadonlySet<string> = new Set([
  // Our own list said no, and says so again: nothing is tried, and nobody is asked.
  'egress',
  // It is known when anything can be sent again: that pause is the next move, and it is the caller's.
  'breaker_open',
  'not_connected',
  'stream_broken',
  // No pause gives an upstream its money.
  'quota',
]);

interface EntryFacts {
  readonly call: Pick<Call, 'effectClass'>;
  readonly trouble: Pick<Trouble, 'classification'>;
  readonly recovery: ToolRecovery;
}

/** The entry of the playbook, unless the failure itself or the tool's own retry rule says more. */
export function entryFor({ call, trouble, recovery }: EntryFacts): Entry {
  const { verdict, detail, recognised, code } = trouble.classification;
  if (!recognised) return unrecognisedEntry;
  if (detail === 'mismatch') return mismatchEntry;
  if (endsAtOnce.has(detail)) return noRetry;
  const isPolled = detail === 'in_flight';
  const entry = isPolled ? inFlightEntry : recovery.playbook[verdict][call.effectClass];
  const { retry } = recovery;
  if (retry === null || neverRetried.has(code)) return entry;
  const says = retry.classifier[code] ?? (isPolled || retryableVerdicts.has(verdict) ? 'retry' : null);
  if (says === null) return entry;
  const pauses = retry.retryable && says === 'retry' ? pausesOf(retry) : [];
  const action = { kind: 'retry_with_backoff', max_attempts: pauses.length, backoff_ms: pauses } as const;
  return { action, jitter: retry.jitter };
}

type Retry = Extract<Compensation, { kind: 'retry_with_backoff' }>;

function planRetry(action: Retry, jitter: number, facts: PlanFacts): Plan {
  const { call, trouble, history, nowMs, budgetLeft } = facts;
  const { verdict } = trouble.classification;
  const exhausted = (why: string): Plan => ({ kind: 'exhausted', action, why });
  if (!mayRetry(facts)) return exhausted('a resend could be a second effect');
  const used = history.retries[verdict] ?? 0;
  const pause = action.backoff_ms[used];
  if (used >= action.max_attempts || pause === undefined) return exhausted('every retry was used');
  // Rate limits come with a schedule of their own, so they do not spend the budget.
  if (verdict !== 'rate_limited' && !budgetLeft) return exhausted('the retry budget of the upstream is used up');
  const asked = trouble.error.retry_after;
  if (asked !== undefined && asked * 1_000 > facts.maxRetryAfterMs)
    return exhausted('the upstream asked for a longer pause than is allowed');
  const pauseMs = asked === undefined ? jittered(pause, jitter, facts.chance) : Math.ceil(asked * 1_000);
  const atMs = nowMs + pauseMs;
  if (atMs >= call.deadlineAtMs) return exhausted('the next attempt would be past the deadline');
  return { kind: 'retry', action, atMs, pauseMs };
}

/** INVARIANT: a resend needs a proof that nothing happened, or an upstream where a second arrival is no second effect. */
function mayRetry({ call, trouble, nowMs, dedupeWindowMs }: PlanFacts): boolean {
  if (trouble.effect === 'applied') return false;
  if (trouble.effect === 'none' && !call.tainted) return true;
  return mayResend(call, nowMs, dedupeWindowMs);
}

const jittered = (pauseMs: number, jitter: number, chance: number): number =>
  Math.max(0, Math.round(pauseMs * (1 + jitter * (2 * chance - 1))));

/** What is known after this failure, for the next plan. */
export function remember(history: History, { error, classification }: Trouble, planned: Plan): History {
  const { verdict } = classification;
  const more = planned.kind === 'retry' ? { [verdict]: (history.retries[verdict] ?? 0) + 1 } : {};
  return { first: history.first ?? error, last: verdict, retries: { ...history.retries, ...more } };
}
