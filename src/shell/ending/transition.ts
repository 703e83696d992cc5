/** Builds transitions: the change of a call, with one record for each state that it passes. */
import type { Call } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Payload, RecordDraft, RecordKind } from '../../core/journal/record.ts';
import { advance, type CallEvent, type SideEffect } from '../../core/call/lifecycle.ts';
import type { CallState, Effect } from '../../core/taxonomy.ts';
import { invariant } from '../../core/values/unreachable.ts';
import type {
  AccountWrite,
  ApprovalWrite,
  Blob,
  CallChange,
  FenceWrite,
  KeyClaim,
  Reservation,
  ReversalWrite,
  RollbackWrite,
  SessionChange,
  Settlement,
  TaskChange,
  TicketWrite,
  TokenTake,
  Transition,
  WorkflowChange,
} from '../../ports/store.ts';
import type { Shell } from '../shell.ts';

/** What a commit carries beside the new state of its call. */
export interface CommitParts {
  readonly body?: Partial<Record<RecordKind, JsonObject>>;
  readonly payloads?: Partial<Record<RecordKind, readonly Payload[]>>;
  readonly key?: KeyClaim | null;
  readonly blobs?: readonly Blob[];
  readonly expectSeq?: number | null;
  readonly expectOpen?: boolean;
  /** Nobody has left an equal call within this time: otherwise decide again. */
  readonly nobodyLeftWithinMs?: number | null;
  /** What the step does to the workflow of its session. */
  readonly workflow?: WorkflowChange | null;
  /** What becomes of approvals in the same commit. */
  readonly approvals?: readonly ApprovalWrite[];
  readonly tickets?: readonly TicketWrite[];
  /** What becomes of the right to reverse a call, and of rollbacks. */
  readonly reversals?: readonly ReversalWrite[];
  readonly rollbacks?: readonly RollbackWrite[];
  /** What is held, given back, taken and changed of accounts and buckets. */
  readonly reserve?: readonly Reservation[];
  readonly settle?: readonly Settlement[];
  readonly tokens?: readonly TokenTake[];
  readonly accounts?: readonly AccountWrite[];
  /** Outside workflows: the operation of the call is in doubt, or is not any more. */
  readonly fence?: FenceWrite;
  /** Outside workflows: the turn whose last call this is. */
  readonly endsTurn?: string;
  /** Work that its success leaves to be reported. */
  readonly task?: TaskChange | null;
  /** That the session goes on here: before all others. */
  readonly resumption?: readonly RecordDraft[];
  /** Records that are not a change of state, after those that are. */
  readonly notes?: readonly RecordDraft[];
}

/** The same without what only a call that runs takes; its record does not say that it holds anything. */
export function untaken(parts: CommitParts): CommitParts {
  const { budgets: _, ...prepared } = parts.body?.prepared ?? {};
  return { ...parts, reserve: [], tokens: [], reversals: [], body: { ...parts.body, prepared } };
}

/** Several events in a row, as one step. */
export function advanceAll(call: Call, events: readonly CallEvent[]) {
  let next = call;
  const effects: SideEffect[] = [];
  for (const event of events) {
    const [moved, asked] = advance(next, event);
    next = moved;
    effects.push(...asked);
  }
  return { next, effects };
}

/** What is proven of a call that rests in this state. */
export function effectOf(state: CallState | '(none)'): Effect {
  if (state === 'SUCCEEDED') return 'applied';
  return state === 'IN_DOUBT' || state === 'CLOSED_UNKNOWN' || state === 'DISPATCHED' || state === 'RETRY_WAIT'
    ? 'unknown'
    : 'none';
}

/** One value each of what can be there once; lists one after the other. */
export function mergeParts(all: readonly CommitParts[]): CommitParts {
  const lists = {
    blobs: [] as Blob[],
    approvals: [] as ApprovalWrite[],
    tickets: [] as TicketWrite[],
    reversals: [] as ReversalWrite[],
    rollbacks: [] as RollbackWrite[],
    reserve: [] as Reservation[],
    settle: [] as Settlement[],
    tokens: [] as TokenTake[],
    accounts: [] as AccountWrite[],
    resumption: [] as RecordDraft[],
    notes: [] as RecordDraft[],
  };
  const body: ByKind<JsonObject> = {};
  const payloads: ByKind<readonly Payload[]> = {};
  let single: CommitParts = {};
  for (const part of all) {
    single = { ...single, ...part };
    mergeInto(body, part.body, (one, other) => ({ ...one, ...other }));
    mergeInto(payloads, part.payloads, (one, other) => [...one, ...other]);
    lists.blobs.push(...(part.blobs ?? []));
    lists.approvals.push(...(part.approvals ?? []));
    lists.tickets.push(...(part.tickets ?? []));
    lists.reversals.push(...(part.reversals ?? []));
    lists.rollbacks.push(...(part.rollbacks ?? []));
    lists.reserve.push(...(part.reserve ?? []));
    lists.settle.push(...(part.settle ?? []));
    lists.tokens.push(...(part.tokens ?? []));
    lists.accounts.push(...(part.accounts ?? []));
    lists.resumption.push(...(part.resumption ?? []));
    lists.notes.push(...(part.notes ?? []));
  }
  return { ...single, ...lists, body, payloads };
}

