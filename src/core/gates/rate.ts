/** Gate 10: whether each rate limit that applies has a token left. The slowest of them says how long to wait. */
import type { Request } from '../call/call.ts';
import type { Refusal } from '../call/refusal.ts';
import { type RateLimit, takeToken, tokensLeft, waitSeconds } from '../rate/rate-limit.ts';
import { invariant } from '../values/unreachable.ts';
import type { Facts, RateFact } from './facts.ts';
import { type Gate, pass } from './gate.ts';

/** The limits that the call must keep. */
export function limitsOf({ tool }: Request, { catalogue, policy }: Facts): readonly RateLimit[] {
  const entry = catalogue.get(tool);
  return entry === undefined ? [] : (policy?.agent?.limitsFor(entry.policyName) ?? []);
}

export const rate: Gate = {
  name: 'rate',
  check(request, facts) {
    const limits = limitsOf(request, facts);
    if (limits.length === 0) return pass;
    if (facts.rates === undefined) return { kind: 'need', fact: 'rates' };
    const waits = limits.map((limit, at) => waitOf(limit, facts.rates?.[at], facts));
    const longest = Math.max(...waits);
    const takes = limits.map((limit) => ({ kind: 'token', limit, isForced: longest > 0 }) as const);
    if (longest === 0) return { kind: 'pass', takes };
    const slowest = limits[waits.indexOf(longest)];
    invariant(slowest !== undefined, 'somebody has to wait for a limit');
    return { kind: 'refuse', refusal: exceeded(slowest, longest), takes };
  },
  saw: (request, facts) => {
    const limits = limitsOf(request, facts).map((limit, at) => {
      const fact = facts.rates?.[at];
      const left = tokensLeft(limit, fact?.fullAtMicros ?? null, facts.nowMs * 1_000);
      const wait = waitOf(limit, fact, facts);
      const { match, rate: text, ref } = limit.written;
      return { match, rate: text, ref, left, frees_in_seconds: wait === 0 ? 0 : waitSeconds(wait) };
    });
    return limits.length === 0 ? {} : { limits };
  },
};

const waitOf = (limit: RateLimit, fact: RateFact | undefined, { nowMs }: Facts): number =>
  takeToken(limit, fact?.fullAtMicros ?? null, nowMs * 1_000).waitMicros;

function exceeded({ written }: RateLimit, waitMicros: number): Refusal {
  const sentence = `denied: ${written.match} rate limit (${written.rate}) exceeded`;
  return {
    error: 'denied',
    class: 'Governance',
    code: 'RATE_EXCEEDED',
    message: sentence,
    human_message: sentence,
    resolution: { type: 'retry_after', retry_after_seconds: waitSeconds(waitMicros) },
  };
}
