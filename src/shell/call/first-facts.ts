/** What is known of every call before anything is fetched: who asks, when, the tools and the policy as they are now. */
import type { Principal } from '../../core/call/call.ts';
import type { Facts } from '../../core/gates/facts.ts';
import { policyOf, type Shell } from '../shell.ts';

export function firstFacts(principal: Principal, shell: Shell): Facts {
  const { live, limits, catalogue } = shell;
  const policy = policyOf(principal.agent, shell);
  const unlisted = shell.unlisted?.() ?? [];
  return {
    principal,
    nowMs: shell.ports.clock.nowMs(),
    ...(policy === undefined ? {} : { policy }),
    readiness: live.readiness,
    catalogue: catalogue(),
    ...(unlisted.length === 0 ? {} : { unlisted }),
    inFlight: { now: live.running.size + live.orphans, max: limits.maxInFlight },
  };
}
