/** The objects that `--json` prints: names as on the wire, times in RFC 3339. Pinned by tests; only ever added to. */
import { hex } from '../../../core/journal/verify.ts';
import { isObject, type Json, type JsonObject } from '../../../core/values/json.ts';
import { timelineOf } from '../../../core/recovery/timeline.ts';
import type { CallStory, StoredCall, StoredText, ExplainedRecord, VerifyReport } from '../../../shell/look/inspect.ts';
import type { SessionStory, WalkedSession } from '../../../shell/look/inspect-sessions.ts';

export function callShape(call: StoredCall) {
  return {
    call_id: call.id,
    tool: call.tool,
    state: call.state,
    effect_class: call.effectClass,
    attempts: call.attempt,
    tenant: call.tenant,
    agent: call.agent,
    session: call.session,
    seq: call.seq,
    turn: call.turn,
    key: call.key,
    fingerprint: call.fingerprint,
    created_at: timeOf(call.createdAtMs),
    updated_at: timeOf(call.updatedAtMs),
    deadline_at: timeOf(call.deadlineAtMs),
    due_at: call.dueAtMs === null ? null : timeOf(call.dueAtMs),
    requester_left_at: call.requesterLeftAtMs === null ? null : timeOf(call.requesterLeftAtMs),
    repeats: call.repeats,
  };
}

export function storyShape(story: CallStory) {
  return {
    ...callShape(story.call),
    effect: story.effect,
    args: textShape(story.args),
    reply: textShape(story.reply),
    gates: story.gates,
    facts: story.facts,
    reverses: story.links.reverses,
    reversed_by: story.links.reversedBy,
    timeline: timelineOf(story.records),
    records: story.records.map((record) => ({
      ...recordShape(record),
      payloads: record.payloads.map(({ part, text }) => ({
        part,
        ...textShape(text === null ? { kind: 'erased' } : { kind: 'text', text }),
      })),
    })),
  };
}

/** Without the contents of payloads; `calls show` has them. */
export function recordShape(record: ExplainedRecord) {
  return {
    epoch: record.epoch,
    seq: record.seq,
    at: timeOf(record.timeMs),
    kind: record.kind,
    meaning: record.meaning,
    call_id: record.call,
    session_seq: record.sessionSeq,
    body: parsed(record.body),
    payloads: record.payloads.map(({ part, text }) => ({ part, kept: text === null ? 'erased' : 'text' })),
    hash: record.hash,
  };
}

export function reportShape(report: VerifyReport, problems: readonly unknown[]) {
  const { records, epochs, payloads, erased, head } = report;
  return {
    holds: problems.length === 0,
    records,
    epochs,
    payloads,
    erased,
    problems,
    head: head === null ? null : { epoch: head.epoch, seq: head.seq, hash: hex(head.hash) },
  };
}

/** `kept` distinguishes an erased part, a missing part and the value null. */
function textShape(stored: StoredText) {
  return { kept: stored.kind, value: stored.kind === 'text' ? parsed(stored.text) : null };
}

/** The value, or the text itself if it is not JSON: a damaged journal can still be read. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function timeOf(ms: number): string {
  const date = new Date(ms);
  // A damaged record may hold any number.
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

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

/** Entries of the history are passed on unchanged. */
export function sessionStoryShape(story: SessionStory): Readonly<Record<string, unknown>> {
  return {
    ...sessionShape(story.session),
    version: story.version,
    state: stateShape(story.state),
    fences: story.fences.map(({ operation, call }) => ({ operation, call_id: call.id, state: call.state })),
    history: story.history,
  };
}

/** The stored state; only its timers are renamed for the wire. */
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
  /** Null where there was nothing; `op` distinguishes that from the value null. */
  readonly before: Json;
  readonly after: Json;
}
