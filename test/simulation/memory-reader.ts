/** Point reads of a memory store, each at the moment it is asked. */
import { decisionKinds, type Position } from '../../src/core/journal/record.ts';
import type {
  CallFilter,
  Fence,
  JournalEntry,
  Session,
  SessionFilter,
  StoredCall,
  StoredDecision,
  StoredText,
} from '../../src/ports/store.ts';
import { approvalReads } from './memory-approvals.ts';
import { hashing, type MemoryRecord } from './memory-journal.ts';
import { quotaReads } from './limits/memory-quotas.ts';
import { standingOf } from './memory-workflows.ts';
import { type CallRow, leftCalls, type MemoryState, nameOf, type PayloadPlace, placeName } from './memory-state.ts';
import { reversalReads } from './reversal/memory-reversals.ts';
import { ticketReads } from './recovery/memory-tickets.ts';

/** What the port promises, without the promises: the simulated store decides when an answer arrives. */
export type MemoryReader = ReturnType<typeof createMemoryReader>;

export function createMemoryReader(state: MemoryState, epoch: number) {
  const callsWhere = (wanted: (row: CallRow) => boolean, limit: number): StoredCall[] => {
    const found: StoredCall[] = [];
    for (const row of state.calls.values()) if (wanted(row)) found.push(row.call);
    return found.sort(byId).slice(0, limit);
  };
  return {
    call: (id: string) => state.calls.get(id)?.call ?? null,
    args: (id: string) => textAt(state.calls.get(id)?.args ?? null),
    reply: (id: string) => textAt(state.calls.get(id)?.reply ?? null),
    key(tenant: string, agent: string, key: string) {
      const row = state.keys.get(nameOf(tenant, agent, key));
      return row === undefined || row.expiresAtAge <= state.age()
        ? null
        : { callId: row.callId, fingerprint: row.fingerprint };
    },
    session: (id: string) => state.sessions.get(id) ?? null,
    standingSession: (tenant: string, agent: string) => standingOf(tenant, agent, state),
    ...sessionReads(state),
    turnCancelled: (id: string, turn: string) => state.turns.has(nameOf(id, turn)),
    abandoned: (session: string, fingerprint: string, withinMs: number) =>
      leftCalls({ session, fingerprint }, withinMs, state).sort(byId).at(-1) ?? null,
    due(nowMs: number, limit: number): readonly StoredCall[] {
      const due: StoredCall[] = [];
      for (const { call } of state.calls.values()) if (call.dueAtMs !== null && call.dueAtMs <= nowMs) due.push(call);
      return due.sort((a, b) => (a.dueAtMs ?? 0) - (b.dueAtMs ?? 0) || byId(a, b)).slice(0, limit);
    },
    unfinished: (after: string, limit: number): readonly StoredCall[] =>
      [...unfinishedRows(state)]
        .map(({ call }) => call)
        .filter(({ id }) => id > after)
        .sort(byId)
        .slice(0, limit),
    unanswered: (limit: number, of?: string): readonly StoredCall[] =>
      callsWhere(
        ({ call: { replyAt, requesterLeftAtMs } }) =>
          replyAt !== null &&
          (of === undefined ? replyAt.epoch < epoch : of.startsWith(`inc_${replyAt.epoch}_`)) &&
          requesterLeftAtMs === null &&
          !state.answered.has(placeName(replyAt)),
        limit,
      ),
    uncounted: (limit: number): readonly StoredCall[] =>
      callsWhere(({ call, counted }) => call.repeats > counted, limit),
    blob: (hash: string) => state.blobs.get(hash) ?? null,
    ...approvalReads(state),
    ...ticketReads(state),
    ...reversalReads(state),
    ...quotaReads(state),
    listCalls: (filter: CallFilter): readonly StoredCall[] =>
      callsWhere(({ call }) => fits(call, filter), Infinity)
        .reverse()
        .slice(0, filter.limit),
    recordsOf: (id: string): readonly JournalEntry[] => (state.recordsByCall.get(id) ?? []).map(entryOf),
    decisions: (before: Position | null, limit: number): readonly StoredDecision[] =>
      decisionsBefore(state, before).slice(0, limit),
    epochs: () => state.chains.length,
    journal: (after: Position | null, limit: number): readonly MemoryRecord[] =>
      recordsAfter(state, after).slice(0, limit),
    entries: (after: Position | null, limit: number): readonly JournalEntry[] =>
      (after === null ? recordsAfter(state, null).slice(-limit) : recordsAfter(state, after).slice(0, limit)).map(
        entryOf,
      ),
  };
}

