/** Which work was not reported in time? It becomes a gap on record, told once to its agent and always beside the call's own reply. */
import { addNotices } from '../../core/call/notices.ts';
import { gapNotice } from '../../core/call/gap.ts';
import type { Notice, Reply } from '../../core/call/reply.ts';
import type { CommitResult, StoredCall } from '../../ports/store.ts';
import { commit } from '../upkeep/commit.ts';
import { countGap, type Gap, gapRecord, keepNotice } from '../upkeep/runtime-gap.ts';
import { storedReply } from '../ending/stored-reply.ts';
import type { Shell } from '../shell.ts';
import { bare, numbered } from '../ending/transition.ts';

/** For the sweeper. Whoever closes a task first tells of it. */
export async function closeOverdue(shell: Shell): Promise<void> {
  const { store, clock } = shell.ports;
  for (const task of await store.dueTasks(clock.nowMs(), shell.limits.sweepBatch)) {
    const call = await store.call(task.call);
    if (call !== null) await giveUp(call, shell);
  }
}

/** INVARIANT: that a task is overdue and that it is a gap are one commit. */
export async function giveUp(call: StoredCall, shell: Shell): Promise<CommitResult> {
  const gap = gapOf(call);
  const task = { kind: 'close', call: call.id, as: 'overdue' } as const;
  const records = [gapRecord(gap, { call: call.id, session: call.session })];
  const result = await commit({ ...bare(shell), task, session: numbered(call), records }, shell);
  if (result.kind !== 'committed') return result;
  countGap(gap, shell);
  if (call.session !== null) keepNotice(call.session, noticeOf(call), shell);
  return result;
}

/** The reply of a call, for whoever looks it up: as it was recorded, and beside it what came to light later. */
export async function replyWithNotices(call: StoredCall, shell: Shell): Promise<Reply> {
  return addNotices(await storedReply(call, shell), await overdueNotices(call, shell));
}

export async function overdueNotices(call: StoredCall, { ports }: Shell): Promise<readonly Notice[]> {
  const task = call.state === 'SUCCEEDED' ? await ports.store.task(call.id) : null;
  return task?.state === 'overdue' ? [noticeOf(call)] : [];
}

const noticeOf = ({ tool }: StoredCall): Notice => gapNotice('unreported_task', tool);

function gapOf({ tool, tenant, agent }: StoredCall): Gap {
  return { kind: 'unreported_task', subject: tool, who: { tenant, agent } };
}
