/**
 * Breaker and retry budget of an upstream, as this process has met it. Local to the process: it protects the upstream
 * and decides nothing about safety.
 */
import { afterAttempt, closedBreaker, passBreaker } from '../../core/recovery/breaker.ts';
import type { Trouble } from '../../core/recovery/plan.ts';
import type { ToolRecovery } from '../../core/recovery/playbook.ts';
import { giveTokens, maxTokens, mayTakeToken, takeToken } from '../../core/recovery/retry-budget.ts';
import type { UpstreamHealth } from '../health.ts';
import type { Shell } from '../shell.ts';

const healthOf = ({ upstream }: ToolRecovery, { live }: Shell): UpstreamHealth =>
  live.health.get(upstream) ?? {
    breaker: closedBreaker,
    tokens: maxTokens,
    retries: 0,
    openings: 0,
    lastFailure: null,
  };

/** How long the breaker stays open; null if a call may be sent. */
export function breakerWaitMs(recovery: ToolRecovery, shell: Shell): number | null {
  if (recovery.breaker === null) return null;
  const health = healthOf(recovery, shell);
  const passage = passBreaker(health.breaker, recovery.breaker, shell.ports.clock.monotonicMs());
  if (passage.kind === 'refused') return passage.retryAfterMs;
  keep(recovery, { ...health, breaker: passage.breaker }, shell);
  return null;
}

/** `trouble` is null for a success. */
export function noteAttempt(recovery: ToolRecovery, trouble: Trouble | null, shell: Shell): void {
  // INVARIANT: what the breaker itself held back says nothing about the upstream, and does not keep it open.
  if (trouble?.error.subject === 'breaker_open') return;
  const health = healthOf(recovery, shell);
  const tokens = trouble === null ? giveTokens(health.tokens) : health.tokens;
  const breaker =
    recovery.breaker === null
      ? health.breaker
      : afterAttempt(health.breaker, recovery.breaker, !isDown(trouble), shell.ports.clock.monotonicMs());
  const lastFailure = isDown(trouble) ? (trouble?.error.kind ?? null) : health.lastFailure;
  const opens = health.breaker.kind === 'closed' && breaker.kind === 'open' ? 1 : 0;
  keep(recovery, { ...health, breaker, tokens, lastFailure, openings: health.openings + opens }, shell);
}

/** No answer, or an error on its own side: the upstream may be down. */
function isDown(trouble: Trouble | null): boolean {
  // Where our own list says no, the upstream was not even asked.
  if (trouble?.classification.detail === 'egress') return false;
  const kind = trouble?.error.kind;
  return kind === 'timeout' || kind === 'never_sent' || kind === '5xx';
}

export const hasRetryToken = (recovery: ToolRecovery, shell: Shell): boolean =>
  mayTakeToken(healthOf(recovery, shell).tokens);

/** `isFree`: the pause comes from the upstream's own rate limit, which spends no budget. */
export function noteRetry(recovery: ToolRecovery, isFree: boolean, shell: Shell): void {
  const health = healthOf(recovery, shell);
  const tokens = isFree ? health.tokens : takeToken(health.tokens);
  keep(recovery, { ...health, tokens, retries: health.retries + 1 }, shell);
}

function keep({ upstream }: ToolRecovery, next: UpstreamHealth, shell: Shell): void {
  const before = shell.live.health.get(upstream)?.breaker.kind ?? 'closed';
  shell.live.health.set(upstream, next);
  if (next.breaker.kind !== before) shell.ports.notify({ kind: 'breaker', upstream, state: next.breaker.kind });
}
