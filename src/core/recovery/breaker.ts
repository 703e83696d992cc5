/**
 * The circuit breaker of one upstream: after several failures in a row nothing is sent for a while, then one call tries
 * it. Pure; the state is local to a process and decides nothing about safety.
 */
import type { BreakerRule } from './playbook.ts';

export type Breaker =
  | { readonly kind: 'closed'; readonly failures: number }
  | { readonly kind: 'open'; readonly untilMs: number }
  /** One call is under way to try the upstream; it counts as lost at `untilMs`. */
  | { readonly kind: 'half_open'; readonly untilMs: number };

export const closedBreaker: Breaker = { kind: 'closed', failures: 0 };

export type Passage =
  | { readonly kind: 'pass'; readonly breaker: Breaker }
  | { readonly kind: 'refused'; readonly retryAfterMs: number };

/** May a call be sent now? The first one after the pause becomes the trial. */
export function passBreaker(breaker: Breaker, rule: BreakerRule, nowMs: number): Passage {
  if (breaker.kind === 'closed') return { kind: 'pass', breaker };
  if (nowMs < breaker.untilMs) return { kind: 'refused', retryAfterMs: breaker.untilMs - nowMs };
  return { kind: 'pass', breaker: { kind: 'half_open', untilMs: nowMs + rule.openMs } };
}

/** `answered`: the upstream is there, whatever it said. */
export function afterAttempt(breaker: Breaker, rule: BreakerRule, answered: boolean, nowMs: number): Breaker {
  if (answered) return closedBreaker;
  const failures = breaker.kind === 'closed' ? breaker.failures + 1 : rule.failures;
  if (failures < rule.failures) return { kind: 'closed', failures };
  return { kind: 'open', untilMs: nowMs + rule.openMs };
}
