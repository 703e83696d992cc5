/** How does a step change the workflow of its session: its turn, its state, its fences, its timer? Nothing here can be refused. */
import type { Session, SnapshotDraft, WorkflowChange } from '../../../ports/store.ts';
import type { MutableSession } from './ledger.ts';
import type { Statements } from './statements.ts';

/** How far back a session can be forked. */
export const keptSnapshots = 1_000;

export function changeWorkflow(session: MutableSession, change: WorkflowChange, statements: Statements): void {
  const before = session.workflow;
  if (before === null) return;
  const { call, operation, snapshot, becomes } = change;
  const has = call !== null && before.turn?.call === call;
  if (change.fence === 'raised' && call !== null)
    statements.insertFence.run(session.id, call, operation ?? before.turn?.operation ?? '');
  if (change.fence === 'lifted' && call !== null) statements.deleteFence.run(session.id, call);
  let { turn } = before;
  if (change.turn === 'take' && call !== null) turn = { call, operation: operation ?? '' };
  if (change.turn === 'release' && has) turn = null;
  if (becomes !== null) session.state = becomes.state;
  const timerAtMs = snapshot === null ? before.timerAtMs : snapshot.dueAtMs;
  const manifest = change.manifest ?? before.manifest;
  session.workflow = {
    ...before,
    turn,
    timerAtMs,
    manifest,
    // INVARIANT: every state from this sequence on was made under the manifest that the session is pinned to.
    pinnedAtSeq: manifest === before.manifest ? before.pinnedAtSeq : session.seq,
    reason: becomes === null ? before.reason : becomes.reason,
  };
  if (snapshot !== null) keepSnapshot(session, snapshot, before.timerAtMs, statements);
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
