/** What a step does to the workflow of its session in a memory store: turn, state, fences, timer. */
import type { Session, WorkflowChange } from '../../src/ports/store.ts';
import { type MemoryState, nameOf } from './memory-state.ts';

export function changeWorkflow(session: Session, change: WorkflowChange | null, state: MemoryState): Session {
  const { workflow } = session;
  if (change === null || workflow === null) return session;
  const { call, operation, snapshot, becomes } = change;
  const about = operation ?? workflow.turn?.operation ?? '';
  if (change.fence === 'raised' && call !== null)
    state.fences.set(nameOf(session.id, call), { session: session.id, call, operation: about });
  if (change.fence === 'lifted' && call !== null) state.fences.delete(nameOf(session.id, call));
  if (snapshot !== null) state.snapshots.set(nameOf(session.id, String(session.seq)), snapshot.text);
  const given = change.turn === 'release' && workflow.turn?.call === call ? null : workflow.turn;
  const turn = change.turn === 'take' && call !== null ? { call, operation: operation ?? '' } : given;
  const timerAtMs = snapshot === null ? workflow.timerAtMs : snapshot.dueAtMs;
  const reason = becomes === null ? workflow.reason : becomes.reason;
  const manifest = change.manifest ?? workflow.manifest;
  const pinnedAtSeq = manifest === workflow.manifest ? workflow.pinnedAtSeq : session.seq;
  return {
    ...session,
    state: becomes?.state ?? session.state,
    workflow: { ...workflow, turn, timerAtMs, reason, manifest, pinnedAtSeq },
  };
}

/** Closed for good, by the word of its agent. */
export function completed(session: Session): Session {
  const { workflow } = session;
  return { ...session, state: 'closed', workflow: workflow === null ? null : { ...workflow, reason: 'completed' } };
}

/** A session that is not open waits for nothing. */
export function withoutTimer(session: Session): Session {
  if (session.state === 'open' || session.workflow === null) return session;
  return { ...session, workflow: { ...session.workflow, timerAtMs: null } };
}
