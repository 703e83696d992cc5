/** How many approvals of a tenant wait for a person now? For gauges; decides nothing. */
import { stateAt } from '../../core/approval/approval.ts';
import type { Shell } from '../shell.ts';

/** Beyond so many the gauge stays where it is. */
const maxCounted = 10_000;

/** Null if the store cannot tell. */
export async function countPending(tenant: string, { ports }: Shell): Promise<number | null> {
  try {
    const nowMs = ports.clock.nowMs();
    const found = await ports.store.listApprovals({ tenant, state: 'pending', limit: maxCounted });
    return found.filter((approval) => stateAt(approval, nowMs) === 'pending').length;
  } catch (error) {
    ports.notify({ kind: 'suppressed', what: 'counting approvals', reason: String(error) });
    return null;
  }
}
