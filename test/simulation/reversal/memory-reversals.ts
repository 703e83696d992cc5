/** Reversals and rollbacks of a memory store: what stands against a write, what it leaves, and what is read of them. */
import type { Reversal, Rollback, RollbackStep } from '../../../src/core/reversal/reversal.ts';
import { unreachable } from '../../../src/core/values/unreachable.ts';
import type { CommitResult, ReversalWrite, RollbackWrite, Transition } from '../../../src/ports/store.ts';
import type { MemoryState } from '../memory-state.ts';

type Conflict = Extract<CommitResult, { kind: 'conflict' }>;

export interface ReversalState {
  /** By call. */
  readonly reversals: Map<string, Reversal>;
  /** By session. */
  readonly rollbacks: Map<string, Rollback>;
  readonly steps: Map<string, readonly RollbackStep[]>;
}

export const createReversalState = (): ReversalState => ({
  reversals: new Map(),
  rollbacks: new Map(),
  steps: new Map(),
});

/** Copies for the writes to be applied to; they count once nothing was refused. */
export const stageReversals = ({ reversals, rollbacks, steps }: ReversalState): ReversalState => ({
  reversals: new Map(reversals),
  rollbacks: new Map(rollbacks),
  steps: new Map(steps),
});

export function undoingConflict(
  { reversals, rollbacks }: Transition,
  staged: ReversalState,
  state: MemoryState,
): Conflict | null {
  for (const write of reversals) {
    const refused = applyReversal(write, staged);
    if (refused !== undefined) return { kind: 'conflict', on: 'reversal', found: refused };
  }
  for (const write of rollbacks) {
    const refused = applyRollback(write, staged, state);
    if (refused !== null) return refused;
  }
  return null;
}

const withId = (id: string, { reversals }: ReversalState): Reversal | null =>
  [...reversals.values()].find((each) => each.id === id) ?? null;

/** What stands against it; undefined if it was applied. */
function applyReversal(write: ReversalWrite, staged: ReversalState): Reversal | null | undefined {
  const put = (reversal: Reversal): undefined => void staged.reversals.set(reversal.call, reversal);
  switch (write.kind) {
    case 'issue': {
      const found = staged.reversals.get(write.reversal.call);
      return found ?? put(write.reversal);
    }
    case 'arm': {
      const found = staged.reversals.get(write.call);
      if (found?.state !== 'issued') return undefined;
      const { by = null, reason = null } = write.due ?? {};
      const expiresAtMs = write.atMs + found.windowMs;
      return put({ ...found, state: write.due === null ? 'armed' : 'due', expiresAtMs, askedBy: by, reason });
    }
    case 'void': {
      const found = staged.reversals.get(write.call);
      return found?.state === 'issued' ? put({ ...found, state: 'void' }) : undefined;
    }
    case 'order': {
      const found = withId(write.id, staged);
      if (found?.state !== 'armed') return found;
      return put({ ...found, state: 'due', askedBy: write.order.by, reason: write.order.reason });
    }
    case 'give_up': {
      const found = withId(write.id, staged);
      return found?.state === 'due' ? put({ ...found, state: 'armed' }) : found;
    }
    case 'redeem': {
      const found = withId(write.id, staged);
      const isFree = found?.state === 'armed' || found?.state === 'due';
      return found !== null && isFree && found.tries === write.tries
        ? put({ ...found, state: 'redeemed', redeemedBy: write.by })
        : found;
    }
    case 'rearm': {
      const found = withId(write.id, staged);
      if (found?.state !== 'redeemed' || found.redeemedBy !== write.by) return undefined;
      return put({ ...found, state: 'armed', redeemedBy: null, tries: found.tries + 1 });
    }
    default:
      return unreachable(write);
  }
}

function applyRollback(write: RollbackWrite, staged: ReversalState, state: MemoryState): Conflict | null {
  if (write.kind === 'start') {
    const { session } = write.rollback;
    if (!state.sessions.has(session)) return { kind: 'conflict', on: 'session', found: null };
    const found = staged.rollbacks.get(session);
    if (found === undefined) staged.rollbacks.set(session, { ...write.rollback, version: 1 });
    else if (found.state === 'finished')
      staged.rollbacks.set(session, { ...found, state: 'running', finishedAtMs: null, version: found.version + 1 });
    return null;
  }
  const found = staged.rollbacks.get(write.session) ?? null;
  if (found?.state !== 'running' || found.version !== write.expect) return { kind: 'conflict', on: 'rollback', found };
  const next = { ...found, version: found.version + 1 };
  staged.rollbacks.set(
    write.session,
    write.kind === 'step' ? next : { ...next, state: 'finished', finishedAtMs: write.atMs },
  );
  if (write.kind === 'step') {
    const others = (staged.steps.get(write.session) ?? []).filter(({ call }) => call !== write.step.call);
    staged.steps.set(write.session, [...others, write.step]);
  }
  return null;
}

