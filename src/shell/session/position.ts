/**
 * Reads the position of a workflow session: snapshot, fences, running steps and orphans, as one fact. Also manifest
 * and digests, the record that a process resumed it, the tool of a call in it, and searches in its records.
 */
import type { CallId, SessionId, Call } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { DenialFact, FenceFact, StepFact } from '../../core/workflow/step.ts';
import { isListed } from '../../core/policy/listed-tools.ts';
import { ceilingOf } from '../../core/policy/session-ceiling.ts';
import type { ActionEntry, Snapshot, Workflow } from '../../core/workflow/workflow.ts';
import { invariant } from '../../core/values/unreachable.ts';
import type { JournalEntry, Session, SnapshotDraft, StoreReader, Transition } from '../../ports/store.ts';
import { readBody } from '../look/history.ts';
import { policyOf, type Shell } from '../shell.ts';
import type { RecordDraft } from '../../core/journal/record.ts';
import type { ToolEntry } from '../../core/call/catalogue.ts';

/**
 * Sessions whose last snapshot is kept in memory, and how long its text may be: a longer one is read anew each time.
 */
const maxRemembered = 4_096;
const maxRememberedChars = 8_192;

/** Null if the session has no workflow, or one that this gateway does not serve. */
export async function readStep(
  session: Session,
  takenBy: CallId | null,
  drift: readonly string[] | null,
  shell: Shell,
): Promise<StepFact | null> {
  const workflow = session.workflow === null ? undefined : shell.workflows.get(session.workflow.name);
  if (workflow === undefined) return null;
  const { snapshot, digest } = await snapshotOf(session, shell);
  const fences = await fencesOf(session.id, shell);
  // A tool run whose result is known is not waited for: the next equal step takes the result and sends nothing.
  const known = new Set(fences.flatMap(({ inDoubt, callId }) => (inDoubt ? [] : [callId])));
  const bodies = orphansOf(session.id, shell).filter(({ callId }) => !known.has(callId));
  const running = [...bodies, ...(await turnHolder(session, shell))];
  const isOpen = session.state === 'open';
  const policy = policyOf(session.agent, shell);
  const ceiling = ceilingOf(session.id);
  const isListedTo = (action: ActionEntry) => isListed(action, policy, ceiling);
  return {
    workflow,
    snapshot,
    seq: session.seq,
    isOpen,
    digest,
    fences,
    running,
    takenBy,
    isListed: isListedTo,
    drift,
  };
}

export async function fencesOf(id: SessionId, shell: Shell): Promise<readonly FenceFact[]> {
  return (await shell.ports.store.fences(id)).map(({ operation, call }): FenceFact => ({
    operation,
    callId: call.id,
    session: call.session,
    fingerprint: call.fingerprint,
    inDoubt: call.state === 'IN_DOUBT',
  }));
}

/** What upstreams forbade in this session, until a person has answered. */
export async function denialsOf(id: SessionId, { ports }: Shell): Promise<readonly DenialFact[]> {
  return (await ports.store.ticketFences(id)).map(({ id: ticket, fence, tool, call, queue }): DenialFact => ({
    operation: fence?.operation ?? tool,
    callId: call,
    ticket,
    queue,
  }));
}

/** The step that has the turn: it is not offered as a next action meanwhile. */
async function turnHolder({ workflow }: Session, shell: Shell): Promise<StepFact['running']> {
  const callId = workflow?.turn?.call;
  if (callId === undefined) return [];
  const action = shell.live.running.get(callId)?.call.tool ?? (await shell.ports.store.call(callId))?.tool;
  return action === undefined ? [] : [{ callId, action, hasTurn: true }];
}

export function orphansOf(id: SessionId, shell: Shell): StepFact['running'] {
  const orphans = shell.live.orphanSteps.get(id);
  return orphans === undefined ? [] : [...orphans].map(([callId, action]) => ({ callId, action, hasTurn: false }));
}

export async function snapshotOf(session: Session, shell: Shell) {
  const known = shell.live.snapshots.get(session.id);
  if (known !== undefined && known.seq === session.seq) return known;
  const text = await shell.ports.store.snapshot(session.id, session.seq);
  invariant(text !== null, `the state of session ${session.id} at ${session.seq} is on record`);
  const snapshot = freeze(JSON.parse(text)) as Snapshot;
  const read = { seq: session.seq, snapshot, digest: digestOf(session.id, text, shell) };
  return text.length > maxRememberedChars ? read : remember(session.id, read, shell);
}

function remember<Kept extends { seq: number; snapshot: Snapshot; digest: string }>(
  id: SessionId,
  kept: Kept,
  shell: Shell,
): Kept {
  const { snapshots } = shell.live;
  if (snapshots.size >= maxRemembered && !snapshots.has(id)) snapshots.clear();
  snapshots.set(id, kept);
  return kept;
}

/**
 * Salted with the handle: equal states of two sessions have different digests, so a digest reveals nothing by itself.
 */
