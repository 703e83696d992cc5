/**
 * How many calls ended how? Counted by tenant since the process began, for /metrics. Lost with the process; decides
 * nothing.
 */
import { isPending, isSuccess, type Reply } from '../../core/call/reply.ts';
import { type ErrorName, errors } from '../../core/taxonomy.ts';
import { stateAt } from '../../core/approval/approval.ts';
import type { Shell } from '../shell.ts';

/** `outcome` is `succeeded`, `pending`, or the name of an error; `code` is empty where there is none. */
export interface CallCount {
  readonly outcome: string;
  readonly code: string;
  /** Nothing ran. */
  readonly refused: boolean;
  readonly count: number;
}

export interface CallCounts {
  count(reply: Reply, tenant: string): void;
  of(tenant: string): readonly CallCount[];
}

/** Beyond so many tenants those that come last are not counted. */
const maxTenants = 10_000;

export function createCallCounts(): CallCounts {
  const tenants = new Map<string, Map<string, { outcome: string; code: string; refused: boolean; count: number }>>();
  return {
    count(reply, tenant) {
      const known = tenants.get(tenant);
      if (known === undefined && tenants.size >= maxTenants) return;
      const counts = known ?? new Map();
      if (known === undefined) tenants.set(tenant, counts);
      const outcome = isSuccess(reply) ? 'succeeded' : isPending(reply) ? 'pending' : reply.error;
      const code = 'code' in reply ? reply.code : '';
      const name = `${outcome} ${code}`;
      const found = counts.get(name);
      if (found !== undefined) found.count += 1;
      else counts.set(name, { outcome, code, refused: neverRan(outcome), count: 1 });
    },
    of: (tenant) => [...(tenants.get(tenant)?.values() ?? [])],
  };
}

/** The taxonomy says of these that they never have an effect. */
const neverRan = (outcome: string): boolean => outcome in errors && errors[outcome as ErrorName].effect === 'none';

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
