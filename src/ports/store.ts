/**
 * The store, as the shell sees it. `commit` is the only way to change anything. Each transition carries its
 * preconditions, succeeds or fails on its own, and is durable when the promise resolves. test/conformance/store.ts
 * tests every store.
 */
import type { Approval } from '../core/approval/approval.ts';
import type { Call, CallId, IncarnationId, SessionId } from '../core/call/call.ts';
import type { DecisionKind, Position, RecordDraft } from '../core/journal/record.ts';
import type { StoredRecord } from '../core/journal/verify.ts';
import type { Ticket } from '../core/recovery/ticket.ts';
import type { Reversal, Rollback } from '../core/reversal/reversal.ts';
import type { CallState } from '../core/taxonomy.ts';
import type { AccountReader, AccountWrite, Reservation, Settlement, TokenTake } from './store-accounts.ts';
import type { ApprovalReader, ApprovalWrite, StoredTask, TaskChange } from './store-approvals.ts';
import type { ReversalReader, ReversalWrite, RollbackWrite } from './store-reversals.ts';
import type { TicketReader, TicketWrite } from './store-tickets.ts';
import type { StoreFault, StoreTrouble } from './store-trouble.ts';
import type { FenceWrite, SnapshotDraft, WorkflowChange, WorkflowSession } from './store-workflows.ts';

export type { AccountWrite, Reservation, Settlement, StoredAccount, TokenTake } from './store-accounts.ts';
export type { ApprovalFilter, ApprovalWrite, StoredTask, TaskChange } from './store-approvals.ts';
export type { ReversalOrder, ReversalWrite, RollbackWrite } from './store-reversals.ts';
export type { EqualCall, TicketFilter, TicketWrite } from './store-tickets.ts';
export type { StoreFault, StoreTrouble } from './store-trouble.ts';
export type { FenceWrite, SnapshotDraft, WorkflowChange, WorkflowSession } from './store-workflows.ts';

/** Moves a call along the states in `path`. After AWAITING_APPROVAL it takes session, turn and key of the new asker. */
export type CallChange =
  | { readonly kind: 'insert'; readonly call: Call; readonly path: readonly CallState[] }
  | {
      readonly kind: 'update';
      readonly call: Call;
      readonly path: readonly CallState[];
      readonly expect: {
        readonly state: CallState;
        readonly attempt: number;
        readonly owner: IncarnationId | null;
        readonly dueAtMs: number | null;
      };
    }
  /** Keeps the state: requester gone or replaced (conflict if nobody left), equal refusal, stop (only if dispatched). */
  | {
      readonly kind: 'mark';
      readonly id: CallId;
      readonly requester: 'left' | 'returned' | null;
      readonly repeats: number;
      /** When someone must look at a call in doubt again. A conflict unless it is in doubt and due as expected. */
      readonly due?: { readonly expectAtMs: number | null; readonly atMs: number | null };
      readonly stop?: boolean;
    };

export interface KeyClaim {
  readonly tenant: string;
  readonly agent: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly callId: CallId;
  /** The minimum time that it is kept, by the store's age: the time that it was open. */
  readonly keepMs: number;
}

export type SessionChange =
  | {
      readonly kind: 'open';
      readonly session: Session;
      readonly snapshot: SnapshotDraft | null;
      /** Calls in doubt of the session that this one is a fork of. */
      readonly fences: readonly { readonly call: CallId; readonly operation: string }[];
    }
  /** Number the records; `advance` moves the session's sequence on, which only a success does. */
  | {
      readonly kind: 'step';
      readonly id: SessionId;
      readonly advance: boolean;
      readonly expectSeq: number | null;
      readonly expectOpen: boolean;
      readonly workflow: WorkflowChange | null;
      /** Outside workflows: an operation of the session is in doubt, or is not any more. */
      readonly fence?: FenceWrite;
      /** Outside workflows: no new call of this turn is taken. */
      readonly endsTurn?: string;
    }
  | { readonly kind: 'cancel'; readonly id: SessionId }
  /**
   * The agent says that it is done: the session is closed for good. A conflict unless it is open, nobody has its turn,
   * and it has exactly `expectEntries` records: whatever was read after they were counted is still all there is.
   */
  | { readonly kind: 'complete'; readonly id: SessionId; readonly expectEntries: number }
  | { readonly kind: 'cancel_turn'; readonly id: SessionId; readonly turn: string };

export interface Blob {
  /** SHA-256 of the text, in hex: the same content is kept once. */
  readonly hash: string;
  readonly text: string;
}

