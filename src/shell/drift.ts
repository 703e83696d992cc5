/**
 * Is the session pinned to the workflow as it is today? If not, a declared migration carries it over, on record; otherwise it
 * rests until somebody accepts the change. Policy is not part of the pin.
 */
import { canonicalText } from '../core/canonical.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { compareManifests, type Comparison } from '../core/workflow/compare-manifests.ts';
import { hush } from '../core/workflow/hush.ts';
import type { Migration, Position, Snapshot, Workflow } from '../core/workflow/workflow.ts';
import type { Session } from '../ports/store.ts';
import { commit } from './commit.ts';
import { digestOf, draftOf, manifestOf, snapshotOf } from './position.ts';
import type { Shell } from './shell.ts';
import { bare, noChange } from './transition.ts';

export interface Pinned {
  readonly session: Session;
  /** Null if nothing differs. */
  readonly drift: readonly string[] | null;
}

export async function driftOf(session: Session, shell: Shell): Promise<Pinned> {
  const workflow = shell.workflows.get(session.workflow?.name ?? '');
  if (workflow === undefined || session.workflow === null) return { session, drift: null };
  if (session.workflow.manifest === manifestOf(workflow, shell)) return { session, drift: null };
  const before = await shell.ports.store.blob(session.workflow.manifest);
  const comparison = compareManifests(before, workflow.manifest);
  const { version, changed } = comparison;
  const migration = version === null ? undefined : workflow.migrations.get(version);
  if (migration === undefined || session.state !== 'open' || session.workflow.turn !== null)
    return { session, drift: changed };
  const { snapshot } = await snapshotOf(session, shell);
  const migrated = migrate(snapshot, migration);
  if ('problem' in migrated) return { session, drift: [...changed, `its migration failed: ${migrated.problem}`] };
  return carryOver(session, workflow, migrated, { by: 'migration', from_version: version }, comparison, shell);
}

/** What differs from the pin, for somebody who only looks: nothing is carried over. */
export async function differences(session: Session, shell: Shell): Promise<readonly string[] | null> {
  const workflow = shell.workflows.get(session.workflow?.name ?? '');
  if (workflow === undefined || session.workflow === null) return null;
  if (session.workflow.manifest === manifestOf(workflow, shell)) return null;
  return compareManifests(await shell.ports.store.blob(session.workflow.manifest), workflow.manifest).changed;
}

/** On somebody's word: the state stays as it is, if it still makes sense. */
export async function acceptDrift(session: Session, by: string, shell: Shell): Promise<Pinned> {
  const workflow = shell.workflows.get(session.workflow?.name ?? '');
  if (workflow === undefined || session.workflow === null) return { session, drift: null };
  if (session.workflow.manifest === manifestOf(workflow, shell)) return { session, drift: null };
  const comparison = compareManifests(await shell.ports.store.blob(session.workflow.manifest), workflow.manifest);
  const { snapshot } = await snapshotOf(session, shell);
  return carryOver(session, workflow, snapshot, { by: 'acceptance', agent: by }, comparison, shell);
}

async function carryOver(
  session: Session,
  workflow: Workflow,
  to: Position,
  why: JsonObject,
  { machine, changed }: Comparison,
  shell: Shell,
): Promise<Pinned> {
  const { snapshot, digest } = await snapshotOf(session, shell);
  const transition = bare(shell);
  const entered = workflow.machine.enterAt({ snapshot, machine }, to, transition.atMs);
  if (entered.kind === 'failed')
    return { session, drift: [...changed, `its state does not fit any more: ${entered.problem}`] };
  const draft = draftOf(entered.snapshot);
  const manifest = manifestOf(workflow, shell);
  const body = canonicalText({
    ...why,
    changed: [...changed],
    manifest,
    state_before: digest,
    state_after: digestOf(session.id, draft.text, shell),
    step: session.seq + 1,
  });
  const result = await commit(
    {
      ...transition,
      blobs: [{ hash: manifest, text: workflow.manifest }],
      session: {
        kind: 'step',
        id: session.id,
        advance: true,
        expectSeq: session.seq,
        expectOpen: true,
        workflow: { ...noChange, turn: 'free', snapshot: draft, manifest },
      },
      records: [{ kind: 'session_migrated', call: null, session: session.id, body, payloads: [] }],
    },
    shell,
  );
  const now = (await shell.ports.store.session(session.id)) ?? session;
  // Whoever was faster may have carried it over already.
  const pinned = result.kind === 'committed' || now.workflow?.manifest === manifest;
  return { session: now, drift: pinned ? null : changed };
}

function migrate(snapshot: Snapshot, migration: Migration): Position | { readonly problem: string } {
  try {
    const given: unknown = migration({ value: snapshot.value, context: snapshot.context });
    hush(given);
    if (!isObject(given) || given['value'] === undefined)
      return { problem: 'it must return { value, context }, and no promise of them' };
    const { value, context } = given as unknown as Position;
    // As it will be read back: what is not JSON shows now.
    return JSON.parse(canonicalText({ value, context })) as Position;
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'it threw' };
  }
}
