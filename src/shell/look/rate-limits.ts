/** Reads how every rate limit of the policy in force stands for a tenant. Must not write, and takes no token. */
import { type LimitView, viewOfLimit } from '../../core/rate/limit-view.ts';
import type { Shell } from '../shell.ts';

/** As many as a page can show. */
const maxLimits = 500;

export async function limitsNow(tenant: string, { policy, ports }: Shell): Promise<readonly LimitView[]> {
  const limits = (policy()?.limits ?? []).slice(0, maxLimits);
  const nowMs = ports.clock.nowMs();
  return Promise.all(
    limits.map(async (limit) => viewOfLimit(limit, await ports.store.bucket(tenant, limit.bucket), nowMs)),
  );
}
