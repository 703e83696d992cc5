/**
 * Fires the timers of a workflow session that are due: a step of the system's own, journalled like any. Only while nobody has
 * the session's turn; whoever has it lets the timer wait until the step is over.
 */
import type { SessionId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import { maxFired } from '../../core/workflow/step.ts';
import type { Session } from '../../ports/store.ts';
import { commit } from '../upkeep/commit.ts';
import { digestOf, draftOf, manifestOf, snapshotOf } from './position.ts';
import { resumption } from './resumption.ts';
import type { Shell } from '../shell.ts';
import { bare, noChange } from '../ending/transition.ts';

/** The session as it stands afterwards; null if there is none. */
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

/** False if somebody else moved the session, or the store cannot say. */
async function fireNext(session: Session, shell: Shell): Promise<boolean> {
  const workflow = shell.workflows.get(session.workflow?.name ?? '');
  const { snapshot, digest } = await snapshotOf(session, shell);
  const timer = snapshot.timers[0];
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

/** For the sweeper: sessions in which time passed and nobody asked. */
export async function fireAllDue(shell: Shell): Promise<void> {
  if (shell.workflows.size === 0) return;
  // INVARIANT: timers that rest, because nobody here may fire them, keep no others from being looked at.
  const manifests = [...shell.workflows.values()].map((workflow) => manifestOf(workflow, shell));
  const due = await shell.ports.store.dueSessions(shell.ports.clock.nowMs(), manifests, shell.limits.sweepBatch);
  for (const { id } of due) await fireDue(id, shell);
}
