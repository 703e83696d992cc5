/**
 * Checks and writes the approvals and the task of a transition. Writes are checked in order, each as if those before it
 * were in the file; nothing is written unless all of them pass.
 */
import { type Approval, isLive, legalApprovalMoves } from '../../../core/approval/approval.ts';
import type { ApprovalWrite, TaskChange } from '../../../ports/store.ts';
import { approvalOf, type ApprovalRow, changingColumns, taskOf, type TaskRow } from '../read/rows.ts';
import { type Conflict, illegal } from './examine.ts';
import type { Statements } from './statements.ts';

const no = (found: Approval | null): Conflict => ({ kind: 'conflict', on: 'approval', found });

/** Only for transitions that have some. */
export function approvalConflict(writes: readonly ApprovalWrite[], statements: Statements): Conflict | null {
  /** What the writes before would have left. */
  const staged = new Map<string, Approval>();
  for (const write of writes) {
    const { approval } = write;
    const found = staged.get(approval.id) ?? inFile(statements.approval.get(approval.id));
    const conflict =
      write.expect === null
        ? openingConflict(write, found, staged, statements)
        : changeConflict(approval, write.expect, found);
    if (conflict !== null) return conflict;
    staged.set(approval.id, approval);
  }
  return null;
}

function changeConflict(approval: Approval, expect: number, found: Approval | null): Conflict | null {
  if (found === null) return no(null);
  // INVARIANT: whose approval it is, and for which call, never changes.
  const isSame =
    found.tenant === approval.tenant &&
    found.agent === approval.agent &&
    found.subject === approval.subject &&
    found.openedAtMs === approval.openedAtMs;
  if (!isSame) return illegal(`approval '${approval.id}' is about something else`);
  if (found.version !== expect) return no(found);
  // INVARIANT: only legal moves; an approval that was used, expired, revoked or void is never live again.
  return legalApprovalMoves[found.state].includes(approval.state)
    ? null
    : illegal(`an approval that is ${found.state} cannot become ${approval.state}`);
}

function openingConflict(
  { approval, maxPending }: ApprovalWrite,
  found: Approval | null,
  staged: ReadonlyMap<string, Approval>,
  statements: Statements,
): Conflict | null {
  if (found !== null) return no(found);
  const { tenant, agent, subject } = approval;
  const isOfAgent = (other: Approval) => other.tenant === tenant && other.agent === agent;
  // INVARIANT: equal calls of an agent have at most one live approval.
  const filed = inFile(statements.liveApproval.get(tenant, agent, subject));
  if (filed !== null && !staged.has(filed.id)) return no(filed);
  for (const other of staged.values())
    if (isOfAgent(other) && other.subject === subject && isLive(other)) return no(other);
  let { pending } = statements.pendingApprovals.get(tenant, agent) as { pending: number };
  for (const other of staged.values()) {
    if (!isOfAgent(other)) continue;
    const before = (statements.approval.get(other.id) as ApprovalRow | undefined)?.state === 'pending';
    pending += Number(other.state === 'pending') - Number(before);
  }
  // INVARIANT: an agent has at most so many that wait for somebody.
  return pending >= (maxPending ?? 0) ? no(null) : null;
}

export function writeApprovals(writes: readonly ApprovalWrite[], statements: Statements): void {
  for (const { approval, expect } of writes) {
    const columns = changingColumns(approval);
    const { id, tenant, agent, subject, openedAtMs, spending } = approval;
    const account = spending?.account ?? null;
    if (expect === null) statements.insertApproval.run(...columns, id, tenant, agent, subject, openedAtMs, account);
    else statements.updateApproval.run(...columns, id);
  }
}

export function taskConflict(change: TaskChange, statements: Statements): Conflict | null {
  const row = statements.task.get(change.call) as TaskRow | undefined;
  const fits = change.kind === 'open' ? row === undefined : row?.state === 'open';
  return fits ? null : { kind: 'conflict', on: 'task', found: row === undefined ? null : taskOf(row) };
}

export function writeTask(change: TaskChange, statements: Statements): void {
  if (change.kind === 'open') statements.insertTask.run(change.call, change.dueAtMs);
  else statements.closeTask.run(change.as, change.call);
}

const inFile = (row: unknown): Approval | null => (row === undefined ? null : approvalOf(row as ApprovalRow));
