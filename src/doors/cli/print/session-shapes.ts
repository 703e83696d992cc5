/** What does `--json` print about sessions? Shapes for programs: names as on the wire, times in RFC 3339. Pinned; only added to. */
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import type { SessionStory, WalkedSession } from '../../../shell/look/inspect-sessions.ts';
import { timeOf } from './shapes.ts';

export function sessionShape(session: WalkedSession) {
  const { workflow } = session;
  return {
    session: session.id,
    workflow: workflow.name,
    tenant: session.tenant,
    agent: session.agent,
    status: session.status,
    seq: session.seq,
    entries: session.entries,
    manifest: workflow.manifest,
    reason: workflow.reason,
    turn: workflow.turn === null ? null : { call_id: workflow.turn.call, operation: workflow.turn.operation },
    timer_at: workflow.timerAtMs === null ? null : timeOf(workflow.timerAtMs),
    opened_at: timeOf(session.openedAtMs),
    last_used_at: timeOf(session.usedAtMs),
  };
}

/** Entries of the history are on the wire as they are here. */
export function sessionStoryShape(story: SessionStory): Readonly<Record<string, unknown>> {
  return {
    ...sessionShape(story.session),
    version: story.version,
    state: stateShape(story.state),
    fences: story.fences.map(({ operation, call }) => ({ operation, call_id: call.id, state: call.state })),
    history: story.history,
  };
}

/** A state as it is kept, with the names of the wire; only its timers have others. */
export function stateShape(state: Json): Json {
  if (!isObject(state) || !Array.isArray(state['timers'])) return state;
  return { ...(state as JsonObject), timers: (state['timers'] as readonly Json[]).map(timerShape) };
}

function timerShape(timer: Json): Json {
  if (!isObject(timer)) return timer;
  const { dueAtMs, ...rest } = timer as JsonObject;
  return { ...rest, due_at_ms: dueAtMs ?? null };
}

export interface Difference {
  readonly op: 'add' | 'remove' | 'replace';
  /** A JSON Pointer into the state. */
  readonly path: string;
  /** Null where there was nothing; `op` tells that from the value null. */
  readonly before: Json;
  readonly after: Json;
}