type ByKind<Value> = Partial<Record<RecordKind, Value>>;

function mergeInto<Value>(
  merged: ByKind<Value>,
  more: ByKind<Value> = {},
  join: (one: Value, other: Value) => Value,
): void {
  for (const kind of Object.keys(more) as RecordKind[]) {
    const [known, value] = [merged[kind], more[kind]];
    if (value !== undefined) merged[kind] = known === undefined ? value : join(known, value);
  }
}

export function toTransition(
  from: Call,
  next: Call,
  effects: readonly SideEffect[],
  parts: CommitParts,
  shell: Shell,
): Transition {
  const hops = effects.filter((effect) => effect.kind === 'record');
  const path = hops.map((hop) => hop.state);
  const records = hops.map((hop) =>
    note(hop.record, next, { state: hop.state, ...parts.body?.[hop.record] }, parts.payloads?.[hop.record]),
  );
  return {
    ...bare(shell),
    call: path.length === 0 ? null : change(from, next, path),
    nobodyLeftWithinMs: parts.nobodyLeftWithinMs ?? null,
    key: parts.key ?? null,
    session: step(next, path.includes('SUCCEEDED'), parts),
    ...papersIn(parts),
    reserve: parts.reserve ?? [],
    settle: parts.settle ?? [],
    tokens: parts.tokens ?? [],
    accounts: parts.accounts ?? [],
    task: parts.task ?? null,
    blobs: parts.blobs ?? [],
    records: [...(parts.resumption ?? []), ...records, ...(parts.notes ?? [])],
  };
}

/** What people and the gateway itself have to do about calls. */
const papersIn = ({ approvals = [], tickets = [], reversals = [], rollbacks = [] }: CommitParts) => ({
  approvals,
  tickets,
  reversals,
  rollbacks,
});

/** What a transition is that changes nothing. */
export const nothingYet: Omit<Transition, 'token' | 'atMs'> = {
  call: null,
  nobodyLeftWithinMs: null,
  key: null,
  session: null,
  reserve: [],
  settle: [],
  tokens: [],
  accounts: [],
  approvals: [],
  tickets: [],
  reversals: [],
  rollbacks: [],
  task: null,
  blobs: [],
  records: [],
};

/** A transition that changes nothing yet, with a token of its own. */
export function bare(shell: Shell): Transition {
  const atMs = shell.ports.clock.nowMs();
  const token = shell.ports.ids.random('txn_');
  return { token, atMs, ...nothingYet };
}

export function note(
  kind: RecordKind,
  call: Pick<Call, 'id' | 'session'>,
  body: JsonObject,
  payloads: readonly Payload[] = [],
): RecordDraft {
  return { kind, call: call.id, session: call.session, body: canonicalText(body), payloads };
}

/** Puts on record that whoever asked is gone. */
export function leaving(call: Call, shell: Shell): Transition {
  return {
    ...bare(shell),
    call: { kind: 'mark', id: call.id, requester: 'left', repeats: 0 },
    session: numbered(call),
    records: [note('requester_left', call, {})],
  };
}

/**
 * Numbers records within the session that moves no sequence and asks nothing of it, but that it is open if that is
 * said.
 */
export function numbered(call: Pick<Call, 'session'>, expectOpen = false): SessionChange | null {
  return call.session === null
    ? null
    : { kind: 'step', id: call.session, advance: false, expectSeq: null, expectOpen, workflow: null };
}

function step(call: Call, success: boolean, parts: CommitParts): SessionChange | null {
  if (call.session === null) return null;
  const workflow = parts.workflow ?? null;
  return {
    kind: 'step',
    id: call.session,
    // INVARIANT: with a workflow the sequence counts its states, so it moves with the snapshot alone.
    advance: workflow === null ? success : workflow.snapshot !== null,
    expectSeq: parts.expectSeq ?? null,
    expectOpen: parts.expectOpen ?? false,
    workflow,
    ...(parts.fence === undefined ? {} : { fence: parts.fence }),
    ...(parts.endsTurn === undefined ? {} : { endsTurn: parts.endsTurn }),
  };
}

function change(from: Call, next: Call, path: readonly CallState[]): CallChange {
  if (from.state === '(none)') return { kind: 'insert', call: next, path };
  invariant(from.id === next.id, 'a step is of one call');
  const { state, attempt, owner, dueAtMs } = from;
  return { kind: 'update', call: next, path, expect: { state, attempt, owner, dueAtMs } };
}

/** A change of a workflow session that changes nothing yet. */
export const noChange: WorkflowChange = {
  turn: null,
  call: null,
  operation: null,
  snapshot: null,
  fence: null,
  becomes: null,
  manifest: null,
};
