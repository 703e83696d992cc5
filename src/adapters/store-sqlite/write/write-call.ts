/**
 * Writes a call with its key and its timer. The fast way runs statements that change nothing when the expectation
 * fails; only then is the file read to find out why. A conflict of the call comes before one of the key.
 */
import { invariant } from '../../../core/values/unreachable.ts';
import type { Call } from '../../../core/call/call.ts';
import type { CallChange, CommitResult, KeyClaim, Transition } from '../../../ports/store.ts';
import { type CallRow, callOf, positionOf } from '../read/rows.ts';
import { never, unfinishedStates } from '../file/schema.ts';
import type { Statements } from './statements.ts';

export type Move = Exclude<CallChange, { kind: 'mark' }>;

/** Where the records and payloads will stand: known before they are written, so the call's row is written once. */
export interface Outline {
  readonly seq: number | null;
  readonly lastAt: number | null;
  readonly argsPayload: number | null;
  readonly replyPayload: number | null;
  /** How old the store is. */
  readonly age: number;
}

/** True if key and call were written; false if nothing was. */
export function writeFast(move: Move, transition: Transition, outline: Outline, statements: Statements): boolean {
  const claim = claimOf(move, transition);
  if (claim !== null && !insertKey(claim, outline, statements)) return false;
  if (writeCall(move, transition, outline, statements)) return true;
  if (claim !== null) statements.deleteKey.run(claim.tenant, claim.agent, claim.key);
  return false;
}

/** The fast way did not pass and no conflict was found: only a key is in the way that counts no longer. */
export function writeSlow(move: Move, transition: Transition, outline: Outline, statements: Statements): void {
  const claim = claimOf(move, transition);
  if (claim !== null) {
    const { tenant, agent, key, fingerprint, callId, keepMs } = claim;
    statements.replaceKey.run(tenant, agent, key, fingerprint, callId, outline.age + keepMs);
  }
  invariant(writeCall(move, transition, outline, statements), 'a call without a conflict is written');
}

/** Why call or key cannot be written; the call speaks first. The same token again means: it was written before. */
export function findConflict(
  move: Move,
  transition: Transition,
  { age }: Outline,
  statements: Statements,
): CommitResult | null {
  const row = statements.call.get(move.call.id) as CallRow | undefined;
  if (row !== undefined && row.token === transition.token)
    return { kind: 'committed', seq: row.seq, position: row.last_at === null ? null : positionOf(row.last_at) };
  const asExpected =
    move.kind === 'insert'
      ? row === undefined
      : row !== undefined &&
        row.state === move.expect.state &&
        row.attempt === move.expect.attempt &&
        row.owner === move.expect.owner &&
        row.due_at === move.expect.dueAtMs;
  if (!asExpected) return { kind: 'conflict', on: 'call', found: row === undefined ? null : callOf(row) };
  const claim = claimOf(move, transition);
  if (claim === null) return null;
  const taken = statements.key.get(claim.tenant, claim.agent, claim.key) as
    | { call_id: string; fingerprint: string; expires_at: number }
    | undefined;
  if (taken === undefined || taken.expires_at <= age || taken.call_id === claim.callId) return null;
  return { kind: 'conflict', on: 'key', callId: taken.call_id as Call['id'], fingerprint: taken.fingerprint };
}

/** INVARIANT: a denied call never answers for a key. */
const claimOf = (move: Move, { key }: Transition): KeyClaim | null => (move.call.state === 'DENIED' ? null : key);

function insertKey(claim: KeyClaim, { age }: Outline, statements: Statements): boolean {
  const { tenant, agent, key, fingerprint, callId, keepMs } = claim;
  return statements.insertKey.run(tenant, agent, key, fingerprint, callId, age + keepMs).changes === 1;
}

function writeCall(move: Move, { token, atMs }: Transition, outline: Outline, statements: Statements): boolean {
  const { call } = move;
  const { seq, lastAt, argsPayload, replyPayload } = outline;
  const replyAt = replyPayload === null ? null : lastAt;
  const tainted = call.tainted ? 1 : 0;
  if (move.kind === 'insert') {
    const { id, tenant, agent, session, turn, tool, key, fingerprint, effectClass, state, attempt, owner } = call;
    const times = [call.createdAtMs, call.deadlineAtMs, call.dueAtMs, seq ?? 0, atMs] as const;
    const identity = [id, tenant, agent, session, turn, tool, key, fingerprint, effectClass] as const;
    return (
      statements.insertCall.run(
        ...identity,
        state,
        attempt,
        owner,
        tainted,
        ...times,
        token,
        lastAt,
        argsPayload,
        replyPayload,
        replyAt,
      ).changes === 1
    );
  }
  const { expect } = move;
  const { effectClass, state, attempt, owner, deadlineAtMs, dueAtMs } = call;
  const moved = [effectClass, state, attempt, owner, tainted, deadlineAtMs, dueAtMs, seq, atMs, token] as const;
  const found = [call.id, expect.state, expect.attempt, expect.owner, expect.dueAtMs] as const;
  const papers = [lastAt, argsPayload, replyPayload, replyAt] as const;
  const { changes } = statements.updateCall.run(...moved, ...papers, ...found, call.kept === true ? 1 : 0);
  if (changes === 1 && expect.state === 'AWAITING_APPROVAL')
    statements.takeOverCall.run(call.id, call.session, call.turn, call.key, call.fingerprint);
  return changes === 1;
}

export function writeMark(
  { id, requester, repeats, due, stop }: Extract<CallChange, { kind: 'mark' }>,
  { atMs }: Transition,
  { lastAt, age }: Outline,
  statements: Statements,
): void {
  if (due !== undefined) {
    statements.rescheduleCall.run(id, due.atMs, atMs);
    replaceTimer(id, due.expectAtMs, due.atMs, statements);
  }
  if (requester === null) statements.countUp.run(id, repeats, stop === true ? 1 : 0);
  else if (requester === 'left') statements.markCall.run(id, atMs, repeats, null, age);
  else statements.markCall.run(id, null, repeats, lastAt, null);
}

/** INVARIANT: a call that is not finished, or has a due time, has exactly one timer. */
export function moveTimer(move: Move, statements: Statements): void {
  const { id, state, dueAtMs } = move.call;
  const before = move.kind === 'insert' ? null : timerOf(move.expect.state, move.expect.dueAtMs);
  replaceTimer(id, before, timerOf(state, dueAtMs), statements);
}

function replaceTimer(id: string, before: number | null, after: number | null, statements: Statements): void {
  if (before === after) return;
  if (before !== null) statements.deleteTimer.run(before, id);
  if (after !== null) statements.insertTimer.run(after, id);
}

const unfinished: ReadonlySet<string> = new Set(unfinishedStates);

/** The time in the call's row of `timers`; null if it has none. */
function timerOf(state: string, dueAtMs: number | null): number | null {
  return dueAtMs ?? (unfinished.has(state) ? never : null);
}
