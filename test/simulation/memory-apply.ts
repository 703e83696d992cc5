/**
 * Applies one transition to the shared state of a memory store. Everything is examined first, in the order of the port
 * (call, key, place, session, quotas, approvals, tickets, reversals, rollbacks, task), so that a conflict changes nothing.
 */
import type { CallId } from '../../src/core/call/call.ts';
import type { CallChange, CommitResult, StoredCall, Transition } from '../../src/ports/store.ts';
import { approvalConflict, taskConflict, writeTask } from './memory-approvals.ts';
import type { Chain, MemoryRecord } from './memory-journal.ts';
import { quotaConflict, stageNothing, writeQuotas } from './limits/memory-quotas.ts';
import { illegality } from './memory-legality.ts';
import { changeSession, sessionConflict } from './memory-workflows.ts';
import { closeSessions, stageReversals, undoingConflict, undoingIllegality } from './reversal/memory-reversals.ts';
import { continuedEqual, ticketConflict } from './recovery/memory-tickets.ts';
import {
  type CallRow,
  leftCalls,
  type MemoryState,
  nameOf,
  type PayloadPlace,
  placeName,
  unfinishedStates,
} from './memory-state.ts';

type Conflict = Extract<CommitResult, { kind: 'conflict' }>;
type Committed = Extract<CommitResult, { kind: 'committed' }>;
type Move = Exclude<CallChange, { kind: 'mark' }>;

export function applyTransition(transition: Transition, state: MemoryState, chain: Chain, owner: string): CommitResult {
  const problem = illegality(transition) ?? undoingIllegality(transition);
  if (problem !== null) return { kind: 'conflict', on: 'illegal', problem };
  const earlier = appliedBefore(transition, state);
  if (earlier !== null) return earlier;
  const quotas = stageNothing();
  const papers = staged(transition, state);
  const conflict =
    callConflict(transition.call, state) ??
    keyConflict(transition, state) ??
    placeConflict(transition, state) ??
    sessionConflict(transition, state) ??
    quotaConflict(transition, quotas, state) ??
    papersConflict(transition, papers, state) ??
    taskConflict(transition.task, state);
  if (conflict !== null) return conflict;

  // Nothing below can be refused.
  writeQuotas(quotas, state);
  state.approvals = papers.approvals;
  state.tickets = papers.tickets;
  state.undoing = papers.undoing;
  writeTask(transition.task, state);
  for (const { hash, text } of transition.blobs) state.blobs.set(hash, text);
  const seq = changeSession(transition.session, transition.atMs, state);
  closeSessions(transition, state);
  const records = appendRecords(transition, state, chain);
  const last = records.at(-1);
  const position = last === undefined ? null : { epoch: last.epoch, seq: last.seq };
  writeCall(transition, records, seq, state);
  for (const { kind, call } of records) if (kind === 'refusals_repeated' && call !== null) countRepeats(call, state);
  const result: Committed = { kind: 'committed', seq: seq ?? 0, position };
  state.tokens.set(transition.token, result);
  state.onApplied(transition, records, owner);
  return result;
}

const papersConflict = (
  transition: Transition,
  { approvals, tickets, undoing }: ReturnType<typeof staged>,
  state: MemoryState,
): Conflict | null =>
  approvalConflict(transition.approvals, approvals) ??
  ticketConflict(transition.tickets, tickets, state) ??
  undoingConflict(transition, undoing, state);

/** Copies for the writes to be applied to; they count once nothing was refused. */
function staged({ approvals, tickets, reversals, rollbacks }: Transition, state: MemoryState) {
  return {
    approvals: approvals.length === 0 ? state.approvals : new Map(state.approvals),
    tickets: tickets.length === 0 ? state.tickets : new Map(state.tickets),
    undoing: reversals.length + rollbacks.length === 0 ? state.undoing : stageReversals(state.undoing),
  };
}

function appliedBefore({ token, call }: Transition, state: MemoryState): Committed | null {
  const before = state.tokens.get(token) ?? null;
  // INVARIANT: a move that the call has left behind is not confirmed any more: whoever made it has lost the call.
  if (before === null || call === null || call.kind === 'mark') return before;
  return state.calls.get(call.call.id)?.token === token ? before : null;
}

function callConflict(change: CallChange | null, state: MemoryState): Conflict | null {
  if (change === null) return null;
  const found = state.calls.get(change.kind === 'mark' ? change.id : change.call.id)?.call ?? null;
  const asExpected =
    change.kind === 'insert'
      ? found === null
      : found !== null && (change.kind === 'mark' ? isFree(change, found) : isAsExpected(found, change.expect));
  return asExpected ? null : { kind: 'conflict', on: 'call', found };
}

/** INVARIANT: the place of a requester who left is taken once. */
function isFree(mark: Extract<CallChange, { kind: 'mark' }>, found: StoredCall): boolean {
  const { due } = mark;
  // INVARIANT: of those who saw the same time one sets the next, and only while the call is in doubt.
  const isInTime = due === undefined || (found.state === 'IN_DOUBT' && found.dueAtMs === due.expectAtMs);
  return (
    isInTime &&
    (mark.stop !== true || found.state === 'DISPATCHED') &&
    (mark.requester !== 'returned' || found.requesterLeftAtMs !== null)
  );
}

function isAsExpected(found: StoredCall, expect: Extract<Move, { kind: 'update' }>['expect']): boolean {
  const { state, attempt, owner, dueAtMs } = expect;
  return found.state === state && found.attempt === attempt && found.owner === owner && found.dueAtMs === dueAtMs;
}

