/**
 * Counts for /metrics: calls by tenant and outcome since the process began, pending approvals and open tickets. The
 * counts are lost with the process, and no decision depends on them.
 */
import { isPending, isSuccess, type Reply } from '../../core/call/reply.ts';
import { type ErrorName, errors } from '../../core/taxonomy.ts';
import { stateAt } from '../../core/approval/approval.ts';
import type { Shell } from '../shell.ts';
import { suppressed } from '../../core/values/suppressed.ts';

/** `outcome` is `succeeded`, `partial`, `pending`, or the name of an error; `code` is empty where there is none. */
export interface CallCount {
  readonly outcome: string;
  readonly code: string;
  /** True if the tool did not run. */
  readonly refused: boolean;
  readonly count: number;
}

export interface CallCounts {
  count(reply: Reply, tenant: string): void;
  of(tenant: string): readonly CallCount[];
}

/** Further tenants are not counted. */
const maxTenants = 10_000;

export function createCallCounts(): CallCounts {
  const tenants = new Map<string, Map<string, { outcome: string; code: string; refused: boolean; count: number }>>();
  return {
    count(reply, tenant) {
      const known = tenants.get(tenant);
      if (known === undefined && tenants.size >= maxTenants) return;
      const counts = known ?? new Map();
      if (known === undefined) tenants.set(tenant, counts);
      const outcome = outcomeOf(reply);
      const code = 'code' in reply ? reply.code : '';
      const name = `${outcome} ${code}`;
      const found = counts.get(name);
      if (found !== undefined) found.count += 1;
      else counts.set(name, { outcome, code, refused: neverRan(outcome), count: 1 });
    },
    of: (tenant) => [...(tenants.get(tenant)?.values() ?? [])],
  };
}

function outcomeOf(reply: Reply): string {
  if (isSuccess(reply)) return reply.errors === undefined ? 'succeeded' : 'partial';
  return isPending(reply) ? 'pending' : reply.error;
}

/** Errors that never have an effect, by the taxonomy. */
const neverRan = (outcome: string): boolean => outcome in errors && errors[outcome as ErrorName].effect === 'none';

/** The gauge shows at most this many. */
const maxPendingCounted = 10_000;

/** Null if the store cannot be read. */
export async function countPending(tenant: string, { ports }: Shell): Promise<number | null> {
  try {
    const nowMs = ports.clock.nowMs();
    const found = await ports.store.listApprovals({ tenant, state: 'pending', limit: maxPendingCounted });
    return found.filter((approval) => stateAt(approval, nowMs) === 'pending').length;
  } catch (error) {
    ports.notify(suppressed('counting approvals', error));
    return null;
  }
}

/** Null if the store cannot be read. */
export async function countOpenTickets(tenant: string, { ports }: Shell): Promise<number | null> {
  try {
    return await ports.store.openTickets(tenant);
  } catch (error) {
    ports.notify({ kind: 'suppressed', what: 'counting tickets', reason: String(error) });
    return null;
  }
}