export interface Transition {
  /**
   * Identifies this intention: committing the same token twice commits it once. A call that has moved on since is a
   * conflict: who claimed it and did not hear so must not send any more.
   */
  readonly token: string;
  readonly atMs: number;
  readonly call: CallChange | null;
  /** With a call: a conflict if the requester of an equal keyless call of its session left less than this ago. */
  readonly nobodyLeftWithinMs: number | null;
  readonly key: KeyClaim | null;
  readonly session: SessionChange | null;
  readonly reserve: readonly Reservation[];
  readonly settle: readonly Settlement[];
  readonly tokens: readonly TokenTake[];
  readonly accounts: readonly AccountWrite[];
  readonly approvals: readonly ApprovalWrite[];
  readonly tickets: readonly TicketWrite[];
  readonly reversals: readonly ReversalWrite[];
  readonly rollbacks: readonly RollbackWrite[];
  readonly task: TaskChange | null;
  readonly blobs: readonly Blob[];
  /** `session_resumed` if any, one per state on the path, then others. Payloads `args` and `reply` are the call's. */
  readonly records: readonly RecordDraft[];
}

export type CommitResult =
  | {
      readonly kind: 'committed';
      /** The session's sequence after this transition; 0 without a session. */
      readonly seq: number;
      /** The position of the last record; null if there was none. */
      readonly position: Position | null;
    }
  | { readonly kind: 'conflict'; readonly on: 'call'; readonly found: StoredCall | null }
  | { readonly kind: 'conflict'; readonly on: 'key'; readonly callId: CallId; readonly fingerprint: string }
  | { readonly kind: 'conflict'; readonly on: 'place'; readonly found: StoredCall }
  | { readonly kind: 'conflict'; readonly on: 'session'; readonly found: Session | null }
  | { readonly kind: 'conflict'; readonly on: 'reserve' | 'account'; readonly account: string }
  | { readonly kind: 'conflict'; readonly on: 'rate'; readonly bucket: string }
  /** `found`: the conflicting approval; null if there is none, or there are too many. */
  | { readonly kind: 'conflict'; readonly on: 'approval'; readonly found: Approval | null }
  /** `found`: the ticket that is not open; null if there is none. */
  | { readonly kind: 'conflict'; readonly on: 'ticket'; readonly found: Ticket | null }
  /** `found`: as it stands; null if there is none. */
  | { readonly kind: 'conflict'; readonly on: 'reversal'; readonly found: Reversal | null }
  | { readonly kind: 'conflict'; readonly on: 'rollback'; readonly found: Rollback | null }
  | { readonly kind: 'conflict'; readonly on: 'task'; readonly found: StoredTask | null }
  | { readonly kind: 'conflict'; readonly on: 'illegal'; readonly problem: string }
  /** Not acknowledged. The same transition may be committed again, whatever happened to this try. */
  | { readonly kind: 'unavailable'; readonly fault: StoreFault; readonly message: string };

export interface Session {
  readonly id: SessionId;
  readonly tenant: string;
  readonly agent: string;
  /** The agent's own session for calls that name none: at most one that is open for each agent. */
  readonly standing: boolean;
  /** `stopped` waits for a reset; `closed` was ended by its time to live or by the limit of sessions. */
  readonly state: 'open' | 'cancelled' | 'stopped' | 'closed';
  /** The number of successes, with a workflow of state changes; `expected_seq` is compared with it. */
  readonly seq: number;
  /** How many records it has. */
  readonly entries: number;
  readonly openedAtMs: number;
  readonly usedAtMs: number;
  readonly workflow: WorkflowSession | null;
}

/** A step in doubt, or one that was settled as a success and not adopted yet. */
export interface Fence {
  readonly operation: string;
  readonly call: StoredCall;
}

export interface SessionFilter {
  readonly tenant?: string;
  readonly agent?: string;
  readonly workflow?: string;
  readonly state?: Session['state'];
  readonly limit: number;
}

export interface StoredCall extends Call {
  readonly state: CallState;
  readonly seq: number;
  readonly updatedAtMs: number;
  readonly requesterLeftAtMs: number | null;
  /** The position of the record of its reply, or of a later attach; null without a reply. */
  readonly replyAt: Position | null;
  /** How often the same refusal was given again. */
  readonly repeats: number;
  readonly stopAsked?: true;
}

export type StoredText =
  | { readonly kind: 'none' }
  | { readonly kind: 'erased' }
  /** It does not match the commitment of its record: the file was changed. */
  | { readonly kind: 'altered' }
  | { readonly kind: 'text'; readonly text: string };

export interface CallFilter {
  readonly tenant?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly state?: CallState;
  readonly tool?: string;
  /** Only calls older than this one: newest first, page by page. */
  readonly before?: string;
  readonly limit: number;
}

/** A record for display. */
export interface JournalEntry extends Position {
  readonly kind: string;
  readonly timeMs: number;
  readonly sessionSeq: number;
  readonly call: string | null;
  /** The session; null if there is none. */
  readonly session: string | null;
  readonly hash: string;
  readonly body: string;
  readonly payloads: readonly { readonly part: string; readonly text: string | null }[];
}