/** INVARIANT: a denied call never answers for a key. */
const claimOf = ({ key, call }: Transition) =>
  key === null || call === null || call.kind === 'mark' || call.call.state === 'DENIED' ? null : key;

function keyConflict(transition: Transition, state: MemoryState): Conflict | null {
  const claim = claimOf(transition);
  const taken = claim === null ? undefined : state.keys.get(nameOf(claim.tenant, claim.agent, claim.key));
  if (claim === null || taken === undefined) return null;
  if (taken.expiresAtAge <= state.age() || taken.callId === claim.callId) return null;
  return { kind: 'conflict', on: 'key', callId: taken.callId, fingerprint: taken.fingerprint };
}

function placeConflict({ call, nobodyLeftWithinMs: withinMs }: Transition, state: MemoryState): Conflict | null {
  if (withinMs === null || call === null || call.kind === 'mark') return null;
  const found =
    leftCalls(call.call, withinMs, state).find(({ id }) => id !== call.call.id) ?? continuedEqual(call.call, state);
  return found === undefined ? null : { kind: 'conflict', on: 'place', found };
}

function appendRecords({ records, atMs }: Transition, state: MemoryState, chain: Chain): MemoryRecord[] {
  return records.map((draft) => {
    const session = draft.session === null ? undefined : state.sessions.get(draft.session);
    const entries = session === undefined ? 0 : session.entries + 1;
    if (session !== undefined) state.sessions.set(session.id, { ...session, entries });
    const record = chain.append(draft, entries, atMs);
    if (draft.call !== null) recordsOf(draft.call, state).push(record);
    if (session !== undefined && session.workflow !== null) {
      const kept = state.recordsBySession.get(session.id) ?? [];
      state.recordsBySession.set(session.id, [...kept, record]);
    }
    return record;
  });
}

export function recordsOf(call: CallId | string, state: MemoryState): MemoryRecord[] {
  const known = state.recordsByCall.get(call);
  if (known !== undefined) return known;
  const records: MemoryRecord[] = [];
  state.recordsByCall.set(call, records);
  return records;
}

function writeCall(
  transition: Transition,
  records: readonly MemoryRecord[],
  seq: number | null,
  state: MemoryState,
): void {
  const { call: change, atMs, token } = transition;
  if (change === null) return;
  if (change.kind === 'mark') return writeMark(change, atMs, records.at(-1) ?? null, state);
  const claim = claimOf(transition);
  if (claim !== null) {
    const { tenant, agent, key, fingerprint, callId, keepMs } = claim;
    state.keys.set(nameOf(tenant, agent, key), { fingerprint, callId, expiresAtAge: state.age() + keepMs });
  }
  const { id } = change.call;
  const before = state.calls.get(id);
  const reply = payloadIn(records, 'reply');
  const last = records.at(-1);
  const row: CallRow = {
    call: {
      ...change.call,
      ...(before === undefined || before.call.state === 'AWAITING_APPROVAL' ? {} : handsOf(before.call)),
      state: change.path.at(-1) as StoredCall['state'],
      seq: seq ?? before?.call.seq ?? 0,
      updatedAtMs: atMs,
      requesterLeftAtMs: before?.call.state === 'AWAITING_APPROVAL' ? null : (before?.call.requesterLeftAtMs ?? null),
      replyAt:
        reply === null || last === undefined ? (before?.call.replyAt ?? null) : { epoch: last.epoch, seq: last.seq },
      repeats: before?.call.repeats ?? 0,
      ...stopOf(before),
    },
    args: payloadIn(records, 'args') ?? before?.args ?? null,
    reply: reply ?? before?.reply ?? null,
    counted: before?.counted ?? 0,
    leftAtAge: before?.leftAtAge ?? 0,
    token,
    movedAt: state.tokens.size,
  };
  state.calls.set(id, row);
  if (unfinishedStates.has(row.call.state)) state.unfinished.add(id);
  else state.unfinished.delete(id);
}

const stopOf = (row: CallRow | undefined) => (row?.call.stopAsked === true ? ({ stopAsked: true } as const) : {});

/** Only a call that waited for an approval changes hands. */
const handsOf = ({ session, turn, key, fingerprint }: StoredCall) => ({ session, turn, key, fingerprint });

function writeMark(
  { id, requester, repeats, due, stop }: Extract<CallChange, { kind: 'mark' }>,
  atMs: number,
  last: MemoryRecord | null,
  state: MemoryState,
): void {
  const row = state.calls.get(id);
  if (row === undefined) throw new Error('bug: the call was examined');
  const { replyAt } = row.call;
  const returned = requester === 'returned' && replyAt !== null && last !== null;
  if (requester === 'left' && replyAt !== null) state.answered.delete(placeName(replyAt));
  state.calls.set(id, {
    ...row,
    call: {
      ...row.call,
      repeats: row.call.repeats + repeats,
      requesterLeftAtMs: requester === null ? row.call.requesterLeftAtMs : requester === 'left' ? atMs : null,
      ...(stop === true ? { stopAsked: true } : {}),
      ...(due === undefined ? {} : { dueAtMs: due.atMs, updatedAtMs: atMs }),
      replyAt: returned ? { epoch: last.epoch, seq: last.seq } : replyAt,
    },
    leftAtAge: requester === 'left' ? state.age() : row.leftAtAge,
  });
}

function countRepeats(id: string, state: MemoryState): void {
  const row = state.calls.get(id);
  if (row !== undefined) state.calls.set(id, { ...row, counted: row.call.repeats });
}

function payloadIn(records: readonly MemoryRecord[], part: string): PayloadPlace | null {
  for (const record of records) {
    const index = record.parts.indexOf(part);
    if (index >= 0) return { record, index };
  }
  return null;
}
