/**
 * How does one transition become rows? Everything is examined before anything is written, so that a conflict undoes
 * nothing. The order of checks is call, key, session, reservations; the fast way writes call and key by statements
 * that change nothing when the expectation fails, and only then reads to find out why.
 */
import { invariant } from '../../core/unreachable.ts';
import type { Call } from '../../core/call.ts';
import type { CallChange, CommitResult, KeyClaim, SessionChange, Transition } from '../../ports/store.ts';
import { type Chain, seqAfter } from './chain.ts';
import { type Conflict, illegal, recordsConflict, sessionConflict, stageAccounts } from './examine.ts';
import type { Account, Ledger, MutableSession } from './ledger.ts';
import { illegality } from './legality.ts';
import { type CallRow, callOf, positionOf } from './rows.ts';
import { epochStride } from './schema.ts';
import type { Statements } from './statements.ts';
import { timerOf } from './timer-of.ts';

type Move = Exclude<CallChange, { kind: 'mark' }>;

const noAccounts: readonly Account[] = [];

export interface Writing {
  readonly statements: Statements;
  readonly ledger: Ledger;
  readonly chain: Chain;
}

export function applyTransition(transition: Transition, writing: Writing): CommitResult {
  const { statements, ledger } = writing;
  const { call, session } = transition;
  const problem = illegality(transition);
  if (problem !== null) return illegal(problem);

  const move = call === null || call.kind === 'mark' ? null : call;
  if (move === null) {
    const before = alreadyApplied(transition, statements);
    if (before !== null) return before;
  }
  let later: Conflict | null = session === null ? null : sessionConflict(session, ledger);
  later ??= recordsConflict(transition, ledger);
  let accounts = noAccounts;
  if (later === null && transition.reserve.length + transition.settle.length > 0) {
    const staged = stageAccounts(transition, ledger);
    if ('kind' in staged) later = staged;
    else accounts = staged;
  }

  const outline = outlineOf(transition, writing);
  if (move === null) {
    const unknown = call?.kind === 'mark' && statements.call.get(call.id) === undefined;
    if (unknown) return { kind: 'conflict', on: 'call', found: null };
    if (later !== null) return later;
  } else if (later !== null || !writeFast(move, transition, outline, statements)) {
    const conflict = findConflict(move, transition, statements) ?? later;
    if (conflict !== null) return conflict;
    writeSlow(move, transition, outline, statements);
  }
  // Nothing below can be refused.
  if (call?.kind === 'mark') writeMark(call, transition, outline, statements);
  if (move !== null) moveTimer(move, statements);
  for (const { tenant, account, held, settled } of accounts)
    Object.assign(ledger.account(tenant, account), { held, settled, changed: true });
  for (const blob of transition.blobs) statements.insertBlob.run(blob.hash, blob.text);
  const changed = session === null ? null : changeSession(session, transition.atMs, writing);
  appendRecords(transition, writing);
  if (move === null) statements.insertToken.run(transition.token, changed?.seq ?? 0, outline.lastAt);
  return {
    kind: 'committed',
    seq: changed?.seq ?? 0,
    position: outline.lastAt === null ? null : positionOf(outline.lastAt),
  };
}

/** Where the records and payloads will stand: known before they are written, so the call's row is written once. */
interface Outline {
  readonly seq: number | null;
  readonly lastAt: number | null;
  readonly argsPayload: number | null;
  readonly replyPayload: number | null;
}

function outlineOf({ records, session }: Transition, { chain, ledger }: Writing): Outline {
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
  return { seq, lastAt, argsPayload, replyPayload };
}

/** Marks and changes without a call keep their tokens in a small table of their own. */
function alreadyApplied({ token }: Transition, statements: Statements): CommitResult | null {
  const row = statements.token.get(token) as { seq: number; last_at: number | null } | undefined;
  if (row === undefined) return null;
  return { kind: 'committed', seq: row.seq, position: row.last_at === null ? null : positionOf(row.last_at) };
}

