/**
 * Makes room for new workflow sessions, closes those that are given up, and fires due timers. At most `maxSessions`
 * are kept: the longest unused are closed for a new one, and the sweeper trims what is above the limit. Steps never
 * wait for any of this.
 */
import type { SessionId } from '../../core/call/call.ts';
import type { StoreFault, CommitResult, Session } from '../../ports/store.ts';
import type { Shell } from '../shell.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { commit } from '../upkeep/commit.ts';
import { bare, noChange } from '../ending/transition.ts';
import { readLater } from '../../core/workflow/stage-rule.ts';
import { maxFired } from '../../core/workflow/step.ts';
import { digestOf, draftOf, manifestOf, snapshotOf, resumption } from './position.ts';

export type NoRoom =
  /** Every session is in use. */
  { readonly kind: 'full' } | { readonly kind: 'unavailable'; readonly fault: StoreFault };

/** Openings that may wait while others look for room; the next one gets `overloaded`. */
const maxWaiting = 10_000;

/** Sessions closed in one batch, and batches for one opening: a lowered limit may leave many to close. */
const closeAtOnce = 256;
const maxBatches = 64;

/** How often the sweeper counts while the limit is kept. */
const countEveryMs = 10_000;

/**
 * Opens a session if there is room. Looking for room is done one at a time; the openings are written in parallel.
 * `source`: the session that it is forked from, which is not closed to make room for its own fork.
 */
export async function withRoom<Opened>(
  open: () => Promise<Opened>,
  shell: Shell,
  source: SessionId | null = null,
): Promise<Opened | NoRoom> {
  const { room } = shell.live;
  if (room.waiting >= maxWaiting) return { kind: 'unavailable', fault: 'overloaded' };
  const found = await oneAtATime(async () => {
    const no = await makeRoom(source, shell);
    if (no !== null) return { no };
    const opening = open();
    room.opening.add(opening);
    const written = () => void room.opening.delete(opening);
    opening.then(written, written);
    return { opening };
  }, shell);
  return 'no' in found ? found.no : found.opening;
}

/** INVARIANT: one at a time counts and closes; otherwise two openings would find the same room. */
function oneAtATime<Result>(act: () => Promise<Result>, { live: { room } }: Shell): Promise<Result> {
  room.waiting += 1;
  const mine = room.last.then(act);
  const next = () => void (room.waiting -= 1);
  room.last = mine.then(next, next);
  return mine;
}

/** Null if there is room for one more session, after closing the longest unused if necessary. */
async function makeRoom(source: SessionId | null, shell: Shell): Promise<NoRoom | null> {
  const { live, limits, ports } = shell;
  if (!live.readiness.ready) return { kind: 'unavailable', fault: 'closed' };
  if ((await ports.store.countSessions()) + live.room.opening.size < limits.maxSessions) return null;
  // A session being opened may be counted twice, in the store and in `opening`: wait until all are written.
  await Promise.allSettled(live.room.opening);
  return closeDownTo(limits.maxSessions - 1, maxBatches, source, shell);
}

async function closeDownTo(
  most: number,
  batches: number,
  source: SessionId | null,
  shell: Shell,
): Promise<NoRoom | null> {
  const { store } = shell.ports;
  for (let batch = 0; batch < batches; batch++) {
    const over = Math.min((await store.countSessions()) - most, closeAtOnce);
    if (over <= 0) return null;
    // INVARIANT: a session in which a step runs, or is about to, or a timer waits is never closed for room.
    const { turns, room } = shell.live;
    const stays = (id: SessionId) => turns.has(id) || room.beginning.has(id) || id === source;
    const idle = await store.idleSessions(Number.MAX_SAFE_INTEGER, over + turns.size + room.beginning.size + 1);
    const unused = idle.filter(({ id }) => !stays(id)).slice(0, over);
    if (unused.length === 0) return { kind: 'full' };
    for (const closed of await Promise.all(unused.map((session) => closeSession(session, 'capacity', shell))))
      if (closed.kind === 'unavailable') return { kind: 'unavailable', fault: closed.fault };
  }
  return { kind: 'full' };
}

/** For the sweeper: closes sessions above the limit, opened by other processes or before the limit was lowered. */
export async function trimSessions(shell: Shell): Promise<void> {
  const { live, limits, ports, workflows } = shell;
  if (workflows.size === 0 || ports.clock.monotonicMs() < live.room.countAtMs) return;
  const left = await oneAtATime(() => closeDownTo(limits.maxSessions, 1, null, shell), shell);
  if (left === null) live.room.countAtMs = ports.clock.monotonicMs() + countEveryMs;
}

