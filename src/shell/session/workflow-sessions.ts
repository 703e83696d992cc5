/**
 * Opens, forks, resets and closes workflow sessions. Each is recorded as a step of the system; none happens while a
 * step of the session runs.
 */
import type { Principal, SessionId } from '../../core/call/call.ts';
import { canonicalText } from '../../core/values/canonical.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { RecordKind } from '../../core/journal/record.ts';
import type { Reach } from '../../core/policy/policy.ts';
import { ceilingOf, withCeiling } from '../../core/policy/session-ceiling.ts';
import { readLater } from '../../core/workflow/stage-rule.ts';
import type { FenceFact, StepFact } from '../../core/workflow/step.ts';
import type { Snapshot, Workflow } from '../../core/workflow/workflow.ts';
import type { CommitResult, Session } from '../../ports/store.ts';
import { closeSession, type NoRoom, withRoom } from './session-upkeep.ts';
import { commit } from '../upkeep/commit.ts';
import { digestOf, draftOf, manifestOf, resumption, snapshotOf, timeOfStep } from './position.ts';
import { rememberBlobs } from '../upkeep/record-runtime.ts';
import type { Shell } from '../shell.ts';
import { bare, noChange } from '../ending/transition.ts';

export type Opened =
  | { readonly kind: 'opened'; readonly session: Session }
  /** The workflow cannot begin: its own code threw. */
  | { readonly kind: 'broken'; readonly problem: string }
  | NoRoom;

/** Opens a session in the initial state. `forStep`: see NewSession. */
export async function openWorkflow(
  workflow: Workflow,
  who: Principal,
  shell: Shell,
  ceiling: Reach | null = null,
  forStep = false,
): Promise<Opened> {
  const started = workflow.machine.start(shell.ports.clock.nowMs());
  if (started.kind === 'failed') return { kind: 'broken', problem: started.problem };
  const { snapshot } = started;
  return openWorkflowAt(
    { workflow, snapshot, who, kind: 'session_opened', about: {}, fences: [], ceiling, forStep },
    shell,
  );
}

/** A workflow session that is to be opened. */
interface NewSession {
  readonly workflow: Workflow;
  /** The state that it begins with. */
  readonly snapshot: Snapshot;
  readonly who: Principal;
  /** The kind of the record that opens it. */
  readonly kind: RecordKind;
  /** Further fields of that record. */
  readonly about: JsonObject;
  readonly fences: readonly FenceFact[];
  /** The most that its steps may do; a fork has the ceiling of its source. */
  readonly ceiling: Reach | null;
  /** It is opened for a step, and is not closed for lack of room before that step has begun. */
  readonly forStep?: boolean;
  /** The session that it is forked from. */
  readonly source?: SessionId;
}

/** The state after step `at`; if it is not kept, the first step that can be forked. */
export async function snapshotToFork(
  session: Session,
  at: number,
  shell: Shell,
): Promise<Snapshot | { readonly first: number | null }> {
  const { store } = shell.ports;
  const since = session.workflow?.pinnedAtSeq ?? 0;
  // INVARIANT: a fork is pinned to the present workflow, so it takes no state that was made under another one.
  const kept = !Number.isSafeInteger(at) || at < since ? null : await store.snapshot(session.id, at);
  if (kept === null) return { first: await store.firstSnapshot(session.id, since) };
  const snapshot = JSON.parse(kept) as Snapshot;
  // What is tried again later is a call of the session that it failed in, and is made once.
  const own = { ...snapshot, timers: snapshot.timers.filter((timer) => readLater(timer) === null) };
  return rearmTimers(own, session, at, shell);
}

/** The fork begins now: its timers get the waiting time that was left at the past step. */
async function rearmTimers(snapshot: Snapshot, session: Session, at: number, shell: Shell): Promise<Snapshot> {
  const then = snapshot.timers.length === 0 ? null : await timeOfStep(session, at, shell.ports.store);
  if (then === null) return snapshot;
  const laterMs = Math.max(0, shell.ports.clock.nowMs() - then);
  return { ...snapshot, timers: snapshot.timers.map((timer) => ({ ...timer, dueAtMs: timer.dueAtMs + laterMs })) };
}

/** Opens a session with the state of `session` after step `at`; it belongs to the same agent. */
export function openFork(
  session: Session,
  fact: StepFact,
  { at, snapshot, by }: { readonly at: number; readonly snapshot: Snapshot; readonly by: string },
  shell: Shell,
): Promise<Opened> {
  const { id: source, tenant, agent } = session;
  // INVARIANT: a call in doubt is in doubt in every session forked from there, and its outcome is adopted in each.
  const { workflow, fences } = fact;
  const about = { from: source, from_step: at, ...byPerson(by, session) };
  const origin = { about, fences, ceiling: ceilingOf(source), source };
  return openWorkflowAt({ workflow, snapshot, who: { tenant, agent }, kind: 'session_forked', ...origin }, shell);
}

