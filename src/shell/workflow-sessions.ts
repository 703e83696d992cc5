/**
 * Opens, resets, forks and closes workflow sessions. Each is a step of the system's own, on record; none of them happens while
 * a step of the session runs.
 */
import type { Principal, SessionId } from '../core/call.ts';
import { canonicalText } from '../core/canonical.ts';
import type { JsonObject } from '../core/json.ts';
import type { RecordKind } from '../core/journal/record.ts';
import type { Reach } from '../core/policy/policy.ts';
import { withCeiling } from '../core/policy/session-ceiling.ts';
import type { FenceFact } from '../core/workflow/step.ts';
import type { Snapshot, Workflow } from '../core/workflow/workflow.ts';
import type { CommitResult, Session, StoreFault } from '../ports/store.ts';
import { commit } from './commit.ts';
import { digestOf, draftOf, manifestOf, snapshotOf } from './position.ts';
import { rememberBlobs } from './policy-papers.ts';
import type { Shell } from './shell.ts';
import { bare, noChange } from './transition.ts';

export type Opened =
  | { readonly kind: 'opened'; readonly session: Session }
  /** The workflow cannot even begin: its own code threw. */
  | { readonly kind: 'broken'; readonly problem: string }
  /** Every session is in use. */
  | { readonly kind: 'full' }
  | { readonly kind: 'unavailable'; readonly fault: StoreFault };

export async function openWorkflow(
  workflow: Workflow,
  who: Principal,
  shell: Shell,
  ceiling: Reach | null = null,
): Promise<Opened> {
  const started = workflow.machine.start(shell.ports.clock.nowMs());
  if (started.kind === 'failed') return { kind: 'broken', problem: started.problem };
  return openAt(workflow, started.snapshot, who, 'session_opened', { about: {}, fences: [], ceiling }, shell);
}

/** What a session brings along from where it comes. */
export interface Origin {
  readonly about: JsonObject;
  readonly fences: readonly FenceFact[];
  /** How far its steps may reach; a fork reaches no further than where it comes from. */
  readonly ceiling: Reach | null;
}

export async function openAt(
  workflow: Workflow,
  snapshot: Snapshot,
  who: Principal,
  kind: RecordKind,
  { about, fences, ceiling }: Origin,
  shell: Shell,
): Promise<Opened> {
  if (!(await makeRoom(shell))) return { kind: 'full' };
  const draft = bare(shell);
  const id = withCeiling(shell.ports.ids.random(`ses_${shell.storeTag}_`), ceiling) as SessionId;
  const state = draftOf(snapshot);
  const manifest = manifestOf(workflow, shell);
  const pinned = { name: workflow.name, manifest, turn: null, timerAtMs: state.dueAtMs, reason: null };
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
  if (result.kind === 'unavailable') return { kind: 'unavailable', fault: result.fault };
  if (result.kind === 'conflict') return { kind: 'unavailable', fault: 'overloaded' };
  rememberBlobs([{ hash: manifest }], shell);
  return { kind: 'opened', session };
}

/** Back to where the workflow begins. What is in doubt stays fenced: a reset does not tell what happened. */
export async function resetTo(session: Session, snapshot: Snapshot, shell: Shell): Promise<CommitResult> {
  const { digest } = await snapshotOf(session, shell);
  const workflow = shell.workflows.get(session.workflow?.name ?? '');
  const draft = draftOf(snapshot);
  const manifest = workflow === undefined ? null : manifestOf(workflow, shell);
  const body = canonicalText({
    state_before: digest,
    state_after: digestOf(session.id, draft.text, shell),
    step: session.seq + 1,
    manifest,
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
      records: [{ kind: 'session_reset', call: null, session: session.id, body, payloads: [] }],
    },
    shell,
  );
}

/** True if one more session fits, if need be by closing the one that nobody used for the longest time. */
async function makeRoom(shell: Shell): Promise<boolean> {
  const { store } = shell.ports;
  if ((await store.countSessions()) < shell.limits.maxSessions) return true;
  // INVARIANT: a session in which a step runs or a timer waits is never given up.
  for (const idle of await store.idleSessions(Number.MAX_SAFE_INTEGER, 8))
    if (await close(idle, 'capacity', shell)) return true;
  return false;
}

/** For the sweeper: sessions that nobody used for their whole time to live. */
export async function closeUnused(shell: Shell): Promise<void> {
  if (shell.workflows.size === 0) return;
  const before = shell.ports.clock.nowMs() - shell.limits.sessionTtlMs;
  for (const idle of await shell.ports.store.idleSessions(before, shell.limits.sweepBatch))
    await close(idle, 'unused', shell);
}

async function close(session: Session, reason: 'capacity' | 'unused', shell: Shell): Promise<boolean> {
  const workflow = { ...noChange, turn: 'free', becomes: { state: 'closed', reason } } as const;
  const result = await commit(
    {
      ...bare(shell),
      session: { kind: 'step', id: session.id, advance: false, expectSeq: session.seq, expectOpen: false, workflow },
      records: [
        { kind: 'session_closed', call: null, session: session.id, body: canonicalText({ reason }), payloads: [] },
      ],
    },
    shell,
  );
  shell.live.snapshots.delete(session.id);
  shell.live.streaks.delete(session.id);
  return result.kind === 'committed';
}
