/**
 * Writes one transition as rows. Everything is checked before anything is written, so a conflict leaves nothing to
 * undo. The order of checks is call, key, place, session, quotas, approvals, tickets, reversals, rollbacks, task.
 */
import { invariant } from '../../../core/values/unreachable.ts';
import type { CallChange, CommitResult, SessionChange, Transition } from '../../../ports/store.ts';
import { type Chain, seqAfter } from './chain.ts';
import { type Conflict, illegal, recordsConflict, sessionConflict } from './examine.ts';
import type { Ledger, MutableSession } from './ledger.ts';
import { type StagedQuotas, stageQuotas, writeQuotas } from './quotas.ts';
import { changeWorkflow, completeSession, dropTimer, keepSnapshot, writeFence } from './change-workflow.ts';
import { findIllegality } from './legality.ts';
import { callOf, type CallRow, positionOf } from '../read/rows.ts';
import { epochStride } from '../file/schema.ts';
import type { Statements } from './statements.ts';
import { approvalConflict, taskConflict, writeApprovals, writeTask } from './write-approvals.ts';
import { undoingConflict, writeReversals, writeRollbacks } from './write-reversals.ts';
import { ticketConflict, writeTickets } from './write-tickets.ts';
import { findConflict, type Move, moveTimer, type Outline, writeFast, writeMark, writeSlow } from './write-call.ts';

export interface Writing {
  readonly statements: Statements;
  readonly ledger: Ledger;
  readonly chain: Chain;
  /** How old the store is, as the batch is written. */
  age: number;
}

export function applyTransition(transition: Transition, writing: Writing): CommitResult {
  const { statements } = writing;
  const { call } = transition;
  const problem = findIllegality(transition);
  if (problem !== null) return illegal(problem);
  const move = call === null || call.kind === 'mark' ? null : call;
  const before = move === null ? alreadyApplied(transition, statements) : null;
  if (before !== null) return before;
  const checked = checkExpectations(transition, writing);
  const outline = outlineOf(transition, writing);
  const answer =
    move === null
      ? (markConflict(call, statements) ?? checked.conflict)
      : writeMove(move, transition, outline, checked.conflict, statements);
  return answer ?? writeRest(transition, outline, checked.quotas, writing);
}

interface Checked {
  readonly conflict: Conflict | null;
  /** Accounts and buckets as they will be; null where something conflicts. */
  readonly quotas: StagedQuotas | null;
}

/** Everything but the call and its key, which are checked as they are written. */
function checkExpectations(transition: Transition, writing: Writing): Checked {
  const { statements, ledger } = writing;
  const { session, approvals, tickets, task } = transition;
  let conflict: Conflict | null = placeConflict(transition, writing);
  if (session !== null) conflict ??= sessionConflict(session, ledger);
  conflict ??= recordsConflict(transition, ledger);
  const staged = stageQuotas(transition, statements);
  if ('kind' in staged) conflict ??= staged;
  if (approvals.length > 0) conflict ??= approvalConflict(approvals, statements);
  if (tickets.length > 0) conflict ??= ticketConflict(tickets, statements);
  conflict ??= undoingConflict(transition, ledger, statements);
  if (task !== null) conflict ??= taskConflict(task, statements);
  return { conflict, quotas: 'kind' in staged ? null : staged };
}

/** Null if call and key were written. A conflict of the call or its key comes before `other`. */
function writeMove(
  move: Move,
  transition: Transition,
  outline: Outline,
  other: Conflict | null,
  statements: Statements,
): CommitResult | null {
  if (other === null && writeFast(move, transition, outline, statements)) return null;
  const conflict = findConflict(move, transition, outline, statements) ?? other;
  if (conflict === null) writeSlow(move, transition, outline, statements);
  return conflict;
}

/** What is written once nothing can be refused any more. */
function writeRest(
  transition: Transition,
  outline: Outline,
  quotas: StagedQuotas | null,
  writing: Writing,
): CommitResult {
  const { statements } = writing;
  const { call, session } = transition;
  if (call?.kind === 'mark') writeMark(call, transition, outline, statements);
  else if (call !== null) moveTimer(call, statements);
  if (quotas !== null) writeQuotas(transition, quotas, statements);
  if (transition.approvals.length > 0) writeApprovals(transition.approvals, statements);
  if (transition.tickets.length > 0) writeTickets(transition.tickets, statements);
  if (transition.reversals.length > 0) writeReversals(transition.reversals, statements);
  if (transition.task !== null) writeTask(transition.task, statements);
  for (const blob of transition.blobs) statements.insertBlob.run(blob.hash, blob.text);
  const seq = session === null ? 0 : changeSession(session, transition.atMs, writing).seq;
  // After the step of its own session: whatever that does, the session is closed.
  if (transition.rollbacks.length > 0) writeRollbacks(transition.rollbacks, writing.ledger, statements);
  appendRecords(transition, writing);
  const { lastAt } = outline;
  if (call === null || call.kind === 'mark') statements.insertToken.run(transition.token, seq, lastAt);
  return { kind: 'committed', seq, position: lastAt === null ? null : positionOf(lastAt) };
}

