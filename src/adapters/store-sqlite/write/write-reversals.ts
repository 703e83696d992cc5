/**
 * Checks and writes what a transition does to reversals and rollbacks. All of it is checked before anything is
 * written; a transition writes each of them at most once.
 */
import type { Reversal, Rollback } from '../../../core/reversal/reversal.ts';
import { unreachable } from '../../../core/values/unreachable.ts';
import type { ReversalWrite, RollbackWrite, Transition } from '../../../ports/store.ts';
import { type ReversalRow, reversalOf, type RollbackRow, rollbackOf } from '../read/reversal-rows.ts';
import { dropTimer } from './change-workflow.ts';
import type { Conflict } from './examine.ts';
import type { Ledger } from './ledger.ts';
import type { Statements } from './statements.ts';

/** What stands against the reversals and the rollback of a transition. */
export function undoingConflict(
  { reversals, rollbacks }: Transition,
  ledger: Ledger,
  statements: Statements,
): Conflict | null {
  if (reversals.length + rollbacks.length === 0) return null;
  return reversalConflict(reversals, statements) ?? rollbackConflict(rollbacks, ledger, statements);
}

function reversalConflict(writes: readonly ReversalWrite[], statements: Statements): Conflict | null {
  for (const write of writes) {
    const found = standingOf(write, statements);
    if (found !== undefined) return { kind: 'conflict', on: 'reversal', found };
  }
  return null;
}

/** What stands against it; undefined if nothing does. */
function standingOf(write: ReversalWrite, statements: Statements): Reversal | null | undefined {
  switch (write.kind) {
    case 'issue':
      return inFile(statements.reversalOfCall.get(write.reversal.call)) ?? undefined;
    case 'arm':
    case 'void':
    case 'rearm':
      return undefined;
    case 'order':
      return unlessIn(['armed'], inFile(statements.reversal.get(write.id)));
    case 'give_up':
      return unlessIn(['due'], inFile(statements.reversal.get(write.id)));
    case 'redeem': {
      const found = inFile(statements.reversal.get(write.id));
      // INVARIANT: a token is used at most once, and only after its call is on record as a success.
      return found?.tries === write.tries ? unlessIn(['armed', 'due'], found) : found;
    }
    default:
      return unreachable(write);
  }
}

const unlessIn = (states: readonly Reversal['state'][], found: Reversal | null): Reversal | null | undefined =>
  found !== null && states.includes(found.state) ? undefined : found;

export function writeReversals(writes: readonly ReversalWrite[], statements: Statements): void {
  for (const write of writes) writeReversal(write, statements);
}

function writeReversal(write: ReversalWrite, statements: Statements): void {
  switch (write.kind) {
    case 'issue': {
      const { id, tenant, agent, session, call, tool, reverser, windowMs } = write.reversal;
      statements.insertReversal.run(id, tenant, agent, session, call, tool, reverser, windowMs);
      return;
    }
    case 'arm': {
      const { by = null, reason = null } = write.due ?? {};
      statements.armReversal.run(write.call, write.due === null ? 'armed' : 'due', write.atMs, by, reason);
      return;
    }
    case 'void':
      statements.voidReversal.run(write.call);
      return;
    case 'order':
      statements.orderReversal.run(write.id, write.order.by, write.order.reason);
      return;
    case 'give_up':
      statements.giveUpReversal.run(write.id);
      return;
    case 'redeem':
      statements.redeemReversal.run(write.id, write.by);
      return;
    case 'rearm':
      statements.rearmReversal.run(write.id, write.by);
      return;
    default:
      return unreachable(write);
  }
}

/** INVARIANT: of several processes that work on a rollback one records each step. */
function rollbackConflict(writes: readonly RollbackWrite[], ledger: Ledger, statements: Statements): Conflict | null {
  for (const write of writes) {
    if (write.kind === 'start') {
      if (ledger.session(write.rollback.session) === null) return { kind: 'conflict', on: 'session', found: null };
      continue;
    }
    const found = rollbackIn(statements.rollback.get(write.session));
    if (found?.state !== 'running' || found.version !== write.expect)
      return { kind: 'conflict', on: 'rollback', found };
  }
  return null;
}

export function writeRollbacks(writes: readonly RollbackWrite[], ledger: Ledger, statements: Statements): void {
  for (const write of writes) writeRollback(write, ledger, statements);
}

function writeRollback(write: RollbackWrite, ledger: Ledger, statements: Statements): void {
  switch (write.kind) {
    case 'start': {
      const { session, tenant, agent, by, reason, startedAtMs } = write.rollback;
      statements.startRollback.run(session, tenant, agent, by, reason, startedAtMs);
      closeFor(session, ledger, statements);
      return;
    }
    case 'step': {
      const { call, tool, position, outcome, why, reversal, atMs } = write.step;
      statements.writeStep.run(write.session, call, tool, position, outcome, why, reversal, atMs);
      statements.moveRollback.run(write.session);
      return;
    }
    case 'finish':
      statements.finishRollback.run(write.session, write.atMs);
      return;
    default:
      return unreachable(write);
  }
}

/** INVARIANT: from the commit that starts a rollback on, no call begins in its session. */
function closeFor(id: string, ledger: Ledger, statements: Statements): void {
  const session = ledger.session(id);
  if (session === null || (session.state !== 'open' && session.state !== 'stopped')) return;
  session.state = 'closed';
  if (session.workflow !== null) session.workflow = { ...session.workflow, reason: 'rolled_back' };
  dropTimer(session, statements);
  session.changed = true;
}

const inFile = (row: unknown): Reversal | null => (row === undefined ? null : reversalOf(row as ReversalRow));
const rollbackIn = (row: unknown): Rollback | null => (row === undefined ? null : rollbackOf(row as RollbackRow));
