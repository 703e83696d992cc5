/** Approvals and tasks of a memory store: what stands against a write, what it leaves, and what is read of them. */
import { type Approval, type ApprovalState, isLive, legalApprovalMoves } from '../../src/core/approval/approval.ts';
import type { ApprovalFilter, ApprovalWrite, CommitResult, StoredTask, TaskChange } from '../../src/ports/store.ts';
import type { MemoryState } from './memory-state.ts';

type Conflict = Extract<CommitResult, { kind: 'conflict' }>;

const no = (found: Approval | null): Conflict => ({ kind: 'conflict', on: 'approval', found });
const illegal = (problem: string): Conflict => ({ kind: 'conflict', on: 'illegal', problem });

/** Applies the writes to a copy: what it holds afterwards counts only if none of them was refused. */
export function approvalConflict(writes: readonly ApprovalWrite[], staged: Map<string, Approval>): Conflict | null {
  for (const write of writes) {
    const conflict = write.expect === null ? openingConflict(write, staged) : changeConflict(write, staged);
    if (conflict !== null) return conflict;
    staged.set(write.approval.id, write.approval);
  }
  return null;
}

function openingConflict({ approval, maxPending }: ApprovalWrite, staged: ReadonlyMap<string, Approval>) {
  const taken = staged.get(approval.id);
  if (taken !== undefined) return no(taken);
  const own = [...staged.values()].filter(
    ({ tenant, agent }) => tenant === approval.tenant && agent === approval.agent,
  );
  const equal = own.find((other) => other.subject === approval.subject && isLive(other));
  if (equal !== undefined) return no(equal);
  return own.filter(({ state }) => state === 'pending').length >= (maxPending ?? 0) ? no(null) : null;
}

function changeConflict({ approval, expect }: ApprovalWrite, staged: ReadonlyMap<string, Approval>): Conflict | null {
  const found = staged.get(approval.id);
  if (found === undefined) return no(null);
  const same = (['tenant', 'agent', 'subject', 'openedAtMs'] as const).every((name) => found[name] === approval[name]);
  if (!same) return illegal(`approval '${approval.id}' is about something else`);
  if (found.version !== expect) return no(found);
  if (legalApprovalMoves[found.state].includes(approval.state)) return null;
  return illegal(`an approval that is ${found.state} cannot become ${approval.state}`);
}

export function taskConflict(change: TaskChange | null, state: MemoryState): Conflict | null {
  if (change === null) return null;
  const found = state.tasks.get(change.call) ?? null;
  const fits = change.kind === 'open' ? found === null : found?.state === 'open';
  return fits ? null : { kind: 'conflict', on: 'task', found };
}

export function writeTask(change: TaskChange | null, state: MemoryState): void {
  if (change === null) return;
  const { call } = change;
  const dueAtMs = change.kind === 'open' ? change.dueAtMs : (state.tasks.get(call)?.dueAtMs ?? 0);
  state.tasks.set(call, { call, dueAtMs, state: change.kind === 'open' ? 'open' : change.as });
}

/** The ids of approvals whose changed arguments were erased. A change like any other: the version moves with it. */
export function eraseEdits(call: string, state: MemoryState): readonly string[] {
  const erased: string[] = [];
  for (const approval of state.approvals.values()) {
    const { id, callId, edit, version } = approval;
    if (callId !== call || edit === null || edit.argsText === null) continue;
    state.approvals.set(id, { ...approval, version: version + 1, edit: { ...edit, argsText: null } });
    erased.push(id);
  }
  return erased.sort();
}

export function approvalReads(state: MemoryState) {
  const where = (wanted: (approval: Approval) => boolean): Approval[] =>
    [...state.approvals.values()].filter(wanted).sort((a, b) => (a.id < b.id ? -1 : 1));
  const isOf = (tenant: string, agent: string, approval: Approval) =>
    approval.tenant === tenant && approval.agent === agent;
  return {
    approval: (id: string) => state.approvals.get(id) ?? null,
    approvalOf: (tenant: string, agent: string, subject: string) => {
      const found = where(
        (approval) =>
          isOf(tenant, agent, approval) && (approval.subject === subject || approval.edit?.subject === subject),
      );
      const newest = (wanted: ApprovalState) => found.findLast(({ state }) => state === wanted);
      return newest('denied') ?? newest('granted') ?? newest('pending') ?? found.at(-1) ?? null;
    },
    approvalOfCall: (call: string) =>
      where(({ callId, spending }) => callId === call && spending === undefined).at(-1) ?? null,
    pendingApprovals: (tenant: string, agent: string) =>
      where((approval) => isOf(tenant, agent, approval) && approval.state === 'pending').length,
    listApprovals: (filter: ApprovalFilter): readonly Approval[] =>
      where((approval) => fits(approval, filter))
        .reverse()
        .slice(0, filter.limit),
    approvalsToRun: (after: string, limit: number): readonly Approval[] =>
      where(({ id, state: now, terms }) => id > after && now === 'granted' && terms.onApprove === 'run').slice(
        0,
        limit,
      ),
    task: (call: string): StoredTask | null => state.tasks.get(call) ?? null,
    dueTasks: (nowMs: number, limit: number): readonly StoredTask[] =>
      [...state.tasks.values()]
        .filter((task) => task.state === 'open' && task.dueAtMs <= nowMs)
        .sort((a, b) => a.dueAtMs - b.dueAtMs || (a.call < b.call ? -1 : 1))
        .slice(0, limit),
  };
}

function fits(approval: Approval, { tenant, agent, session, state, before }: ApprovalFilter): boolean {
  if (approval.tenant !== tenant) return false;
  if (agent !== undefined && approval.agent !== agent) return false;
  if (session !== undefined && approval.session !== session) return false;
  if (state !== undefined && approval.state !== state) return false;
  return before === undefined || approval.id < before;
}