function openWorkflowAt(wanted: NewSession, shell: Shell): Promise<Opened> {
  return withRoom(() => open(wanted, shell), shell, wanted.source);
}

async function open(
  { workflow, snapshot, who, kind, about, fences, ceiling, forStep = false }: NewSession,
  shell: Shell,
): Promise<Opened> {
  const draft = bare(shell);
  const id = withCeiling(shell.ports.ids.random(`ses_${shell.storeTag}_`), ceiling) as SessionId;
  const state = draftOf(snapshot);
  const manifest = manifestOf(workflow, shell);
  const pinned = { name: workflow.name, manifest, pinnedAtSeq: 0, turn: null, timerAtMs: state.dueAtMs, reason: null };
  const times = { openedAtMs: draft.atMs, usedAtMs: draft.atMs };
  const session: Session = {
    id,
    ...who,
    standing: false,
    state: 'open',
    seq: 0,
    entries: 0,
    ...times,
    workflow: pinned,
  };
  const body = canonicalText({
    tenant: who.tenant,
    agent: who.agent,
    workflow: workflow.name,
    manifest,
    state_after: digestOf(id, state.text, shell),
    step: 0,
    ...about,
  });
  const fresh = !shell.live.knownBlobs.has(manifest);
  if (forStep) shell.live.room.beginning.add(id);
  const result = await commit(
    {
      ...draft,
      session: {
        kind: 'open',
        session,
        snapshot: state,
        fences: fences.map(({ callId, operation }) => ({ call: callId, operation })),
      },
      blobs: fresh ? [{ hash: manifest, text: workflow.manifest }] : [],
      records: [{ kind, call: null, session: id, body, payloads: [] }],
    },
    shell,
  );
  if (result.kind !== 'committed') shell.live.room.beginning.delete(id);
  if (result.kind === 'unavailable') return { kind: 'unavailable', fault: result.fault };
  if (result.kind === 'conflict') return { kind: 'unavailable', fault: 'overloaded' };
  rememberBlobs([{ hash: manifest }], shell);
  return { kind: 'opened', session };
}

/** Who did it on behalf of the agent. */
export const byPerson = (by: string, { agent }: Pick<Session, 'agent'>): { readonly by?: string } =>
  by === agent ? {} : { by };

/** Back to the initial state. A call in doubt stays fenced: a reset does not tell what it did. */
export async function resetTo(session: Session, snapshot: Snapshot, by: string, shell: Shell): Promise<CommitResult> {
  const { digest } = await snapshotOf(session, shell);
  const workflow = shell.workflows.get(session.workflow?.name ?? '');
  const draft = draftOf(snapshot);
  const manifest = workflow === undefined ? null : manifestOf(workflow, shell);
  const body = canonicalText({
    state_before: digest,
    state_after: digestOf(session.id, draft.text, shell),
    step: session.seq + 1,
    manifest,
    ...byPerson(by, session),
  });
  shell.live.streaks.delete(session.id);
  return commit(
    {
      ...bare(shell),
      blobs: workflow === undefined || manifest === null ? [] : [{ hash: manifest, text: workflow.manifest }],
      session: {
        kind: 'step',
        id: session.id,
        advance: true,
        expectSeq: session.seq,
        expectOpen: false,
        workflow: { ...noChange, turn: 'free', snapshot: draft, becomes: { state: 'open', reason: null }, manifest },
      },
      records: [
        ...resumption(session.id, { seq: session.seq, digest }, shell),
        { kind: 'session_reset', call: null, session: session.id, body, payloads: [] },
      ],
    },
    shell,
  );
}

/** For the sweeper: closes sessions that were not used for their whole time to live. */
export async function closeUnusedSessions(shell: Shell): Promise<void> {
  if (shell.workflows.size === 0) return;
  const before = shell.ports.clock.nowMs() - shell.limits.sessionTtlMs;
  for (const idle of await shell.ports.store.idleSessions(before, shell.limits.sweepBatch))
    await closeSession(idle, 'unused', shell);
}

/**
 * Closes a session opened for a first step that another process took elsewhere. If that fails, it is closed later as
 * unused.
 */
export async function closeSuperseded(session: Session, shell: Shell): Promise<void> {
  await closeSession(session, 'superseded', shell);
}
