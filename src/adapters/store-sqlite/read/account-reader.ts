/** Reads the accounts of budgets and the buckets of rate limits. */
import type { DatabaseSync } from 'node:sqlite';

import type { StoredAccount, StoreReader } from '../../../ports/store.ts';
import { approvalOf, type ApprovalRow } from './rows.ts';

type AccountReader = Pick<StoreReader, 'account' | 'holdsOf' | 'bucket' | 'overdueSpending'>;

interface HoldRow {
  readonly account: string;
  readonly amount: number;
}

export function createAccountReader(database: DatabaseSync): AccountReader {
  const account = database.prepare(
    'SELECT held, settled, allowed, approval FROM accounts WHERE tenant = ? AND account = ?',
  );
  const holds = database.prepare('SELECT account, amount FROM holds WHERE call_id = ? ORDER BY account');
  const bucket = database.prepare('SELECT full_at FROM buckets WHERE tenant = ? AND bucket = ?');
  const overdue = database.prepare(
    `SELECT * FROM approvals INDEXED BY approvals_spending
     WHERE account IS NOT NULL AND state IN ('pending', 'granted', 'denied') AND expires_at <= ?
     ORDER BY expires_at LIMIT ?`,
  );
  const empty: StoredAccount = { held: 0, settled: 0, allowed: 0, approval: null };
  return {
    account: async (tenant, name) => ({ ...empty, ...(account.get(tenant, name) as StoredAccount | undefined) }),
    holdsOf: async (call) =>
      (holds.all(call) as unknown as HoldRow[]).map(({ account: name, amount }) => ({ account: name, amount })),
    bucket: async (tenant, name) => (bucket.get(tenant, name) as { full_at: number } | undefined)?.full_at ?? null,
    overdueSpending: async (nowMs, limit) => (overdue.all(nowMs, limit) as unknown as ApprovalRow[]).map(approvalOf),
  };
}
