/**
 * Tasks: work that goes on after its call succeeded, until its agent reports it done (recourse/tasks/complete). Closes
 * overdue tasks and records them as gaps. The recorded reply of the call never changes; later notices are added to it.
 * Never rejects.
 */
import { addNotices } from '../../core/call/notices.ts';
import { offered } from '../../core/call/answer.ts';
import type { Call, CallId, Principal } from '../../core/call/call.ts';
import { preview } from '../../core/values/canonical.ts';
import type { Reply, Notice } from '../../core/call/reply.ts';
import type { ReadRequest } from '../../core/call/request.ts';
import { unreachable } from '../../core/values/unreachable.ts';
import { stateOf } from '../../core/workflow/step.ts';
import type { StoredCall, CommitResult } from '../../ports/store.ts';
import { commit } from '../upkeep/commit.ts';
import { newCall } from '../call/asked.ts';
import { refuseUnready } from './completion-facts.ts';
import { readStep } from '../session/position.ts';
import { sayFault } from '../call/record-refusal.ts';
import { withGapNotices, countGap, type Gap, gapRecord, keepNotice } from '../upkeep/record-runtime.ts';
import { refuseUnreadable, unexpected } from '../call/refuse.ts';
import { nextActions, type Shell } from '../shell.ts';
import { bare, note, numbered } from '../ending/transition.ts';
import { continuedBy } from '../ticket/continued-by.ts';
import { gapNotice } from '../../core/call/gap.ts';
import { storedReply } from '../ending/stored-reply.ts';

/** The method name; replies and refusals name it as their action. */
const reportMethod = 'recourse/tasks/complete';

type UnknownTask = Extract<ReadRequest, { ok: false }>;

/** Only the agent that made the call can report it; to everybody else there is no such call. */
export function reportTask(callId: unknown, who: Principal, shell: Shell): Promise<Reply> {
  const reply = answer(callId, who, shell);
  // Closing the gateway waits for these.
  shell.live.unanswered.add(reply);
  return reply.finally(() => shell.live.unanswered.delete(reply));
}

async function answer(callId: unknown, who: Principal, shell: Shell): Promise<Reply> {
  const unknown = unknownTask(callId, shell);
  const asked = newCall(unknown, who, shell);
  try {
    const unready = refuseUnready(asked, shell);
    if (unready !== null) return unready;
    const reply = typeof callId === 'string' ? await report(callId as CallId, who, shell) : null;
    return reply === null ? await refuseUnreadable(unknown, asked, null, shell) : withGapNotices(reply, shell);
  } catch (error) {
    return unexpected(error, asked, 'none', shell);
  }
}

function unknownTask(callId: unknown, { limits }: Shell): UnknownTask {
  const isName = typeof callId === 'string' && callId.length <= limits.maxNameChars && callId.isWellFormed();
  const expected = 'the id of a call of yours whose work is still to be reported';
  const errors = [{ path: '/call_id', expected, got: isName ? callId : preview(callId) }];
  return { ok: false, requested: reportMethod, problem: 'invalid', errors };
}

/** Null if there is nothing to report. */
async function report(id: CallId, who: Principal, shell: Shell): Promise<Reply | null> {
  const { store, clock } = shell.ports;
  for (let tries = 0; tries <= shell.limits.maxRedecisions; tries++) {
    const call = await store.call(id);
    if (call === null || call.tenant !== who.tenant || call.agent !== who.agent) return null;
    const task = await store.task(id);
    if (task === null) return null;
    switch (task.state) {
      case 'reported':
        return reportedReply(call, shell);
      case 'overdue':
        return reportLate(call, shell);
      case 'open': {
        // INVARIANT: whether it is late depends on the time alone, not on when the sweeper runs.
        const isLate = clock.nowMs() >= task.dueAtMs;
        const result = isLate ? await markOverdue(call, shell) : await markReported(call, shell);
        if (result.kind === 'unavailable') return sayFault(reportMethod, call.session, result.fault, shell);
        break;
      }
      default:
        return unreachable(task.state);
    }
  }
  return sayFault(reportMethod, null, 'overloaded', shell);
}

function markReported(call: StoredCall, shell: Shell) {
  const task = { kind: 'close', call: call.id, as: 'reported' } as const;
  const records = [note('task_reported', call, { late: false })];
  return commit({ ...bare(shell), task, session: numbered(call), records }, shell);
}

/** The task stays overdue; the late report is recorded once. */
async function reportLate(call: StoredCall, shell: Shell): Promise<Reply> {
  const records = await shell.ports.store.recordsOf(call.id);
  if (!records.some(({ kind }) => kind === 'task_reported')) {
    const late = [note('task_reported', call, { late: true })];
    const result = await commit({ ...bare(shell), session: numbered(call), records: late }, shell);
    if (result.kind === 'unavailable') return sayFault(reportMethod, call.session, result.fault, shell);
  }
  return addNotices(await reportedReply(call, shell, { late: true }), await overdueNotices(call, shell));
}

async function reportedReply(call: Call, shell: Shell, more: { readonly late?: true } = {}): Promise<Reply> {
  const session = call.session === null ? null : await shell.ports.store.session(call.session);
  const step = session === null ? null : await readStep(session, null, null, shell);
  return {
    action: reportMethod,
    result: { reported: true, ...more },
    state: step === null ? null : stateOf(step),
    ...offered(nextActions(shell, call, step)),
    call_id: call.id,
    session: call.session,
    seq: session?.seq ?? 0,
  };
}

/** For the sweeper. Only the process whose commit closes a task reports it. */
export async function closeOverdueTasks(shell: Shell): Promise<void> {
  const { store, clock } = shell.ports;
  for (const task of await store.dueTasks(clock.nowMs(), shell.limits.sweepBatch)) {
    const call = await store.call(task.call);
    if (call !== null) await markOverdue(call, shell);
  }
}

/** INVARIANT: the task becomes overdue and its gap is recorded in one commit. */
async function markOverdue(call: StoredCall, shell: Shell): Promise<CommitResult> {
  const gap = gapOf(call);
  const task = { kind: 'close', call: call.id, as: 'overdue' } as const;
  const records = [gapRecord(gap, { call: call.id, session: call.session })];
  const result = await commit({ ...bare(shell), task, session: numbered(call), records }, shell);
  if (result.kind !== 'committed') return result;
  countGap(gap, shell);
  if (call.session !== null) keepNotice(call.session, noticeOf(call), shell);
  return result;
}

/** The recorded reply of a call, or of the one that goes on for it, with the notices that came later. */
export async function replyWithNotices(asked: StoredCall, shell: Shell): Promise<Reply> {
  // Whoever polls a call that failed gets what a person made of it.
  const call = (asked.state === 'FAILED' ? await continuedBy(asked, shell) : null) ?? asked;
  return addNotices(await storedReply(call, shell), await overdueNotices(call, shell));
}

async function overdueNotices(call: StoredCall, { ports }: Shell): Promise<readonly Notice[]> {
  const task = call.state === 'SUCCEEDED' ? await ports.store.task(call.id) : null;
  return task?.state === 'overdue' ? [noticeOf(call)] : [];
}

const noticeOf = ({ tool }: StoredCall): Notice => gapNotice('unreported_task', tool);

function gapOf({ tool, tenant, agent }: StoredCall): Gap {
  return { kind: 'unreported_task', subject: tool, who: { tenant, agent } };
}
