/**
 * The playbook: which compensation follows a verdict, by the effect class of the tool. Total over verdict × effect
 * class. It chooses; whether a resend is safe is decided in plan.ts.
 */
import {
  type Compensation,
  type EffectClass,
  type ErrorCode,
  effectClasses,
  type Verdict,
  verdicts,
} from '../taxonomy.ts';
import { canonicalText } from '../values/canonical.ts';
import type { PartialRule } from '../partial/partial-rule.ts';
import type { Json } from '../values/json.ts';
import { unreachable } from '../values/unreachable.ts';

export type ByEffect<Value> = Readonly<Record<EffectClass, Value>>;
export type Playbook = Readonly<Record<Verdict, ByEffect<Entry>>>;

export interface Entry {
  readonly action: Compensation;
  /** The share by which a pause may be longer or shorter, such as 0.2. Only retries have one. */
  readonly jitter: number;
}

/** The retry rule of one tool. It replaces what the playbook says about retries. */
export interface RetryRule {
  readonly retryable: boolean;
  /** How many retries, one for each pause. */
  readonly maxAttempts: number;
  readonly backoff: 'fixed' | 'linear' | 'exponential';
  readonly baseMs: number;
  readonly jitter: number;
  /** By code; one that is not named follows from its verdict. */
  readonly classifier: Readonly<Partial<Record<ErrorCode, 'retry' | 'terminal'>>>;
}

/** How a call in doubt is checked: a read of another tool tells whether it happened. */
export interface Reconcile {
  readonly tool: string;
  /** The arguments of the read, from those of the call; null if they cannot be made. */
  readonly ask: (args: Json) => Json | null;
  readonly interpret: (args: Json, found: Json) => Probed;
  /** Canonical text of what was declared. */
  readonly declared: string;
}

/** `unclear`: the answer cannot be read as a yes or a no. */
export type Probed =
  | { readonly kind: 'happened'; readonly result: Json }
  | { readonly kind: 'did_not' }
  | { readonly kind: 'unclear'; readonly reason: string };

/** All that recovery knows about one tool. */
export interface ToolRecovery {
  /** Breaker and retry budget are kept for each upstream. */
  readonly upstream: string;
  readonly playbook: Playbook;
  readonly retry: RetryRule | null;
  readonly reconcile: Reconcile | null;
  /** How long after a doubt an execution may still come: a negative answer counts only after it. */
  readonly quarantineMs: number;
  readonly breaker: BreakerRule | null;
  /** How its partial results are read; absent: as the tool says by itself. */
  readonly partial?: PartialRule;
}

export interface BreakerRule {
  /** Failures in a row that open it. */
  readonly failures: number;
  readonly openMs: number;
}

const everyClass = (entry: Entry): ByEffect<Entry> => ({ pure: entry, keyed: entry, probeable: entry, plain: entry });

const retry = (backoff_ms: readonly number[], jitter = 0): Entry => ({
  action: { kind: 'retry_with_backoff', max_attempts: backoff_ms.length, backoff_ms },
  jitter,
});
const giveUp = (reason: string): Entry => ({
  action: { kind: 'deprecate_tool_call', reason, replan: true },
  jitter: 0,
});
const escalate = (queue: string): Entry => ({ action: { kind: 'escalate_to_human', queue }, jitter: 0 });

/** Without a Retry-After header; with one, that is the pause. */
const rateLimitPauses = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000];

export const defaultPlaybook: Playbook = {
  transient_timeout: everyClass(retry([200, 600, 1_800])),
  server_error_5xx: everyClass(retry([500, 2_000])),
  idempotency_conflict: everyClass(giveUp('upstream already processed this idempotency_key')),
  evidence_stale: everyClass({ action: { kind: 'refresh_evidence', then: 'retry' }, jitter: 0 }),
  policy_denied: everyClass(escalate('policy_review')),
  schema_mismatch: everyClass(giveUp('adapter response failed schema validation')),
  rate_limited: everyClass(retry(rateLimitPauses, 0.2)),
  invalid_request: everyClass(giveUp('the upstream refused the request as it is')),
  auth_expired: everyClass(escalate('authentication')),
  cancelled: everyClass(giveUp('the call was cancelled')),
};

/** Failures that nobody recognises, whatever the playbook says about their verdict. */
export const unrecognisedEntry = escalate('unrecognised_failures');
/** A key that the upstream knows from another request. */
export const mismatchEntry = escalate('idempotency');
/** A key whose first request is still being processed: the same request, with the same key, is the poll. */
export const inFlightEntry = retry([1_000, 2_000, 4_000, 8_000, 16_000]);

/** The verdicts after which a resend can make sense. The others are never retried. */
export const retryableVerdicts: ReadonlySet<Verdict> = new Set([
  'transient_timeout',
  'server_error_5xx',
  'rate_limited',
]);

/** Codes of 400, 401, 403, 404 and 422: no rule makes them retryable. */
export const neverRetried: ReadonlySet<ErrorCode> = new Set([
  'InputInvalid',
  'Forbidden',
  'NotFound',
  'StaleEvidence',
  'MissingStreaming',
  'MissingToolCalling',
  'ContextWindowTooSmall',
]);

export type PartialPlaybook = Readonly<Partial<Record<Verdict, Readonly<Partial<ByEffect<Entry>>>>>>;

/** The pairs that a playbook says nothing about, as `verdict × effect class`. */
export function missingPairs(playbook: PartialPlaybook): readonly string[] {
  return (Object.keys(verdicts) as Verdict[]).flatMap((verdict) =>
    (Object.keys(effectClasses) as EffectClass[])
      .filter((effect) => playbook[verdict]?.[effect] === undefined)
      .map((effect) => `${verdict} × ${effect}`),
  );
}

/** The later one counts, pair by pair. */
export function overlay(base: Playbook, ...more: readonly PartialPlaybook[]): Playbook {
  const merged = { ...base };
  for (const each of more)
    for (const verdict of Object.keys(each) as Verdict[]) merged[verdict] = { ...merged[verdict], ...each[verdict] };
  return merged;
}

/** The pauses of a retry rule: one for each retry. */
export function pausesOf({ maxAttempts, backoff, baseMs }: RetryRule): readonly number[] {
  return Array.from({ length: maxAttempts }, (_, at) => {
    switch (backoff) {
      case 'fixed':
        return baseMs;
      case 'linear':
        return baseMs * (at + 1);
      case 'exponential':
        return baseMs * 2 ** at;
      default:
        return unreachable(backoff);
    }
  });
}

export const defaultQuarantineMs = 60_000;

/** For a tool about which nothing is written. */
export const recoveryOfUpstream = (upstream: string): ToolRecovery => ({
  upstream,
  playbook: defaultPlaybook,
  retry: null,
  reconcile: null,
  quarantineMs: defaultQuarantineMs,
  breaker: null,
});

/** The canonical text of all that is declared, by which it is hashed and replayed. */
export function recoveryText({ reconcile, partial, ...declared }: ToolRecovery): string {
  const read = partial === undefined ? {} : { partial: partial.declared };
  return canonicalText({ ...declared, ...read, reconcile: reconcile === null ? null : reconcile.declared });
}
