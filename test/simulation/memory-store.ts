/**
 * The store port in memory, with the exact meaning of its comments: a reference for the real stores and the ground of
 * the simulation. Every opening is a new incarnation with a chain of its own on the shared state.
 */
import { canonicalText } from '../../src/core/values/canonical.ts';
import type { CallId, IncarnationId } from '../../src/core/call/call.ts';
import type { Position } from '../../src/core/journal/record.ts';
import type { CommitResult, Store, Transition } from '../../src/ports/store.ts';
import { eraseEdits } from './memory-approvals.ts';
import { eraseAnswers } from './recovery/memory-tickets.ts';
import { applyTransition, recordsOf } from './memory-apply.ts';
import { highestTime, openChain } from './memory-journal.ts';
import { createMemoryReader, type MemoryReader } from './memory-reader.ts';
import { type MemoryState, placeName } from './memory-state.ts';

/** One opening, without promises: what happens, when the caller says so. */
export interface Incarnation {
  readonly id: IncarnationId;
  readonly highestTimeMs: number;
  readonly read: MemoryReader;
  commit(transitions: readonly Transition[]): readonly CommitResult[];
  answered(position: Position): void;
  erase(id: CallId, reason: string, atMs: number): CommitResult;
  close(): void;
}

const closedResult: CommitResult = { kind: 'unavailable', fault: 'closed', message: 'the store is closed' };

export function openIncarnation(state: MemoryState, nowMs: number): Incarnation {
  const highestTimeMs = highestTime(state.chains);
  const chain = openChain(state.chains, state.random, nowMs);
  const id = `inc_${chain.epoch}_${state.random.text(10)}` as IncarnationId;
  const delivered: Position[] = [];
  let closed = false;
  // INVARIANT: that a reply was delivered is durable only with a later commit.
  const writeDelivered = () => {
    for (const position of delivered.splice(0)) state.answered.add(placeName(position));
  };
  return {
    id,
    highestTimeMs,
    read: createMemoryReader(state, chain.epoch),
    commit(transitions) {
      if (closed) return transitions.map(() => closedResult);
      writeDelivered();
      return transitions.map((transition) => applyTransition(transition, state, chain, id));
    },
    answered(position) {
      delivered.push(position);
    },
    erase(callId, reason, atMs) {
      if (closed) return closedResult;
      const call = state.calls.get(callId)?.call;
      if (call === undefined) return { kind: 'conflict', on: 'call', found: null };
      const records = recordsOf(callId, state);
      const payloads = records.flatMap(({ epoch, seq, parts, payloads: kept }) =>
        parts.flatMap((part, index) => (kept[index] === null ? [] : [{ epoch, part, seq }])),
      );
      const edited = eraseEdits(callId, state);
      const tickets = eraseAnswers(callId, state);
      if (payloads.length + edited.length + tickets.length === 0)
        return { kind: 'committed', seq: call.seq, position: null };
      for (const { payloads: kept } of records) kept.fill(null);
      const session = call.session === null ? undefined : state.sessions.get(call.session);
      if (session !== undefined) state.sessions.set(session.id, { ...session, entries: session.entries + 1 });
      const draft = {
        kind: 'erased',
        call: callId,
        session: call.session,
        body: canonicalText({
          payloads,
          reason,
          ...(edited.length === 0 ? {} : { approvals: edited }),
          ...(tickets.length === 0 ? {} : { tickets }),
        }),
        payloads: [],
      } as const;
      const record = chain.append(draft, session === undefined ? 0 : session.entries + 1, atMs);
      records.push(record);
      return { kind: 'committed', seq: call.seq, position: { epoch: record.epoch, seq: record.seq } };
    },
    close() {
      if (closed) return;
      writeDelivered();
      chain.append({ kind: 'epoch_close', call: null, session: null, body: '{}', payloads: [] }, 0, 0);
      closed = true;
    },
  };
}

/** The port as the shell knows it, answering at once. */
export function openMemoryStore(state: MemoryState, nowMs: number): Store {
  const { id, highestTimeMs, read, commit, answered, erase, close } = openIncarnation(state, nowMs);
  return {
    ...promised(read),
    incarnation: id,
    highestTimeMs,
    answered,
    trouble: async () => null,
    commit: async (list) => commit(list),
    erase: async (...about) => erase(...about),
    close: async () => close(),
  };
}

type Promised<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (...given: infer Given) => infer Result
    ? (...given: Given) => Promise<Result>
    : never;
};

function promised(read: MemoryReader): Promised<MemoryReader> {
  const entries = Object.entries(read).map(([name, ask]) => [
    name,
    async (...given: readonly unknown[]) => (ask as (...all: readonly unknown[]) => unknown)(...given),
  ]);
  return Object.fromEntries(entries) as Promised<MemoryReader>;
}
