/** What does `--json` print? Shapes for programs: names as on the wire, times in RFC 3339. Pinned; only added to. */
import { hex } from '../../../core/journal/verify.ts';
import type { CallStory, StoredCall, StoredText, ToldRecord, VerifyReport } from '../../../shell/look/inspect.ts';

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
    records: story.records.map((record) => ({
      ...recordShape(record),
      payloads: record.payloads.map(({ part, text }) => ({
        part,
        ...textShape(text === null ? { kind: 'erased' } : { kind: 'text', text }),
      })),
    })),
  };
}

/** Without the contents of payloads: arguments and replies are for who asks for the call. */
export function recordShape(record: ToldRecord) {
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

/** `kept` tells an erased part from one that never was, and from the value null. */
function textShape(stored: StoredText) {
  return { kept: stored.kind, value: stored.kind === 'text' ? parsed(stored.text) : null };
}

/** The value, or the text as it stands if it is no JSON: a broken journal can be read too. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function timeOf(ms: number): string {
  const date = new Date(ms);
  // A damaged record may hold any number at all.
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}
