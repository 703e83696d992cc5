/** What do transitions look like in the tests of stores? Small makers; what a test does not say is ordinary. */
import assert from 'node:assert/strict';

import type { Call, CallId, IncarnationId, SessionId } from '../../src/core/call/call.ts';
import type { RecordDraft, RecordKind } from '../../src/core/journal/record.ts';
import { createVerifier, type VerifyReport } from '../../src/core/journal/verify.ts';
import { type CallState, callStates, legalTransitions } from '../../src/core/taxonomy.ts';
import type {
  CallChange,
  CommitResult,
  Session,
  Store,
  StoredCall,
  StoreReader,
  Transition,
} from '../../src/ports/store.ts';
import { nodeHashing } from '../../src/adapters/store-sqlite/node-hashing.ts';
import { nothingYet } from '../../src/shell/ending/transition.ts';

/** Where a store lives: opened, closed, killed and opened again, always with the same data. */
export interface StoreHome {
  open(): Promise<Store>;
  /** Ends the open store as a crash would: what was acknowledged stays, the epoch is not closed. */
  crash(): Promise<void>;
  /** Lets the open store grow older, by less than a minute. */
  passes(ms: number): void;
  /** Closes whatever is open and removes the data. */
  remove(): Promise<void>;
}

export const allStates = Object.keys(callStates) as CallState[];
export const owner = 'inc_owner' as IncarnationId;
export const startMs = 1_700_000_000_000;

let made = 0;
/** Ordered by the time of their making, as real ids are. */
export const nextId = (prefix: string): string => `${prefix}_${String(++made).padStart(12, '0')}`;

const kindOf: Readonly<Record<CallState, RecordKind>> = {
  DENIED: 'refused',
  AWAITING_APPROVAL: 'held',
  REJECTED: 'refused',
  EXPIRED: 'expired',
  CANCELLED: 'cancelled',
  PREPARED: 'prepared',
  DISPATCHED: 'dispatched',
  RETRY_WAIT: 'retry_planned',
  SUCCEEDED: 'settled',
  FAILED: 'settled',
  IN_DOUBT: 'doubted',
  CLOSED_UNKNOWN: 'settled',
};

export function aCall(over: Partial<Call> = {}): Call {
  return {
    id: nextId('call') as CallId,
    tenant: 'acme',
    agent: 'clerk',
    session: null,
    turn: null,
    tool: 'refund',
    key: null,
    fingerprint: 'f1',
    effectClass: 'plain',
    state: 'PREPARED',
    attempt: 0,
    owner: null,
    tainted: false,
    createdAtMs: startMs,
    deadlineAtMs: startMs + 60_000,
    dueAtMs: startMs + 60_000,
    ...over,
  };
}

export function aRecord(over: Partial<RecordDraft> = {}): RecordDraft {
  return { kind: 'prepared', call: null, session: null, body: '{}', payloads: [], ...over };
}

export function aTransition(over: Partial<Transition> = {}): Transition {
  return { token: nextId('token'), atMs: startMs, ...nothingYet, ...over };
}

const recordsOfPath = (call: Call, path: readonly CallState[], payloads: RecordDraft['payloads']): RecordDraft[] =>
  path.map((state, index) =>
    aRecord({
      kind: kindOf[state],
      call: call.id,
      session: call.session,
      body: JSON.stringify({ state }),
      payloads: index === path.length - 1 ? payloads : [],
    }),
  );

export interface Extra extends Partial<Transition> {
  readonly payloads?: RecordDraft['payloads'];
}

export function inserting(call: Call, path: readonly CallState[] = [call.state as CallState], extra: Extra = {}) {
  const { payloads = [], ...over } = extra;
  const change: CallChange = { kind: 'insert', call, path };
  return aTransition({ call: change, records: recordsOfPath(call, path, payloads), ...over });
}

export function updating(before: Call, after: Partial<Call> & { state: CallState }, extra: Extra = {}): Transition {
  const { payloads = [], ...over } = extra;
  const call = { ...before, ...after };
  const { attempt, dueAtMs } = before;
  const expect = { state: before.state as CallState, attempt, owner: before.owner, dueAtMs };
  const change: CallChange = { kind: 'update', call, path: [after.state], expect };
  return aTransition({ call: change, records: recordsOfPath(call, [after.state], payloads), ...over });
}

export function marking(
  id: CallId,
  requester: 'left' | 'returned' | null,
  repeats = 0,
  over: Partial<Transition> = {},
) {
  return aTransition({ call: { kind: 'mark', id, requester, repeats }, ...over });
}

export const replyOf = (text = '{"ok":true}') => [{ part: 'reply', text }];

export function aSession(over: Partial<Session> = {}): Session {
  const id = nextId('ses') as SessionId;
  return {
    id,
    tenant: 'acme',
    agent: 'clerk',
    standing: false,
    state: 'open',
    seq: 0,
    entries: 0,
    openedAtMs: startMs,
    usedAtMs: startMs,
    workflow: null,
    ...over,
  };
}

export const opening = (session: Session, over: Partial<Transition> = {}): Transition =>
  aTransition({
    session: { kind: 'open', session, snapshot: null, fences: [] },
    records: [aRecord({ kind: 'session_opened', session: session.id })],
    ...over,
  });

export function stepping(id: SessionId, over: { advance?: boolean; expectSeq?: number; expectOpen?: boolean } = {}) {
  const { advance = false, expectSeq = null, expectOpen = true } = over;
  return { kind: 'step', id, advance, expectSeq, expectOpen, workflow: null } as const;
}

export async function commitOne(store: Store, transition: Transition): Promise<CommitResult> {
  const [result] = await store.commit([transition]);
  assert.ok(result !== undefined);
  return result;
}

export type Committed = Extract<CommitResult, { kind: 'committed' }>;

export async function mustCommit(store: Store, transition: Transition): Promise<Committed> {
  const result = await commitOne(store, transition);
  assert.equal(result.kind, 'committed', JSON.stringify(result));
  return result as Committed;
}

/** What a conflict was on, or the kind of any other result. */
export const verdictOf = (result: CommitResult): string => (result.kind === 'conflict' ? result.on : result.kind);

/** The shortest legal way from nothing to a state. */
export function pathTo(state: CallState): readonly CallState[] {
  const ways: (readonly CallState[])[] = legalTransitions['(none)'].map((first) => [first]);
  for (const way of ways) {
    const last = way.at(-1) as CallState;
    if (last === state) return way;
    for (const next of legalTransitions[last]) if (!way.includes(next)) ways.push([...way, next]);
  }
  throw new Error(`no way leads to ${state}`);
}

export async function stored(reader: StoreReader, id: CallId): Promise<StoredCall> {
  const call = await reader.call(id);
  assert.ok(call !== null, `${id} is not stored`);
  return call;
}

export async function verifyAll(reader: StoreReader): Promise<VerifyReport> {
  const verifier = createVerifier(nodeHashing);
  let after = null;
  for (;;) {
    const records = await reader.journal(after, 500);
    for (const record of records) verifier.add(record);
    const last = records.at(-1);
    if (last === undefined) return verifier.report();
    after = { epoch: last.epoch, seq: last.seq };
  }
}