/** True if key and call were written; false if nothing was. */
function writeFast(move: Move, transition: Transition, outline: Outline, statements: Statements): boolean {
  const claim = claimOf(move, transition);
  if (claim !== null && !insertKey(claim, statements)) return false;
  if (writeCall(move, transition, outline, statements)) return true;
  if (claim !== null) statements.deleteKey.run(claim.tenant, claim.agent, claim.key);
  return false;
}

/** The fast way did not pass and no conflict was found: only a key is in the way that counts no longer. */
function writeSlow(move: Move, transition: Transition, outline: Outline, statements: Statements): void {
  const claim = claimOf(move, transition);
  if (claim !== null) {
    const { tenant, agent, key, fingerprint, callId, expiresAtMs } = claim;
    statements.replaceKey.run(tenant, agent, key, fingerprint, callId, expiresAtMs);
  }
  invariant(writeCall(move, transition, outline, statements), 'a call without a conflict is written');
}

/** Why call or key cannot be written; the call speaks first. The same token again means: it was written before. */
function findConflict(move: Move, transition: Transition, statements: Statements): CommitResult | null {
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
  if (taken === undefined || taken.expires_at <= transition.atMs || taken.call_id === claim.callId) return null;
  return { kind: 'conflict', on: 'key', callId: taken.call_id as Call['id'], fingerprint: taken.fingerprint };
}

/** INVARIANT: a denied call never answers for a key. */
const claimOf = (move: Move, { key }: Transition): KeyClaim | null => (move.call.state === 'DENIED' ? null : key);

function insertKey(claim: KeyClaim, statements: Statements): boolean {
  const { tenant, agent, key, fingerprint, callId, expiresAtMs } = claim;
  return statements.insertKey.run(tenant, agent, key, fingerprint, callId, expiresAtMs).changes === 1;
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
  return statements.updateCall.run(...moved, lastAt, argsPayload, replyPayload, replyAt, ...found).changes === 1;
}

function writeMark(
  { id, requester, repeats }: Extract<CallChange, { kind: 'mark' }>,
  { atMs }: Transition,
  { lastAt }: Outline,
  statements: Statements,
): void {
  if (requester === null) statements.countUp.run(id, repeats);
  else statements.markCall.run(id, requester === 'left' ? atMs : null, repeats, requester === 'left' ? null : lastAt);
}

/** INVARIANT: a call that is not finished, or has a due time, has exactly one timer. */
function moveTimer(move: Move, statements: Statements): void {
  const { id, state, dueAtMs } = move.call;
  const before = move.kind === 'insert' ? null : timerOf(move.expect.state, move.expect.dueAtMs);
  const after = timerOf(state, dueAtMs);
  if (before === after) return;
  if (before !== null) statements.deleteTimer.run(before, id);
  if (after !== null) statements.insertTimer.run(after, id);
}

function changeSession(change: SessionChange, atMs: number, { ledger, statements }: Writing): MutableSession {
  if (change.kind === 'open') return ledger.openSession(change.session);
  const session = ledger.session(change.id);
  invariant(session !== null, 'the session was examined');
  if (change.kind === 'step' && change.advance) session.seq += 1;
  if (change.kind === 'cancel') session.state = 'cancelled';
  if (change.kind === 'cancel_turn') statements.insertTurn.run(change.id, change.turn, atMs);
  session.changed = true;
  return session;
}

function appendRecords({ records, atMs }: Transition, { chain, ledger, statements }: Writing): void {
  for (const record of records) {
    let sessionSeq = 0;
    if (record.session !== null) {
      const session = ledger.session(record.session);
      invariant(session !== null, 'the sessions of records were examined');
      // INVARIANT: records of a session are numbered without gaps or doubles.
      sessionSeq = session.entries += 1;
      session.changed = true;
    }
    chain.append(record, sessionSeq, atMs);
    if (record.kind === 'refusals_repeated' && record.call !== null) statements.countRepeats.run(record.call);
  }
}
