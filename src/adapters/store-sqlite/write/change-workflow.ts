/**
 * Changes the workflow of a session with a step (turn, state, fences and timer), and fences of sessions without one.
 * Runs after all checks, so nothing here is refused.
 */
import type { SessionId } from '../../../core/call/call.ts';
import type { FenceWrite, Session, SnapshotDraft, WorkflowChange, WorkflowSession } from '../../../ports/store.ts';
import type { MutableSession } from './ledger.ts';
import type { Statements } from './statements.ts';

/** How far back a session can be forked. */
export const keptSnapshots = 1_000;

export function changeWorkflow(session: MutableSession, change: WorkflowChange, statements: Statements): void {
  const before = session.workflow;
  if (before === null) return;
  const { snapshot, becomes } = change;
  changeFence(session.id, change, before.turn, statements);
  if (becomes !== null) session.state = becomes.state;
  const manifest = change.manifest ?? before.manifest;
  session.workflow = {
    ...before,
    turn: turnAfter(change, before.turn),
    timerAtMs: snapshot === null ? before.timerAtMs : snapshot.dueAtMs,
    manifest,
    // INVARIANT: every state from this sequence on was made under the manifest that the session is pinned to.
    pinnedAtSeq: manifest === before.manifest ? before.pinnedAtSeq : session.seq,
    reason: becomes === null ? before.reason : becomes.reason,
  };
  if (snapshot !== null) keepSnapshot(session, snapshot, before.timerAtMs, statements);
}

type Turn = WorkflowSession['turn'];

function changeFence(session: SessionId, change: WorkflowChange, turn: Turn, statements: Statements): void {
  const { fence, call, operation } = change;
  if (call === null) return;
  if (fence === 'raised') statements.insertFence.run(session, call, operation ?? turn?.operation ?? '');
  if (fence === 'lifted') statements.deleteFence.run(session, call);
}

/** Of a session without a workflow. */
export function writeFence(session: SessionId, fence: FenceWrite, statements: Statements): void {
  if (fence.kind === 'raised') statements.insertFence.run(session, fence.call, fence.operation);
  else statements.deleteFence.run(session, fence.call);
}

function turnAfter({ turn, call, operation }: WorkflowChange, before: Turn): Turn {
  if (turn === 'take' && call !== null) return { call, operation: operation ?? '' };
  return turn === 'release' && call !== null && before?.call === call ? null : before;
}

/** INVARIANT: a session has exactly one timer row, for the first of its timers, or none. */
export function keepSnapshot(
  { id, seq }: Pick<Session, 'id' | 'seq'>,
  { text, dueAtMs }: SnapshotDraft,
  timerBeforeMs: number | null,
  statements: Statements,
): void {
  statements.insertSnapshot.run(id, seq, text);
  if (seq >= keptSnapshots) statements.dropSnapshots.run(id, seq - keptSnapshots);
  if (timerBeforeMs === dueAtMs) return;
  if (timerBeforeMs !== null) statements.deleteSessionTimer.run(timerBeforeMs, id);
  if (dueAtMs !== null) statements.insertSessionTimer.run(dueAtMs, id);
}

/** Closed for good, by the word of its agent. */
export function completeSession(session: MutableSession): void {
  session.state = 'closed';
  if (session.workflow !== null) session.workflow = { ...session.workflow, reason: 'completed' };
}

/** A session that is not open waits for nothing. */
export function dropTimer(session: MutableSession, statements: Statements): void {
  const timerAtMs = session.workflow?.timerAtMs ?? null;
  if (session.workflow === null || timerAtMs === null) return;
  statements.deleteSessionTimer.run(timerAtMs, session.id);
  session.workflow = { ...session.workflow, timerAtMs: null };
}