/** INVARIANT: from the commit that starts a rollback on, no call begins in its session. */
export function closeSessions({ rollbacks }: Transition, state: MemoryState): void {
  for (const write of rollbacks) {
    const session = write.kind === 'start' ? state.sessions.get(write.rollback.session) : undefined;
    if (session === undefined || (session.state !== 'open' && session.state !== 'stopped')) continue;
    const { workflow } = session;
    const walked = workflow === null ? null : { ...workflow, reason: 'rolled_back', timerAtMs: null };
    state.sessions.set(session.id, { ...session, state: 'closed', workflow: walked });
  }
}

/** Why the writes cannot be right, or null. */
export function undoingIllegality({ reversals, rollbacks }: Transition): string | null {
  if (reversals.length > 8 || rollbacks.length > 1) return 'a transition writes at most 8 reversals and one rollback';
  const times = [
    ...reversals.flatMap((write) => (write.kind === 'arm' ? [write.atMs] : [])),
    ...reversals.flatMap((write) => (write.kind === 'issue' ? [write.reversal.windowMs] : [])),
    ...rollbacks.flatMap((write) => (write.kind === 'finish' ? [write.atMs] : [])),
  ];
  if (!times.every(Number.isSafeInteger)) return 'the times of a reversal are whole milliseconds';
  const isNew = ({ state, tries, redeemedBy, expiresAtMs }: Reversal) =>
    state === 'issued' && tries === 0 && redeemedBy === null && expiresAtMs === null;
  return reversals.every((write) => write.kind !== 'issue' || isNew(write.reversal))
    ? null
    : 'a reversal is issued before its call has succeeded';
}

export function reversalReads(state: MemoryState) {
  const byId = (one: { readonly id: string }, other: { readonly id: string }) => (one.id < other.id ? -1 : 1);
  const where = (wanted: (reversal: Reversal) => boolean): Reversal[] =>
    [...state.undoing.reversals.values()].filter(wanted).sort(byId);
  const doubted = () =>
    new Set([...state.undoing.steps.values()].flat().flatMap(({ call, outcome }) => (outcome === 'in_doubt' ? [call] : [])));
  return {
    reversal: (id: string) => withId(id, state.undoing),
    reversalOf: (call: string) => state.undoing.reversals.get(call) ?? null,
    dueReversals: (limit: number): readonly Reversal[] => where((each) => each.state === 'due').slice(0, limit),
    lateReversals: (limit: number): readonly Reversal[] => {
      const calls = doubted();
      return where((each) => each.state === 'armed' && calls.has(each.call)).slice(0, limit);
    },
    rollback: (session: string) => state.undoing.rollbacks.get(session) ?? null,
    rollbackSteps: (session: string): readonly RollbackStep[] =>
      [...(state.undoing.steps.get(session) ?? [])].sort((a, b) => a.position - b.position || (a.call < b.call ? -1 : 1)),
    runningRollbacks: (limit: number): readonly Rollback[] =>
      [...state.undoing.rollbacks.values()]
        .filter((each) => each.state === 'running')
        .sort((a, b) => (a.session < b.session ? -1 : 1))
        .slice(0, limit),
    callsByKeys: (tenant: string, agent: string, prefix: string, limit: number) =>
      [...state.calls.values()]
        .map(({ call }) => call)
        .filter((call) => call.tenant === tenant && call.agent === agent && call.key?.startsWith(prefix) === true)
        .filter((call) => state.keys.get(keyName(call))?.callId === call.id)
        .sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1))
        .slice(0, limit)
        .map(({ id }) => id),
  };
}

const keyName = ({ tenant, agent, key }: { tenant: string; agent: string; key: string | null }): string =>
  [tenant, agent, key ?? ''].map((part) => `${part.length}:${part}`).join('');
