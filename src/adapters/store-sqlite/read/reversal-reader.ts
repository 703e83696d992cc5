/** Reads reversals, and rollbacks with their steps. Every listing is bounded and reads one index. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

import type { CallId } from '../../../core/call/call.ts';
import type { ReversalReader } from '../../../ports/store-reversals.ts';
import { reversalOf, type ReversalRow, rollbackOf, type RollbackRow, stepOf, type StepRow } from './reversal-rows.ts';

export function createReversalReader(database: DatabaseSync, age: () => number): ReversalReader {
  const rows = <Row, Value>(text: string, make: (row: Row) => Value) => {
    const statement = database.prepare(text);
    return (...values: SQLInputValue[]): Value[] => (statement.all(...values) as unknown as Row[]).map(make);
  };
  const byId = rows<ReversalRow, ReturnType<typeof reversalOf>>('SELECT * FROM reversals WHERE id = ?', reversalOf);
  const byCall = rows<ReversalRow, ReturnType<typeof reversalOf>>(
    'SELECT * FROM reversals WHERE call_id = ?',
    reversalOf,
  );
  const due = rows<ReversalRow, ReturnType<typeof reversalOf>>(
    `SELECT * FROM reversals INDEXED BY reversals_due WHERE state = 'due' ORDER BY id LIMIT ?`,
    reversalOf,
  );
  const late = rows<ReversalRow, ReturnType<typeof reversalOf>>(
    `SELECT reversals.* FROM rollback_steps INDEXED BY rollback_steps_in_doubt
       JOIN reversals ON reversals.call_id = rollback_steps.call_id
     WHERE rollback_steps.outcome = 'in_doubt' AND reversals.state = 'armed' ORDER BY reversals.id LIMIT ?`,
    reversalOf,
  );
  const rollback = rows<RollbackRow, ReturnType<typeof rollbackOf>>(
    'SELECT * FROM rollbacks WHERE session = ?',
    rollbackOf,
  );
  const running = rows<RollbackRow, ReturnType<typeof rollbackOf>>(
    `SELECT * FROM rollbacks INDEXED BY rollbacks_running WHERE state = 'running' ORDER BY session LIMIT ?`,
    rollbackOf,
  );
  const steps = rows<StepRow, ReturnType<typeof stepOf>>(
    'SELECT * FROM rollback_steps WHERE session = ? ORDER BY position, call_id',
    stepOf,
  );
  const byKeys = rows<{ call_id: string }, CallId>(
    `SELECT call_id FROM keys WHERE tenant = ? AND agent = ? AND key >= ? AND key < ? AND expires_at > ?
     ORDER BY key LIMIT ?`,
    (row) => row.call_id as CallId,
  );
  return {
    reversal: async (id) => byId(id)[0] ?? null,
    reversalOf: async (call) => byCall(call)[0] ?? null,
    dueReversals: async (limit) => due(limit),
    lateReversals: async (limit) => late(limit),
    rollback: async (session) => rollback(session)[0] ?? null,
    rollbackSteps: async (session) => steps(session),
    runningRollbacks: async (limit) => running(limit),
    callsByKeys: async (tenant, agent, prefix, limit) =>
      byKeys(tenant, agent, prefix, `${prefix}\u{10ffff}`, age(), limit),
  };
}
