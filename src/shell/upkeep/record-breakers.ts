/**
 * Puts on record that the breaker of an upstream opened or closed, as this process sees it. Called by the sweeper, so
 * that no call waits for it. For each upstream each of the two is recorded once in a window at most; what changed in
 * between is counted, and the last state is recorded after the window.
 */
import type { RecordDraft } from '../../core/journal/record.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { bare } from '../ending/transition.ts';
import type { BreakerOnRecord, UpstreamHealth } from '../health.ts';
import { me, type Shell } from '../shell.ts';
import { commit } from './commit.ts';

const closedFirst: BreakerOnRecord = { state: 'closed', seen: 0, openedMs: null, closedMs: null };

export async function recordBreakers(shell: Shell): Promise<void> {
  for (const [upstream, health] of shell.live.health) {
    const known = shell.live.breakersOnRecord.get(upstream) ?? closedFirst;
    // A trial is part of being open: nobody knows yet whether it answers.
    const state = health.breaker.kind === 'closed' ? 'closed' : 'open';
    const change = changeOf(known, state, health.openings);
    if (change === null || !isAllowed(known, change, shell)) continue;
    const now = shell.ports.clock.monotonicMs();
    const times = change === 'breaker_opened' ? { openedMs: now } : { closedMs: now };
    const next = { ...known, ...times, state: stateAfter(change), seen: health.openings };
    shell.live.breakersOnRecord.set(upstream, next);
    const result = await commit({ ...bare(shell), records: [draft(upstream, change, health, shell)] }, shell);
    if (result.kind === 'committed') continue;
    // While the store is away nothing is queued: a later sweep records the state as it is then.
    shell.live.breakersOnRecord.set(upstream, known);
    return;
  }
}

type Change = 'breaker_opened' | 'breaker_closed';

const stateAfter = (change: Change): BreakerOnRecord['state'] => (change === 'breaker_opened' ? 'open' : 'closed');

/** One that opened and closed between two sweeps is recorded as opened first, and as closed by the next sweep. */
function changeOf(known: BreakerOnRecord, state: 'open' | 'closed', openings: number): Change | null {
  if (known.state === 'open') return state === 'closed' ? 'breaker_closed' : null;
  return state === 'open' || openings > known.seen ? 'breaker_opened' : null;
}

function isAllowed({ openedMs, closedMs }: BreakerOnRecord, change: Change, { ports, limits }: Shell): boolean {
  const lastMs = change === 'breaker_opened' ? openedMs : closedMs;
  return lastMs === null || ports.clock.monotonicMs() - lastMs >= limits.coalesceWindowMs;
}

function draft(
  upstream: string,
  kind: Change,
  { breaker, lastFailure, openings }: UpstreamHealth,
  shell: Shell,
): RecordDraft {
  const process = me(shell);
  const leftMs = breaker.kind === 'closed' ? 0 : breaker.untilMs - shell.ports.clock.monotonicMs();
  const why = { why: lastFailure, retry_after_seconds: Math.max(0, Math.ceil(leftMs / 1_000)) };
  const body = { upstream, process, openings, ...(kind === 'breaker_opened' ? why : {}) };
  return { kind, call: null, session: null, body: canonicalText(body), payloads: [] };
}
