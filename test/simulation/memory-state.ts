/**
 * What a memory store holds, shared by every incarnation that opens it, like many gateways on one database. Rows are
 * replaced, never changed, so what was read stays what it was.
 */
import type { Approval } from '../../src/core/approval/approval.ts';
import type { Call } from '../../src/core/call/call.ts';
import type { Ticket } from '../../src/core/recovery/ticket.ts';
import type { CallState } from '../../src/core/taxonomy.ts';
import type { Position } from '../../src/core/journal/record.ts';
import type {
  CommitResult,
  Session,
  StoredAccount,
  StoredCall,
  StoredTask,
  Transition,
} from '../../src/ports/store.ts';
import type { Chain, MemoryRecord } from './memory-journal.ts';
import type { Random } from './random.ts';
import { createReversalState, type ReversalState } from './reversal/reversal-state.ts';

/** A payload's place: the record that holds it, and which of its parts. */
export interface PayloadPlace {
  readonly record: MemoryRecord;
  readonly index: number;
}

export interface CallRow {
  readonly call: StoredCall;
  readonly args: PayloadPlace | null;
  readonly reply: PayloadPlace | null;
  readonly counted: number;
  /** How old the store was when its requester left. */
  readonly leftAtAge: number;
  /** Of the call's latest move. */
  readonly token: string;
  /** How many transitions had been applied when it moved last. */
  readonly movedAt: number;
}

export interface KeyRow {
  readonly fingerprint: string;
  readonly callId: StoredCall['id'];
  readonly expiresAtAge: number;
}

/** Hears of every transition that changed something, with the records it wrote; a repeated token changes nothing. */
export type ApplyListener = (transition: Transition, records: readonly MemoryRecord[], owner: string) => void;

export interface MemoryState {
  readonly chains: Chain[];
  readonly calls: Map<string, CallRow>;
  /** The calls that are not finished and not in doubt, which the sweepers walk over. */
  readonly unfinished: Set<string>;
  readonly keys: Map<string, KeyRow>;
  readonly sessions: Map<string, Session>;
  readonly turns: Set<string>;
  readonly snapshots: Map<string, string>;
  readonly fences: Map<string, { readonly session: string; readonly call: string; readonly operation: string }>;
  readonly accounts: Map<string, StoredAccount>;
  /** What each call holds. */
  readonly holds: Map<
    string,
    readonly { readonly tenant: string; readonly account: string; readonly amount: number }[]
  >;
  readonly buckets: Map<string, number>;
  /** Replaced whole with every write, as everything here. */
  approvals: Map<string, Approval>;
  tickets: Map<string, Ticket>;
  undoing: ReversalState;
  readonly tasks: Map<string, StoredTask>;
  readonly blobs: Map<string, string>;
  readonly tokens: Map<string, Extract<CommitResult, { kind: 'committed' }>>;
  readonly recordsByCall: Map<string, MemoryRecord[]>;
  /** Of sessions with a workflow alone. */
  readonly recordsBySession: Map<string, readonly MemoryRecord[]>;
  /** Places of replies that reached their requesters. */
  readonly answered: Set<string>;
  readonly random: Random;
  onApplied: ApplyListener;
  /** How old the store is: the time that it was open, which no clock of a process changes. */
  age: () => number;
}

export function createMemoryState(random: Random): MemoryState {
  return {
    chains: [],
    calls: new Map(),
    unfinished: new Set(),
    keys: new Map(),
    sessions: new Map(),
    turns: new Set(),
    snapshots: new Map(),
    fences: new Map(),
    accounts: new Map(),
    holds: new Map(),
    buckets: new Map(),
    approvals: new Map(),
    tickets: new Map(),
    undoing: createReversalState(),
    tasks: new Map(),
    blobs: new Map(),
    tokens: new Map(),
    recordsByCall: new Map(),
    recordsBySession: new Map(),
    answered: new Set(),
    random,
    onApplied: () => undefined,
    age: () => 0,
  };
}

export const nameOf = (...parts: readonly string[]): string => parts.map((part) => `${part.length}:${part}`).join('');

export const placeName = ({ epoch, seq }: Position): string => `${epoch}/${seq}`;

export const unfinishedStates: ReadonlySet<CallState | '(none)'> = new Set([
  'PREPARED',
  'DISPATCHED',
  'RETRY_WAIT',
  'AWAITING_APPROVAL',
] as const);

/**
 * A step without a key that begins past the sequence of an equal one: by the contract it is another, whoever means what
 * by it.
 */
export function isAnotherStep({ session, fingerprint, key, state: now, id }: Call, state: MemoryState): boolean {
  const walked = session === null ? undefined : state.sessions.get(session);
  if (walked === undefined || walked.workflow === null || key !== null || now !== 'DISPATCHED') return false;
  const isPassed = ({ call }: CallRow) =>
    call.session === session && call.fingerprint === fingerprint && call.state === 'SUCCEEDED' && call.seq < walked.seq;
  return [...state.calls.values()].some((row) => row.call.id !== id && isPassed(row));
}

interface Equal {
  readonly session: string | null;
  readonly fingerprint: string;
}

/** Equal calls of the session without a key whose requesters left within this time. */
export function leftCalls({ session, fingerprint }: Equal, withinMs: number, state: MemoryState): StoredCall[] {
  const isLeft = ({ call, leftAtAge }: CallRow) =>
    call.session === session &&
    call.fingerprint === fingerprint &&
    call.key === null &&
    call.requesterLeftAtMs !== null &&
    leftAtAge > state.age() - withinMs;
  return [...state.calls.values()].filter(isLeft).map(({ call }) => call);
}
