/** Sessions of a memory store and their workflows: what stands against a change of one, and what it leaves. */
import type { CommitResult, Session, SessionChange, Transition, WorkflowChange } from '../../src/ports/store.ts';
import { type MemoryState, nameOf } from './memory-state.ts';

type Conflict = Extract<CommitResult, { kind: 'conflict' }>;
type Step = Extract<SessionChange, { kind: 'step' }>;

const no = (found: Session | null): Conflict => ({ kind: 'conflict', on: 'session', found });
const illegal = (problem: string): Conflict => ({ kind: 'conflict', on: 'illegal', problem });

export function sessionConflict({ session, records }: Transition, state: MemoryState): Conflict | null {
  const conflict = session === null ? null : changeConflict(session, state);
  if (conflict !== null) return conflict;
  const opened = session?.kind === 'open' ? session.session.id : null;
  const lost = records.some(({ session: id }) => id !== null && id !== opened && !state.sessions.has(id));
  return lost ? no(null) : null;
}

function changeConflict(change: SessionChange, state: MemoryState): Conflict | null {
  if (change.kind === 'open') {
    const { id, standing, tenant, agent } = change.session;
    const taken = state.sessions.get(id) ?? (standing ? standingOf(tenant, agent, state) : null);
    return taken === null ? null : no(taken);
  }
  const found = state.sessions.get(change.id) ?? null;
  if (found === null) return no(null);
  if (change.kind === 'complete') return completionConflict(change.expectEntries, found);
  if (change.kind !== 'step') return null;
  const isGone = change.fence?.kind === 'adopted' && !state.fences.has(nameOf(change.id, change.fence.call));
  return stepConflict(change, found) ?? (isGone ? no(found) : null);
}

function completionConflict(expectEntries: number, found: Session): Conflict | null {
  if (found.standing) return illegal('a standing session is never complete');
  const isFree = (found.workflow?.turn ?? null) === null;
  return found.state === 'open' && isFree && expectEntries === found.entries ? null : no(found);
}

function stepConflict({ id, advance, expectSeq, expectOpen, workflow: change, fence }: Step, found: Session) {
  if (expectSeq !== null && expectSeq !== found.seq) return no(found);
  if (expectOpen && found.state !== 'open') return no(found);
  if (fence !== undefined && found.workflow !== null) return illegal('a workflow fences with its own steps');
  if (change === null)
    return found.workflow !== null && advance ? illegal('the sequence of a workflow moves with its state') : null;
  if (found.workflow === null) return illegal(`session '${id}' has no workflow`);
  const taken = found.workflow.turn !== null && found.workflow.turn.call !== change.call;
  return taken && (change.turn === 'take' || change.turn === 'free') ? no(found) : null;
}

export function standingOf(tenant: string, agent: string, state: MemoryState) {
  for (const session of state.sessions.values())
    if (session.standing && session.state === 'open' && session.tenant === tenant && session.agent === agent)
      return session;
  return null;
}

/** The session's sequence afterwards; null without a session. */
export function changeSession(change: SessionChange | null, atMs: number, state: MemoryState): number | null {
  if (change === null) return null;
  if (change.kind === 'open') {
    const { session, snapshot } = change;
    state.sessions.set(session.id, session);
    if (snapshot !== null) state.snapshots.set(nameOf(session.id, String(session.seq)), snapshot.text);
    for (const { call, operation } of change.fences)
      state.fences.set(nameOf(session.id, call), { session: session.id, call, operation });
    return session.seq;
  }
  const found = state.sessions.get(change.id);
  if (found === undefined) throw new Error('bug: the session was examined');
  const seq = found.seq + (change.kind === 'step' && change.advance ? 1 : 0);
  const usedAtMs = Math.max(found.usedAtMs, atMs);
  const cancelled = change.kind === 'cancel' ? ('cancelled' as const) : found.state;
  const moved =
    change.kind === 'complete' ? completed({ ...found, usedAtMs }) : { ...found, seq, usedAtMs, state: cancelled };
  state.sessions.set(
    change.id,
    withoutTimer(change.kind === 'step' ? changeWorkflow(moved, change.workflow, state) : moved),
  );
  if (change.kind === 'step') changeFence(change, state);
  if (change.kind === 'step' && change.endsTurn !== undefined) state.turns.add(nameOf(change.id, change.endsTurn));
  if (change.kind === 'cancel_turn') state.turns.add(nameOf(change.id, change.turn));
  return seq;
}

/** Outside workflows. */
function changeFence({ id, fence }: Step, state: MemoryState): void {
  if (fence === undefined) return;
  const name = nameOf(id, fence.call);
  if (fence.kind !== 'raised') state.fences.delete(name);
  else state.fences.set(name, { session: id, call: fence.call, operation: fence.operation });
}

function changeWorkflow(session: Session, change: WorkflowChange | null, state: MemoryState): Session {
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
function completed(session: Session): Session {
  const { workflow } = session;
  return { ...session, state: 'closed', workflow: workflow === null ? null : { ...workflow, reason: 'completed' } };
}

/** A session that is not open waits for nothing. */
function withoutTimer(session: Session): Session {
  if (session.state === 'open' || session.workflow === null) return session;
  return { ...session, workflow: { ...session.workflow, timerAtMs: null } };
}
