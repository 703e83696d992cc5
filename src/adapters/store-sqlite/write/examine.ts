/**
 * Checks what a transition expects of its session. Reads only, so a conflict leaves nothing to undo.
 */
import type { CommitResult, SessionChange, Transition } from '../../../ports/store.ts';
import { asItStands, type Ledger, type MutableSession } from './ledger.ts';

export type Conflict = Extract<CommitResult, { kind: 'conflict' }>;

export const illegal = (problem: string): Conflict => ({ kind: 'conflict', on: 'illegal', problem });

export function sessionConflict(change: SessionChange, ledger: Ledger): Conflict | null {
  if (change.kind === 'open') {
    const { id, standing, tenant, agent } = change.session;
    const taken = ledger.session(id) ?? (standing ? ledger.standing(tenant, agent) : null);
    return taken === null ? null : { kind: 'conflict', on: 'session', found: asItStands(taken) };
  }
  const found = ledger.session(change.id);
  if (found === null) return { kind: 'conflict', on: 'session', found: null };
  if (change.kind === 'complete') return completionConflict(change.expectEntries, found);
  if (change.kind !== 'step') return null;
  return stepConflict(change, found) ?? fenceConflict(change, found, ledger);
}

function stepConflict(change: Extract<SessionChange, { kind: 'step' }>, found: MutableSession): Conflict | null {
  const stale = change.expectSeq !== null && change.expectSeq !== found.seq;
  const shut = change.expectOpen && found.state !== 'open';
  const conflict: Conflict = { kind: 'conflict', on: 'session', found: asItStands(found) };
  if (stale || shut) return conflict;
  if (change.fence !== undefined && found.workflow !== null)
    return illegal('a fence of a workflow session is part of its step');
  // INVARIANT: the sequence of a workflow session counts its states.
  if (change.workflow === null)
    return found.workflow !== null && change.advance
      ? illegal('the sequence of a workflow moves with its state')
      : null;
  if (found.workflow === null) return illegal(`session '${change.id}' has no workflow`);
  const { turn, call } = change.workflow;
  // INVARIANT: one step of a session runs at a time, whoever asks.
  const taken = found.workflow.turn !== null && found.workflow.turn.call !== call;
  return taken && (turn === 'take' || turn === 'free') ? conflict : null;
}

/** INVARIANT: a result is adopted once, also outside workflows, where no turn keeps two from doing it. */
function fenceConflict(
  { id, fence }: Extract<SessionChange, { kind: 'step' }>,
  found: MutableSession,
  ledger: Ledger,
): Conflict | null {
  if (fence?.kind !== 'adopted' || ledger.hasFence(id, fence.call)) return null;
  return { kind: 'conflict', on: 'session', found: asItStands(found) };
}

function completionConflict(expectEntries: number, found: MutableSession): Conflict | null {
  if (found.standing) return illegal(`session '${found.id}' is the agent's standing one, which is never complete`);
  // INVARIANT: a session is completed once, not while a step of it runs, and not past a record that nobody weighed.
  const isFree = (found.workflow?.turn ?? null) === null;
  const isAsWeighed = found.entries === expectEntries;
  return found.state === 'open' && isFree && isAsWeighed
    ? null
    : { kind: 'conflict', on: 'session', found: asItStands(found) };
}

/** A record can be numbered only in a session that exists, or that this transition opens. */
export function recordsConflict(transition: Transition, ledger: Ledger): Conflict | null {
  const opened = transition.session?.kind === 'open' ? transition.session.session.id : null;
  for (const { session } of transition.records) {
    if (session === null || session === opened || ledger.session(session) !== null) continue;
    return { kind: 'conflict', on: 'session', found: null };
  }
  return null;
}