export type CloseReason = 'capacity' | 'unused' | 'superseded';

export async function closeSession(session: Session, reason: CloseReason, shell: Shell): Promise<CommitResult> {
  const workflow = { ...noChange, turn: 'free', becomes: { state: 'closed', reason } } as const;
  const result = await commit(
    {
      ...bare(shell),
      session: { kind: 'step', id: session.id, advance: false, expectSeq: session.seq, expectOpen: false, workflow },
      records: [
        { kind: 'session_closed', call: null, session: session.id, body: canonicalText({ reason }), payloads: [] },
      ],
    },
    shell,
  );
  shell.live.snapshots.delete(session.id);
  shell.live.streaks.delete(session.id);
  return result;
}

/** Fires the timers that are due. Returns the session as it is afterwards; null if there is none. */
export async function fireDue(id: SessionId, shell: Shell): Promise<Session | null> {
  for (let fired = 0; ; fired++) {
    const session = await shell.ports.store.session(id);
    if (session === null || fired >= maxFired || !isDue(session, shell)) return session;
    if (!(await fireNext(session, shell))) return shell.ports.store.session(id);
  }
}

function isDue({ state, workflow }: Session, shell: Shell): boolean {
  if (state !== 'open' || workflow === null || workflow.turn !== null || workflow.timerAtMs === null) return false;
  const served = shell.workflows.get(workflow.name);
  // INVARIANT: a session moves only under the workflow that it is pinned to.
  if (served === undefined || manifestOf(served, shell) !== workflow.manifest) return false;
  return workflow.timerAtMs <= shell.ports.clock.nowMs();
}

/** False if another request moved the session first, or the store is unavailable. */
async function fireNext(session: Session, shell: Shell): Promise<boolean> {
  const workflow = shell.workflows.get(session.workflow?.name ?? '');
  const { snapshot, digest } = await snapshotOf(session, shell);
  const timer = snapshot.timers.find((each) => readLater(each) === null);
  if (timer !== undefined && timer.dueAtMs > shell.ports.clock.nowMs()) return false;
  if (workflow === undefined || timer === undefined) return false;
  const moved = workflow.machine.fire(snapshot, timer, shell.ports.clock.nowMs());
  const goesOn = resumption(session.id, { seq: session.seq, digest }, shell);
  const base = { kind: 'step', id: session.id, expectSeq: session.seq, expectOpen: true } as const;
  if (moved.kind === 'failed') {
    const becomes = { state: 'stopped', reason: 'timer_failed' } as const;
    const body = canonicalText({ reason: 'timer_failed', timer: timer.id, state: digest, problem: moved.errorType });
    const change = { ...base, advance: false, workflow: { ...noChange, turn: 'free' as const, becomes } };
    const stopped = { kind: 'session_stopped' as const, call: null, session: session.id, body, payloads: [] };
    const records = [...goesOn, stopped];
    return (await commit({ ...bare(shell), session: change, records }, shell)).kind === 'committed';
  }
  const draft = draftOf(moved.snapshot);
  const body = canonicalText({
    timer: timer.id,
    due_ms: timer.dueAtMs,
    state_before: digest,
    state_after: digestOf(session.id, draft.text, shell),
    step: session.seq + 1,
  });
  const change = { ...base, advance: true, workflow: { ...noChange, turn: 'free' as const, snapshot: draft } };
  const records = [...goesOn, { kind: 'timer_fired' as const, call: null, session: session.id, body, payloads: [] }];
  return (await commit({ ...bare(shell), session: change, records }, shell)).kind === 'committed';
}

/** For the sweeper: fires due timers of sessions that nobody asks about. Returns the sessions that were due. */
export async function fireAllDue(shell: Shell): Promise<readonly SessionId[]> {
  if (shell.workflows.size === 0) return [];
  // INVARIANT: timers that this gateway may not fire (another workflow version) do not keep others from firing.
  const manifests = [...shell.workflows.values()].map((workflow) => manifestOf(workflow, shell));
  const due = await shell.ports.store.dueSessions(shell.ports.clock.nowMs(), manifests, shell.limits.sweepBatch);
  for (const { id } of due) await fireDue(id, shell);
  return due.map(({ id }) => id);
}
