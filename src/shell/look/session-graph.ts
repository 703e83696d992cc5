/**
 * Reads a workflow session for people who look at its graph: the drawing with the path that the session took, and the
 * state after one of its steps. Must not write.
 */
import type { CallId, Principal } from '../../core/call/call.ts';
import type { ErrorReply } from '../../core/call/reply.ts';
import { toDrawing, type WorkflowDrawing } from '../../core/workflow/draw/to-drawing.ts';
import { standingOf, stateOf } from '../../core/workflow/step.ts';
import { activeIds } from '../../core/workflow/trace/active-ids.ts';
import type { PathEntry, SessionGraph, SessionState } from '../../core/workflow/trace/session-graph.ts';
import { type TracedStep, tracePath } from '../../core/workflow/trace/trace-path.ts';
import type { Snapshot, Workflow } from '../../core/workflow/workflow.ts';
import type { Session } from '../../ports/store.ts';
import { findSession } from '../session/find-session.ts';
import type { Shell } from '../shell.ts';
import type { HistoryEntry } from './history.ts';
import { createSessionInspection } from './inspect-sessions.ts';

export type StateFound =
  | { readonly kind: 'state'; readonly state: SessionState }
  /** `first` is the oldest step that is kept, `last` the newest. */
  | { readonly kind: 'not_kept'; readonly first: number | null; readonly last: number };

/** Entries of a session's history that a graph is traced from. */
const maxTraced = 500;

export async function sessionGraph(handle: string, who: Principal, shell: Shell): Promise<SessionGraph | ErrorReply> {
  const found = await findSession(handle, 'graph', 'read', who, shell);
  if ('error' in found) return found;
  const { session, fact } = found;
  const { store } = shell.ports;
  const { workflow } = fact;
  const history = (await createSessionInspection(store).history(session.id, maxTraced)) ?? [];
  const activeAt = await readStates(session, history, shell);
  const path = await Promise.all(history.map((entry) => pathEntry(entry, activeAt, shell)));
  const standing = standingOf(fact);
  return {
    session: session.id,
    agent: session.agent,
    workflow: workflow.name,
    version: workflow.version,
    seq: session.seq,
    status: session.state === 'open' && standing.done ? 'done' : session.state,
    reason: session.workflow?.reason ?? null,
    active: activeIds(standing.value),
    drift: fact.drift ?? [],
    drawing: drawingOf(workflow),
    path,
    complete: history.length < maxTraced,
    ...tracePath(workflow.graph, path.map(traced), activeAt),
  };
}

const drawings = new WeakMap<Workflow, WorkflowDrawing>();

/** A workflow does not change while the gateway runs: it is laid out once. */
function drawingOf(workflow: Workflow): WorkflowDrawing {
  const known = drawings.get(workflow) ?? toDrawing(workflow.graph);
  drawings.set(workflow, known);
  return known;
}

type ActiveAt = (seq: number) => readonly string[] | null;

async function readStates({ id }: Session, history: readonly HistoryEntry[], { ports }: Shell): Promise<ActiveAt> {
  const kept = new Map<number, readonly string[]>();
  for (const seq of new Set(history.map((entry) => entry.seq))) {
    const text = await ports.store.snapshot(id, seq);
    if (text !== null) kept.set(seq, activeIds((JSON.parse(text) as Snapshot).value));
  }
  return (seq) => kept.get(seq) ?? null;
}

async function pathEntry(entry: HistoryEntry, activeAt: ActiveAt, { ports }: Shell): Promise<PathEntry> {
  const { kind, at, action, call_id, outcome, code, reason, seq, detail } = entry;
  // Only an attempt that was refused or held has the gate that said so.
  const refused = kind === 'attempt' && detail['gate'] !== undefined && code !== 'POLICY_DEFER';
  const call = refused && call_id !== null ? await ports.store.call(call_id as CallId) : null;
  const times = 1 + (call?.repeats ?? 0);
  const active = activeAt(seq);
  return { entry: entry.entry, kind, at, action, call_id, outcome, code, reason, seq, refused, times, active };
}

function traced({ kind, action, seq, times, code, refused }: PathEntry): TracedStep {
  const moved = kind === 'attempt' ? 'action' : kind === 'timer_fired' ? 'timer' : 'jump';
  return { action, kind: moved, refused: refused ? code : null, times, seq };
}

/** The state after step `seq`; null means the present state. */
export async function sessionStateAt(
  handle: string,
  seq: number | null,
  who: Principal,
  shell: Shell,
): Promise<StateFound | ErrorReply> {
  const found = await findSession(handle, 'state', 'read', who, shell);
  if ('error' in found) return found;
  const { session, fact } = found;
  const { store } = shell.ports;
  const at = seq ?? session.seq;
  const text = await store.snapshot(session.id, at);
  if (text === null) return { kind: 'not_kept', first: await store.firstSnapshot(session.id, 0), last: session.seq };
  const snapshot = JSON.parse(text) as Snapshot;
  const { ahead: _ahead, ...past } = { ...fact, snapshot };
  return {
    kind: 'state',
    state: {
      session: session.id,
      seq: at,
      active: activeIds(snapshot.value),
      state: stateOf(past),
      done: snapshot.done,
      timers: snapshot.timers.map(({ id, dueAtMs }) => ({ id, due_at: new Date(dueAtMs).toISOString() })),
    },
  };
}