/** The record of a decision with its call, without payloads. */
export interface StoredDecision extends Position {
  readonly kind: DecisionKind;
  readonly timeMs: number;
  readonly call: CallId;
  readonly tenant: string;
  readonly agent: string;
  readonly tool: string;
  /** How often the refusal of the call was given again, until now. */
  readonly repeats: number;
  readonly body: string;
}

/** Point reads, which never wait for a commit. */
export interface StoreReader extends ApprovalReader, TicketReader, ReversalReader, AccountReader {
  call(id: CallId): Promise<StoredCall | null>;
  args(id: CallId): Promise<StoredText>;
  reply(id: CallId): Promise<StoredText>;
  /** INVARIANT: forgotten by the store's age alone, never by a clock. */
  key(tenant: string, agent: string, key: string): Promise<{ callId: CallId; fingerprint: string } | null>;
  session(id: SessionId): Promise<Session | null>;
  standingSession(tenant: string, agent: string): Promise<Session | null>;
  turnCancelled(id: SessionId, turn: string): Promise<boolean>;
  /** The workflow's state after the step that gave the session this sequence; null if it is not kept. */
  snapshot(id: SessionId, seq: number): Promise<string | null>;
  /** The first sequence from `from` on whose state is kept; null if there is none. */
  firstSnapshot(id: SessionId, from: number): Promise<number | null>;
  /** Fences whose call is in doubt or has succeeded since, the oldest first. */
  fences(id: SessionId): Promise<readonly Fence[]>;
  /** Workflow sessions with one of these manifests, a due timer and a free turn, the longest overdue first. */
  dueSessions(nowMs: number, manifests: readonly string[], limit: number): Promise<readonly Session[]>;
  /** Workflow sessions, the last used first. */
  listSessions(filter: SessionFilter): Promise<readonly Session[]>;
  /** Open or stopped workflow sessions without a running step or a timer, unused since then, longest first. */
  idleSessions(usedBeforeMs: number, limit: number): Promise<readonly Session[]>;
  /** How many workflow sessions are open or stopped. */
  countSessions(): Promise<number>;
  /** Records of a workflow session in order, those after entry number `after`. */
  sessionEntries(id: SessionId, after: number, limit: number): Promise<readonly JournalEntry[]>;
  /** Eight hex digits, created with the store; handles of sessions contain them. */
  identity(): Promise<string>;
  /** The newest equal call without a key whose requester left less than `withinMs` ago, by the store's age. */
  abandoned(session: SessionId, fingerprint: string, withinMs: number): Promise<StoredCall | null>;
  /** Calls that are due, the longest overdue first. */
  due(nowMs: number, limit: number): Promise<readonly StoredCall[]>;
  /** Calls that are not finished and not in doubt, whatever their due time; `after` is the last id seen. */
  unfinished(after: string, limit: number): Promise<readonly StoredCall[]>;
  /** Calls whose reply may not have arrived: of earlier openings, or of an incarnation whose link has ended. */
  unanswered(limit: number, of?: IncarnationId): Promise<readonly StoredCall[]>;
  /** Refused calls with repeats that no record counts yet. */
  uncounted(limit: number): Promise<readonly StoredCall[]>;
  blob(hash: string): Promise<string | null>;
  listCalls(filter: CallFilter): Promise<readonly StoredCall[]>;
  recordsOf(id: CallId): Promise<readonly JournalEntry[]>;
  /** Decisions before a position, the newest first; from the newest on if null. */
  decisions(before: Position | null, limit: number): Promise<readonly StoredDecision[]>;
  /** Records in order, with stored bytes, for verification: those after a position, from the first if null. */
  journal(after: Position | null, limit: number): Promise<readonly StoredRecord[]>;
  /** How many times the journal was opened for writing: each has its records. */
  epochs(): Promise<number>;
  /** The newest records, oldest of them first; or those after a position, for following. */
  entries(after: Position | null, limit: number): Promise<readonly JournalEntry[]>;
}

export interface Store extends StoreReader {
  /** New at each opening; ownership of attempts is compared by it, never by time. */
  readonly incarnation: IncarnationId;
  /** The highest time in the journal at opening: time never goes back before it. */
  readonly highestTimeMs: number;
  commit(transitions: readonly Transition[]): Promise<readonly CommitResult[]>;
  /** Why a commit would fail now, as far as that is visible without one; null if no problem is known. */
  trouble(): Promise<StoreTrouble | null>;
  /** The reply recorded at this position has reached its requester; written with some later commit. */
  answered(position: Position): void;
  /** Deletes the payloads of a call and their salts; the commitments stay, and an `erased` record says why. */
  erase(id: CallId, reason: string, atMs: number): Promise<CommitResult>;
  close(): Promise<void>;
}
