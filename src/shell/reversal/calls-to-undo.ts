/**
 * The calls of a session in the order in which a rollback looks at them: the last first. What the body of a call called
 * stands where that call stands, and is undone by itself unless that call is undone as a whole.
 */
import type { SessionId } from '../../core/call/call.ts';
import { reversedBy } from '../../core/reversal/reversal.ts';
import type { StoredCall } from '../../ports/store.ts';
import type { Shell } from '../shell.ts';

export interface CallToUndo {
  readonly call: StoredCall;
  /** Its body called others, which stand right before it in the list. */
  readonly hasOwnCalls: boolean;
}

/** Bodies that call bodies: deeper than this nothing is looked for. */
const maxDepth = 8;

export async function callsToUndo(session: SessionId, shell: Shell): Promise<readonly CallToUndo[]> {
  const { maxRollbackCalls: limit } = shell.limits;
  const own = await shell.ports.store.listCalls({ session, limit });
  const listed = new Set<string>();
  const all: CallToUndo[] = [];
  for (const call of own) {
    for (const each of await withOwnCalls(call, 0, shell)) {
      if (listed.has(each.call.id) || all.length >= limit) continue;
      listed.add(each.call.id);
      all.push(each);
    }
  }
  return all;
}

async function withOwnCalls(call: StoredCall, depth: number, shell: Shell): Promise<readonly CallToUndo[]> {
  // A reversal is never undone by a rollback, nor what it called.
  if (depth >= maxDepth || call.attempt === 0 || reversedBy(call.key) !== null) return [{ call, hasOwnCalls: false }];
  const { store } = shell.ports;
  const { tenant, agent } = call;
  const ids = await store.callsByKeys(tenant, agent, `${call.id}/`, shell.limits.maxRollbackCalls);
  const found = (await Promise.all(ids.map((id) => store.call(id)))).filter((each) => each !== null);
  // Ids are ordered by time.
  const latestFirst = found.toSorted((one, other) => (one.id < other.id ? 1 : -1));
  const lists = await Promise.all(latestFirst.map((each) => withOwnCalls(each, depth + 1, shell)));
  return [...lists.flat(), { call, hasOwnCalls: found.length > 0 }];
}