export function digestOf(id: SessionId, text: string, shell: Shell): string {
  return shell.ports.sha256(`${id}\u0000${text}`);
}

export function draftOf(snapshot: Snapshot): SnapshotDraft {
  return { text: canonicalText(snapshot as never), dueAtMs: snapshot.timers[0]?.dueAtMs ?? null };
}

const hashes = new WeakMap<Workflow, string>();

/** A workflow does not change while the gateway runs: it is hashed once. */
export function manifestOf(workflow: Workflow, shell: Shell): string {
  const known = hashes.get(workflow) ?? shell.ports.sha256(workflow.manifest);
  hashes.set(workflow, known);
  return known;
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}

/** Sessions that this process has written to. One that is forgotten gets another `session_resumed` record. */
const maxWritten = 10_000;

/**
 * The record before this process's first write to a session; none if it opened the session, or has written to it
 * already.
 */
export function resumption(
  id: SessionId | null,
  { seq, digest }: Pick<StepFact, 'seq' | 'digest'>,
  { live }: Shell,
): readonly RecordDraft[] {
  if (id === null || live.written.has(id)) return [];
  const body = canonicalText({ state_before: digest, state_after: digest, step: seq });
  return [{ kind: 'session_resumed', call: null, session: id, body, payloads: [] }];
}

/** After a commit: notes that this process has written to the session. */
export function rememberWritten({ session, records: [first] }: Transition, { live }: Shell): void {
  if (first?.kind === 'session_resumed' && first.session !== null) rememberOne(first.session, live.written);
  else if (session?.kind === 'open' && session.session.workflow !== null) rememberOne(session.session.id, live.written);
}

function rememberOne(id: SessionId, written: Set<SessionId>): void {
  // A Set keeps the order of insertion: the first is the oldest.
  const [oldest] = written.size < maxWritten || written.has(id) ? [] : written;
  if (oldest !== undefined) written.delete(oldest);
  written.add(id);
}

export interface FoundTool {
  /** Undefined if this gateway does not have it. */
  readonly tool: ToolEntry | undefined;
  readonly step: StepFact | null;
}

export async function toolOf(call: Call, shell: Shell): Promise<FoundTool> {
  const session = call.session === null ? null : await shell.ports.store.session(call.session);
  if (session === null || session.workflow === null) return { tool: shell.catalogue().get(call.tool), step: null };
  const step = await readStep(session, null, null, shell);
  return { tool: step?.workflow.catalogue.get(call.tool), step };
}

/**
 * INVARIANT: a step begun under one version of its workflow is not sent again, nor its state moved, under another
 * version.
 */
export async function toolToResend(call: Call, shell: Shell): Promise<FoundTool> {
  const found = await toolOf(call, shell);
  if (found.step === null || call.session === null) return found;
  const session = await shell.ports.store.session(call.session);
  const isPinned = session?.workflow?.manifest === manifestOf(found.step.workflow, shell);
  return isPinned ? found : { ...found, tool: undefined };
}

/** When the session got this sequence; null if its records do not say. */
export async function timeOfStep(session: Session, seq: number, reader: StoreReader): Promise<number | null> {
  const isStep = ({ body }: JournalEntry) => {
    const { step, state_after: stateAfter } = readBody(body);
    return step === seq && typeof stateAfter === 'string';
  };
  return (await findRecord(session.id, 0, isStep, reader))?.timeMs ?? null;
}

/** Whether the session was reset after this call had ended. */
export async function wasResetSince(call: CallId, session: SessionId, reader: StoreReader): Promise<boolean> {
  // The call may have further records: that its requester left can come to light much later.
  const ended = (await reader.recordsOf(call)).findLast(({ kind }) => kind === 'settled');
  const isReset = ({ kind }: JournalEntry) => kind === 'session_reset';
  return (await findRecord(session, ended?.sessionSeq ?? 0, isReset, reader)) !== undefined;
}

/** The same for a call that may not have ended, since it began. */
export async function wasResetAfter(call: CallId, session: SessionId, reader: StoreReader): Promise<boolean> {
  const began = (await reader.recordsOf(call)).find(({ sessionSeq }) => sessionSeq > 0);
  return (
    (await findRecord(session, began?.sessionSeq ?? 0, ({ kind }) => kind === 'session_reset', reader)) !== undefined
  );
}

const searchPageSize = 500;

/** The first record of the session after `after` that matches. */
async function findRecord(
  session: SessionId,
  after: number,
  matches: (record: JournalEntry) => boolean,
  reader: StoreReader,
): Promise<JournalEntry | undefined> {
  for (let from = after; ;) {
    const page = await reader.sessionEntries(session, from, searchPageSize);
    const found = page.find(matches);
    const last = page.at(-1);
    if (found !== undefined || last === undefined || page.length < searchPageSize) return found;
    from = last.sessionSeq;
  }
}
