/** Reversals and rollbacks of a memory store: what stands against a write, what it leaves, and what is read of them. */
import type { Reversal, Rollback, RollbackStep } from '../../../src/core/reversal/reversal.ts';
import { unreachable } from '../../../src/core/values/unreachable.ts';
import type { CommitResult, ReversalWrite, RollbackWrite, Transition } from '../../../src/ports/store.ts';
import type { MemoryState } from '../memory-state.ts';
import type { ReversalState } from './reversal-state.ts';

type Conflict = Extract<CommitResult, { kind: 'conflict' }>;

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

type Move = Partial<Reversal>;

/** What stands against it; undefined if it was applied. */
function applyReversal(write: ReversalWrite, staged: ReversalState): Reversal | null | undefined {
  if (write.kind === 'issue') {
    const found = staged.reversals.get(write.reversal.call);
    return found ?? void staged.reversals.set(write.reversal.call, write.reversal);
  }
  const found = 'call' in write ? (staged.reversals.get(write.call) ?? null) : withId(write.id, staged);
  const move = found === null ? null : moveOf(write, found);
  if (found !== null && move !== null) return void staged.reversals.set(found.call, { ...found, ...move });
  return mayMiss.has(write.kind) ? undefined : found;
}

/** Changes nothing where nothing fits. */
const mayMiss: ReadonlySet<ReversalWrite['kind']> = new Set(['arm', 'void', 'rearm'] as const);

const unasked = { askedBy: null, reason: null };

/** The states that a write moves on from. */
const movesFrom: Readonly<Record<Exclude<ReversalWrite['kind'], 'issue'>, readonly Reversal['state'][]>> = {
  arm: ['issued'],
  void: ['issued'],
  order: ['armed'],
  give_up: ['due'],
  redeem: ['armed', 'due'],
  rearm: ['redeemed'],
};

/** Null if it does not fit. */
function moveOf(write: Exclude<ReversalWrite, { kind: 'issue' }>, found: Reversal): Move | null {
  if (!movesFrom[write.kind].includes(found.state)) return null;
  switch (write.kind) {
    case 'arm': {
      const { by = null, reason = null } = write.due ?? {};
      const state = write.due === null ? 'armed' : 'due';
      return { state, expiresAtMs: write.atMs + found.windowMs, askedBy: by, reason };
    }
    case 'void':
      return { state: 'void' };
    case 'order':
      return { state: 'due', askedBy: write.order.by, reason: write.order.reason };
    case 'give_up':
      return { state: 'armed', ...unasked };
    case 'redeem':
      return found.tries === write.tries ? { state: 'redeemed', redeemedBy: write.by } : null;
    case 'rearm':
      return found.redeemedBy === write.by
        ? { state: 'armed', redeemedBy: null, tries: found.tries + 1, ...unasked }
        : null;
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
      staged.rollbacks.set(session, {
        ...found,
        state: 'running',
        startedAtMs: write.rollback.startedAtMs,
        finishedAtMs: null,
        version: found.version + 1,
      });
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
    new Set(
      [...state.undoing.steps.values()].flat().flatMap(({ call, outcome }) => (outcome === 'in_doubt' ? [call] : [])),
    );
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
      [...(state.undoing.steps.get(session) ?? [])].sort(
        (a, b) => a.position - b.position || (a.call < b.call ? -1 : 1),
      ),
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
