/** Reads approvals and tasks. A long listing yields to the event loop between its pieces. */
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as giveWay } from 'node:timers/promises';

import type { Approval } from '../../../core/approval/approval.ts';
import type { ApprovalFilter, StoreReader } from '../../../ports/store.ts';
import { approvalOf, type ApprovalRow, taskOf, type TaskRow } from './rows.ts';

type ApprovalReader = Pick<
  StoreReader,
  | 'approval'
  | 'approvalOf'
  | 'approvalOfCall'
  | 'pendingApprovals'
  | 'listApprovals'
  | 'approvalsToRun'
  | 'task'
  | 'dueTasks'
>;

/** Rows that a filtered listing reads before it yields. */
const listPiece = 500;

export function createApprovalReader(database: DatabaseSync): ApprovalReader {
  const byId = database.prepare('SELECT * FROM approvals WHERE id = ?');
  const newest = (index: string, column: string) =>
    `SELECT * FROM (SELECT * FROM approvals INDEXED BY ${index}
       WHERE tenant = ?1 AND agent = ?2 AND ${column} = ?3 ORDER BY id DESC LIMIT 1)`;
  const live = (index: string, column: string) =>
    `SELECT * FROM approvals INDEXED BY ${index}
       WHERE tenant = ?1 AND agent = ?2 AND ${column} = ?3 AND state IN ('pending', 'granted', 'denied')`;
  // INVARIANT: what is over never hides what is live, nor a yes a no.
  const bySubject = database.prepare(
    `SELECT * FROM (
       ${live('approvals_live', 'subject')} UNION ALL ${live('approvals_edited', 'edited_subject')}
       UNION ALL ${newest('approvals_subject', 'subject')} UNION ALL ${newest('approvals_edited', 'edited_subject')}
     ) ORDER BY (state = 'denied') DESC, (state = 'granted') DESC, (state = 'pending') DESC, id DESC LIMIT 1`,
  );
  const byCall = database.prepare(
    'SELECT * FROM approvals INDEXED BY approvals_call WHERE call_id = ? AND account IS NULL ORDER BY id DESC LIMIT 1',
  );
  const pending = database.prepare(
    `SELECT count(*) AS pending FROM approvals INDEXED BY approvals_pending
     WHERE tenant = ? AND agent = ? AND state = 'pending'`,
  );
  const toRun = database.prepare(
    `SELECT * FROM approvals INDEXED BY approvals_run
     WHERE state = 'granted' AND on_approve = 'run' AND id > ? ORDER BY id LIMIT ?`,
  );
  const task = database.prepare('SELECT * FROM tasks WHERE call_id = ?');
  const due = database.prepare(
    `SELECT * FROM tasks INDEXED BY tasks_open WHERE state = 'open' AND due_at <= ? ORDER BY due_at, call_id LIMIT ?`,
  );
  const approval = (row: unknown) => (row === undefined ? null : approvalOf(row as ApprovalRow));
  return {
    approval: async (id) => approval(byId.get(id)),
    approvalOf: async (tenant, agent, subject) => approval(bySubject.get(tenant, agent, subject)),
    approvalOfCall: async (call) => approval(byCall.get(call)),
    pendingApprovals: async (tenant, agent) => (pending.get(tenant, agent) as { pending: number }).pending,
    listApprovals: (filter) => listApprovals(database, filter),
    approvalsToRun: async (after, limit) => (toRun.all(after, limit) as unknown as ApprovalRow[]).map(approvalOf),
    task: async (call) => {
      const row = task.get(call) as TaskRow | undefined;
      return row === undefined ? null : taskOf(row);
    },
    dueTasks: async (nowMs, limit) => (due.all(nowMs, limit) as unknown as TaskRow[]).map(taskOf),
  };
}

async function listApprovals(database: DatabaseSync, filter: ApprovalFilter): Promise<readonly Approval[]> {
  const { tenant, agent, session, state, before, limit } = filter;
  const wanted = Object.entries({ agent, session, state }).filter(([, value]) => value !== undefined);
  const where = wanted.map(([name]) => `${name} = ?`).join(' AND ') || 'TRUE';
  // Those that wait are asked for most, and are few among many.
  const index = state === 'pending' ? `approvals_inbox WHERE state = 'pending' AND` : 'approvals_tenant WHERE';
  const source = `approvals INDEXED BY ${index} tenant = ? AND id < ? ORDER BY id DESC LIMIT`;
  const piece = database.prepare(`SELECT * FROM (SELECT * FROM ${source} ${listPiece}) WHERE ${where} LIMIT ?`);
  const end = database.prepare(`SELECT id FROM ${source} 1 OFFSET ${listPiece - 1}`);
  const values = wanted.map(([, value]) => value as string);
  const found: Approval[] = [];
  // Beyond every text: SQLite orders blobs after it.
  let from: string | Uint8Array = before ?? new Uint8Array();
  for (;;) {
    const rows = piece.all(tenant, from, ...values, limit - found.length) as unknown as ApprovalRow[];
    for (const row of rows) found.push(approvalOf(row));
    const last = end.get(tenant, from) as { id: string } | undefined;
    if (found.length >= limit || last === undefined) return found;
    from = last.id;
    await giveWay();
  }
}