function sessionReads(state: MemoryState) {
  const sessionsWhere = (wanted: (session: Session) => boolean) =>
    [...state.sessions.values()].filter((session) => session.workflow !== null && wanted(session));
  const isKept = ({ state: now }: Session) => now === 'open' || now === 'stopped';
  const byUse = (a: Session, b: Session) => a.usedAtMs - b.usedAtMs || (a.id < b.id ? -1 : 1);
  const byTimer = (a: Session, b: Session) =>
    (a.workflow?.timerAtMs ?? 0) - (b.workflow?.timerAtMs ?? 0) || (a.id < b.id ? -1 : 1);
  return {
    snapshot: (id: string, seq: number) => state.snapshots.get(nameOf(id, String(seq))) ?? null,
    firstSnapshot(id: string, from: number): number | null {
      const last = state.sessions.get(id)?.seq ?? -1;
      for (let seq = from; seq <= last; seq++) if (state.snapshots.has(nameOf(id, String(seq)))) return seq;
      return null;
    },
    fences(id: string): readonly Fence[] {
      const found = [...state.fences.values()].filter(({ session }) => session === id);
      return found
        .flatMap(({ call, operation }) => {
          const stored = state.calls.get(call)?.call;
          const counts = stored?.state === 'IN_DOUBT' || stored?.state === 'SUCCEEDED';
          return stored !== undefined && counts ? [{ operation, call: stored }] : [];
        })
        .sort((a, b) => byId(a.call, b.call));
    },
    dueSessions: (nowMs: number, manifests: readonly string[], limit: number): readonly Session[] =>
      sessionsWhere(
        ({ state: now, workflow }) =>
          now === 'open' &&
          workflow?.turn === null &&
          (workflow.timerAtMs ?? Infinity) <= nowMs &&
          manifests.includes(workflow.manifest),
      )
        .sort(byTimer)
        .slice(0, limit),
    listSessions: ({ limit, tenant, agent, workflow, state: wanted }: SessionFilter): readonly Session[] =>
      sessionsWhere(
        (session) =>
          (tenant === undefined || session.tenant === tenant) &&
          (agent === undefined || session.agent === agent) &&
          (workflow === undefined || session.workflow?.name === workflow) &&
          (wanted === undefined || session.state === wanted),
      )
        .sort((a, b) => byUse(b, a))
        .slice(0, limit),
    idleSessions: (usedBeforeMs: number, limit: number): readonly Session[] =>
      sessionsWhere(
        (session) =>
          isKept(session) &&
          session.usedAtMs < usedBeforeMs &&
          session.workflow?.turn === null &&
          session.workflow.timerAtMs === null,
      )
        .sort(byUse)
        .slice(0, limit),
    countSessions: () => sessionsWhere(isKept).length,
    sessionEntries: (id: string, after: number, limit: number): readonly JournalEntry[] =>
      (state.recordsBySession.get(id) ?? [])
        .filter(({ sessionSeq }) => sessionSeq > after)
        .slice(0, limit)
        .map(entryOf),
    identity: () => '5eed5eed',
  };
}

const byId = (a: StoredCall, b: StoredCall) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

function* unfinishedRows(state: MemoryState): Generator<CallRow> {
  for (const id of state.unfinished) yield state.calls.get(id) as CallRow;
}

function fits(call: StoredCall, { tenant, agent, session, state, tool, before }: CallFilter): boolean {
  if (tenant !== undefined && call.tenant !== tenant) return false;
  if (agent !== undefined && call.agent !== agent) return false;
  if (session !== undefined && call.session !== session) return false;
  if (state !== undefined && call.state !== state) return false;
  if (tool !== undefined && call.tool !== tool) return false;
  return before === undefined || call.id < before;
}

function textAt(place: PayloadPlace | null): StoredText {
  if (place === null) return { kind: 'none' };
  const payload = place.record.payloads[place.index] ?? null;
  return payload === null ? { kind: 'erased' } : { kind: 'text', text: hashing.text(payload.bytes) };
}

function recordsAfter(state: MemoryState, after: Position | null): MemoryRecord[] {
  const records = state.chains.flatMap((chain) => chain.records);
  if (after === null) return records;
  return records.filter(({ epoch, seq }) => epoch > after.epoch || (epoch === after.epoch && seq > after.seq));
}

function decisionsBefore(state: MemoryState, before: Position | null): readonly StoredDecision[] {
  const records = state.chains.flatMap((chain) => chain.records).reverse();
  return records.flatMap(({ epoch, seq, kind, timeMs, body, call: id }): readonly StoredDecision[] => {
    const isLater = before !== null && (epoch > before.epoch || (epoch === before.epoch && seq >= before.seq));
    const known = decisionKinds.find((each) => each === kind);
    const call = id === null ? undefined : state.calls.get(id)?.call;
    if (isLater || known === undefined || call === undefined) return [];
    const { tenant, agent, tool, repeats } = call;
    return [{ epoch, seq, kind: known, timeMs, call: call.id, tenant, agent, tool, repeats, body }];
  });
}

function entryOf(record: MemoryRecord): JournalEntry {
  const { epoch, seq, kind, timeMs, sessionSeq, call, session, body } = record;
  const payloads = record.parts.map((part, index) => {
    const payload = record.payloads[index] ?? null;
    return { part, text: payload === null ? null : hashing.text(payload.bytes) };
  });
  const hash = Buffer.from(record.hash).toString('hex');
  return { epoch, seq, kind, timeMs, sessionSeq, call, session, body, hash, payloads };
}