/** INVARIANT: the place of a requester who left is taken once. */
function markConflict(mark: CallChange | null, statements: Statements): Conflict | null {
  if (mark?.kind !== 'mark') return null;
  const row = statements.call.get(mark.id) as CallRow | undefined;
  if (row === undefined) return { kind: 'conflict', on: 'call', found: null };
  const taken = mark.requester === 'returned' && row.requester_left_at === null;
  const { due } = mark;
  // INVARIANT: of those who saw the same time one sets the next, and only while the call is in doubt.
  const late = due !== undefined && (row.state !== 'IN_DOUBT' || row.due_at !== due.expectAtMs);
  // INVARIANT: what waits or has ended is stopped by whoever asks, at once, or not at all.
  const isElsewhere = mark.stop !== true || row.state === 'DISPATCHED';
  return taken || late || !isElsewhere ? { kind: 'conflict', on: 'call', found: callOf(row) } : null;
}

/**
 * INVARIANT: nobody runs what a requester who left may have done, because that came to light while the intent waited.
 */
function placeConflict({ call, nobodyLeftWithinMs }: Transition, { statements, age }: Writing): Conflict | null {
  if (nobodyLeftWithinMs === null || call === null || call.kind === 'mark') return null;
  const { session, fingerprint, id } = call.call;
  const row = statements.leftEqual.get(session, fingerprint, age - nobodyLeftWithinMs, id) as CallRow | undefined;
  // INVARIANT: what goes on for a ticket is not done once more by an equal call of its agent.
  const found = row ?? (statements.continuedEqual.get(session, fingerprint, id) as CallRow | undefined);
  return found === undefined ? null : { kind: 'conflict', on: 'place', found: callOf(found) };
}

function outlineOf({ records, session }: Transition, { chain, ledger, age }: Writing): Outline {
  const head = chain.head();
  let payload = head.nextPayload;
  let argsPayload: number | null = null;
  let replyPayload: number | null = null;
  for (const record of records)
    for (const { part } of record.payloads) {
      if (part === 'args') argsPayload = payload;
      if (part === 'reply') replyPayload = payload;
      payload += 1;
    }
  const lastAt = records.length === 0 ? null : head.epoch * epochStride + seqAfter(head.seq, records.length);
  let seq: number | null = null;
  if (session?.kind === 'open') seq = session.session.seq;
  else if (session !== null) {
    const advance = session.kind === 'step' && session.advance ? 1 : 0;
    seq = (ledger.session(session.id)?.seq ?? 0) + advance;
  }
  return { seq, lastAt, argsPayload, replyPayload, age };
}

/** Marks and changes without a call keep their tokens in a small table of their own. */
function alreadyApplied({ token }: Transition, statements: Statements): CommitResult | null {
  const row = statements.token.get(token) as { seq: number; last_at: number | null } | undefined;
  if (row === undefined) return null;
  return { kind: 'committed', seq: row.seq, position: row.last_at === null ? null : positionOf(row.last_at) };
}

function changeSession(change: SessionChange, atMs: number, { ledger, statements }: Writing): MutableSession {
  if (change.kind === 'open') {
    if (change.snapshot !== null) keepSnapshot(change.session, change.snapshot, null, statements);
    for (const { call, operation } of change.fences) statements.insertFence.run(change.session.id, call, operation);
    return ledger.openSession(change.session);
  }
  const session = ledger.session(change.id);
  invariant(session !== null, 'the session was examined');
  session.usedAtMs = Math.max(session.usedAtMs, atMs);
  if (change.kind === 'step' && change.advance) session.seq += 1;
  if (change.kind === 'step' && change.workflow !== null) changeWorkflow(session, change.workflow, statements);
  if (change.kind === 'step' && change.fence !== undefined) writeFence(change.id, change.fence, statements);
  if (change.kind === 'cancel') session.state = 'cancelled';
  if (change.kind === 'complete') completeSession(session);
  if (session.state !== 'open') dropTimer(session, statements);
  const turn = endedTurn(change);
  if (turn !== null) statements.insertTurn.run(change.id, turn, atMs);
  session.changed = true;
  return session;
}

/** By its agent, or with a call that was given up. */
function endedTurn(change: Exclude<SessionChange, { kind: 'open' }>): string | null {
  if (change.kind === 'cancel_turn') return change.turn;
  return change.kind === 'step' ? (change.endsTurn ?? null) : null;
}

function appendRecords({ records, atMs }: Transition, { chain, ledger, statements }: Writing): void {
  for (const record of records) {
    let sessionSeq = 0;
    let withHistory: string | null = null;
    if (record.session !== null) {
      const session = ledger.session(record.session);
      invariant(session !== null, 'the sessions of records were examined');
      // INVARIANT: records of a session are numbered without gaps or doubles.
      sessionSeq = session.entries += 1;
      session.changed = true;
      if (session.workflow !== null) withHistory = session.id;
    }
    const seq = chain.append(record, sessionSeq, atMs);
    if (withHistory !== null)
      statements.insertEntry.run(withHistory, sessionSeq, chain.head().epoch * epochStride + seq);
    if (record.kind === 'refusals_repeated' && record.call !== null) statements.countRepeats.run(record.call);
  }
}
