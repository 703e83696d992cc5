/**
 * What an author or an operator declares about the recovery of a tool, and how that becomes what counts: the default,
 * then the gateway's playbook, the upstream's and the tool's own. Pure.
 */
import { codes, type ErrorCode } from '../taxonomy.ts';
import type { PartialRule } from '../partial/partial-rule.ts';
import { isObject, type Json } from '../values/json.ts';
import {
  type BreakerRule,
  defaultPlaybook,
  defaultQuarantineMs,
  neverRetried,
  overlay,
  type PartialPlaybook,
  type Reconcile,
  type RetryRule,
  type ToolRecovery,
} from './playbook.ts';

export interface DeclaredRecovery {
  readonly playbook?: PartialPlaybook;
  readonly retry?: RetryRule;
  readonly reconcile?: Reconcile;
  readonly quarantineMs?: number;
  readonly breaker?: BreakerRule | null;
  readonly partial?: PartialRule;
}

/** The later one counts. */
export function joinRecovery(upstream: string, declared: readonly DeclaredRecovery[]): ToolRecovery {
  const { retry, reconcile, quarantineMs, breaker, partial } = Object.assign({}, ...declared) as DeclaredRecovery;
  return {
    upstream,
    playbook: overlay(
      defaultPlaybook,
      ...declared.flatMap(({ playbook }) => (playbook === undefined ? [] : [playbook])),
    ),
    retry: retry ?? null,
    reconcile: reconcile ?? null,
    quarantineMs: quarantineMs ?? defaultQuarantineMs,
    breaker: breaker ?? null,
    ...(partial === undefined ? {} : { partial }),
  };
}

/** Of every server; a function has none. */
export const defaultBreaker: BreakerRule = { failures: 5, openMs: 30_000 };

export const maxRetries = 20;
/** An hour: a longer pause belongs to the agent. */
export const maxBaseMs = 3_600_000;

const defaults = {
  retryable: true,
  max_attempts: 3,
  backoff: 'exponential',
  base_ms: 1_000,
  jitter: 0.2,
  classifier: {},
};

type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly problem: string };

/** The retry rule of a tool as it is written; pauses in milliseconds. */
export function readRetryRule(written: unknown): Read<RetryRule> {
  if (!isObject(written)) return wrong('retry is not a set of fields');
  const known = Object.keys(defaults);
  const strange = Object.keys(written).find((key) => !known.includes(key));
  if (strange !== undefined) return wrong(`retry has no '${strange}': known are ${known.join(', ')}`);
  const read = { ...defaults, ...written } as Record<keyof typeof defaults, unknown>;
  const { retryable, max_attempts: maxAttempts, backoff, base_ms: baseMs, jitter } = read;
  if (typeof retryable !== 'boolean') return wrong('retryable is true or false');
  if (!isWhole(maxAttempts, 0, maxRetries)) return wrong(`max_attempts is a whole number from 0 to ${maxRetries}`);
  if (!isBackoff(backoff)) return wrong('backoff is fixed, linear or exponential');
  if (!isWhole(baseMs, 0, maxBaseMs)) return wrong('base is a time up to an hour');
  if (!isShare(jitter)) return wrong('jitter is a number from 0 to 1');
  const classifier = readClassifier(read.classifier);
  if (!classifier.ok) return classifier;
  return { ok: true, value: { retryable, maxAttempts, backoff, baseMs, jitter, classifier: classifier.value } };
}

function readClassifier(written: unknown): Read<RetryRule['classifier']> {
  if (!isObject(written)) return wrong('classifier is a set of codes');
  for (const [code, says] of Object.entries(written)) {
    if (!Object.hasOwn(codes, code)) return wrong(`classifier names '${code}', which is no code`);
    if (says !== 'retry' && says !== 'terminal') return wrong(`classifier of ${code} is retry or terminal`);
    if (says === 'retry' && neverRetried.has(code as ErrorCode)) return wrong(`${code} is never retried`);
  }
  return { ok: true, value: written as RetryRule['classifier'] };
}

const wrong = (problem: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem });

const isBackoff = (value: unknown): value is RetryRule['backoff'] =>
  value === 'fixed' || value === 'linear' || value === 'exponential';

const isShare = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= 1;

const isWhole = (value: unknown, low: number, high: number): value is number =>
  Number.isInteger(value) && (value as number) >= low && (value as number) <= high;

/** A declared operation key: which calls are the same operation. Null if it cannot be told. */
export type OperationKey = (args: Json) => string | null;
