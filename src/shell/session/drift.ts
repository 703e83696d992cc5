/**
 * Detects that a session is pinned to an older version of its workflow (drift). Runs the declared migration and
 * records it; without one, the session takes no step until somebody accepts the change. Policy is not part of the pin.
 */
import { canonicalText } from '../../core/values/canonical.ts';
import { isObject, type JsonObject } from '../../core/values/json.ts';
import { compareManifests, type Comparison } from '../../core/workflow/compare-manifests.ts';
import { ignoreRejection } from '../../core/workflow/read/copy-json.ts';
import type { StepFact } from '../../core/workflow/step.ts';
import type { Migration, Position, Snapshot, Workflow } from '../../core/workflow/workflow.ts';
import type { CommitResult, Session } from '../../ports/store.ts';
import { commit } from '../upkeep/commit.ts';
import { digestOf, draftOf, manifestOf, readStep, snapshotOf, resumption } from './position.ts';
import type { Shell } from '../shell.ts';
import { bare, noChange } from '../ending/transition.ts';

export interface Pinned {
  readonly session: Session;
  /** Null if nothing differs. */
  readonly drift: readonly string[] | null;
}

export type Unavailable = Extract<CommitResult, { kind: 'unavailable' }>;

/** Migrates the session if its workflow changed and has a migration from that version; otherwise reports the drift. */
export async function migrateIfChanged(session: Session, shell: Shell): Promise<Pinned | Unavailable> {
  let now = session;
  for (let tries = 0; ; tries++) {
    const ahead = await planMigration(now, shell);
    if (ahead.kind !== 'move') return { session: now, drift: ahead.drift };
    const result = await commitMove(now, ahead, shell);
    if (result.kind === 'unavailable') return result;
    now = (await shell.ports.store.session(session.id)) ?? now;
    if (result.kind === 'committed') return { session: now, drift: null };
    // Another process may have migrated it already, or taken a step: decide again from what is stored now.
    if (tries >= shell.limits.maxRedecisions) return { session: now, drift: ahead.changed };
  }
}

/** A planned move to the present version of the workflow. Nothing is written yet. */
interface Move {
  readonly kind: 'move';
  readonly workflow: Workflow;
  readonly snapshot: Snapshot;
  readonly atMs: number;
  readonly why: JsonObject;
  readonly changed: readonly string[];
}

/** The session is not moved; `drift` is null if nothing differs. */
interface Stay {
  readonly kind: 'stay';
  readonly drift: readonly string[] | null;
}

const stay = (drift: readonly string[] | null): Stay => ({ kind: 'stay', drift });

/** Plans the migration that the next step would run first. Writes nothing, so it also serves those who only read. */
async function planMigration(session: Session, shell: Shell): Promise<Move | Stay> {
  const change = await findChange(session, shell);
  if (change === null) return stay(null);
  const { workflow, comparison } = change;
  const { version, changed } = comparison;
  const migration = version === null ? undefined : workflow.migrations.get(version);
  if (migration === undefined || session.state !== 'open' || session.workflow?.turn !== null) return stay(changed);
  const { snapshot } = await snapshotOf(session, shell);
  const migrated = migrate(snapshot, migration);
  if ('problem' in migrated) return stay([...changed, `its migration failed: ${migrated.problem}`]);
  return planMove(session, change, migrated, { by: 'migration', from_version: version }, shell);
}

/** The state that the next step would be judged in, after a migration if one is due. Writes nothing. */
export async function readAhead(session: Session, shell: Shell): Promise<StepFact | null> {
  const ahead = await planMigration(session, shell);
  const found = await readStep(session, null, ahead.kind === 'move' ? null : ahead.drift, shell);
  return found === null || ahead.kind !== 'move' ? found : { ...found, snapshot: ahead.snapshot };
}

/** Accepts the changed workflow on behalf of `by`: the state is kept, if it is still valid. */
export async function acceptDrift(session: Session, by: string, shell: Shell): Promise<CommitResult | Stay> {
  const change = await findChange(session, shell);
  if (change === null) return stay(null);
  const { snapshot } = await snapshotOf(session, shell);
  const why = { by: 'acceptance', accepted_by: by, agent: session.agent };
  const move = await planMove(session, change, snapshot, why, shell);
  return move.kind === 'move' ? commitMove(session, move, shell) : move;
}

interface Change {
  readonly workflow: Workflow;
  readonly comparison: Comparison;
}

/** Null if the session is pinned to the version that is served, or this gateway does not serve its workflow. */
async function findChange(session: Session, shell: Shell): Promise<Change | null> {
  const workflow = shell.workflows.get(session.workflow?.name ?? '');
  if (workflow === undefined || session.workflow === null) return null;
  if (session.workflow.manifest === manifestOf(workflow, shell)) return null;
  const before = await shell.ports.store.blob(session.workflow.manifest);
  return { workflow, comparison: compareManifests(before, workflow.manifest) };
}

async function planMove(
  session: Session,
  { workflow, comparison: { machine, changed } }: Change,
  to: Position,
  why: JsonObject,
  shell: Shell,
): Promise<Move | Stay> {
  const { snapshot } = await snapshotOf(session, shell);
  const atMs = shell.ports.clock.nowMs();
  const entered = workflow.machine.enterAt({ snapshot, machine }, to, atMs);
  if (entered.kind === 'failed') return stay([...changed, `its state does not fit any more: ${entered.problem}`]);
  return { kind: 'move', workflow, snapshot: entered.snapshot, atMs, why, changed };
}

async function commitMove(
  session: Session,
  { workflow, snapshot, atMs, why, changed }: Move,
  shell: Shell,
): Promise<CommitResult> {
  const { digest } = await snapshotOf(session, shell);
  const draft = draftOf(snapshot);
  const manifest = manifestOf(workflow, shell);
  const body = canonicalText({
    ...why,
    changed: [...changed],
    manifest,
    state_before: digest,
    state_after: digestOf(session.id, draft.text, shell),
    step: session.seq + 1,
  });
  return commit(
    {
      ...bare(shell),
      atMs,
      blobs: [{ hash: manifest, text: workflow.manifest }],
      session: {
        kind: 'step',
        id: session.id,
        advance: true,
        expectSeq: session.seq,
        expectOpen: true,
        workflow: { ...noChange, turn: 'free', snapshot: draft, manifest },
      },
      records: [
        ...resumption(session.id, { seq: session.seq, digest }, shell),
        { kind: 'session_migrated', call: null, session: session.id, body, payloads: [] },
      ],
    },
    shell,
  );
}

function migrate(snapshot: Snapshot, migration: Migration): Position | { readonly problem: string } {
  try {
    const given: unknown = migration({ value: snapshot.value, context: snapshot.context });
    ignoreRejection(given);
    if (!isObject(given) || given['value'] === undefined)
      return { problem: 'it must return { value, context }, and no promise of them' };
    const { value, context } = given as unknown as Position;
    // As it will be read back: a value that is not JSON fails here.
    return JSON.parse(canonicalText({ value, context })) as Position;
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'it threw' };
  }
}
