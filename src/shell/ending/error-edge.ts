/**
 * What a step that failed, was refused, or ended by another outcome does to the state of its workflow: nothing, unless
 * the machine has an edge for it. The caller commits it together with the end of the step.
 */
import type { RestingReply } from '../../core/call/answer.ts';
import type { Call, CallId, SessionId } from '../../core/call/call.ts';
import type { Json, JsonObject } from '../../core/values/json.ts';
import { invariant } from '../../core/values/unreachable.ts';
import { errorAsJson, failedOutcome, outcomeEvent, stepErrorOf } from '../../core/workflow/step-error.ts';
import { type StepFact, type StepView, viewAfter, withDueFired } from '../../core/workflow/step.ts';
import { laterOf, maxLaterRounds, withContext, withLater, withoutLater } from '../../core/workflow/stage-rule.ts';
import type { Resolution } from '../../core/taxonomy.ts';
import type { Moved, Snapshot } from '../../core/workflow/workflow.ts';
import type { StageEnd } from '../../ports/stage.ts';
import type { SnapshotDraft, StoredCall } from '../../ports/store.ts';
import type { Step } from '../attempt/work.ts';
import { maskInputs } from '../mask.ts';
import { digestOf, draftOf, manifestOf, readStep, wasResetAfter } from '../session/position.ts';
import { awaitFreeTurn } from '../session/turn.ts';
import type { Shell } from '../shell.ts';

export type Reaction =
  | {
      readonly kind: 'moved';
      readonly snapshot: SnapshotDraft;
      readonly after: StepFact;
      readonly view: StepView;
      readonly facts: JsonObject;
      /** What helps, where it is not what the edge leads to. */
      readonly resolution?: Resolution;
    }
  /** The workflow is given up: its session is rolled back and closed. */
  | { readonly kind: 'aborted' }
  /** The author's own code threw: the session is stopped. */
  | (Extract<Moved, { kind: 'failed' }> & { readonly event: string });

/** Null if nothing moves: no edge, or nothing that a machine hears of. */
export function reactTo(
  call: Pick<Call, 'id' | 'tool' | 'agent' | 'session'>,
  reply: RestingReply,
  { fact, inputs }: Step,
  shell: Shell,
  stage?: StageEnd,
): Reaction | null {
  const error = stepErrorOf(reply);
  if (error === null) return null;
  if (stage?.resolution?.kind === 'abort') return { kind: 'aborted' };
  const later = laterReaction(call, fact, stage, shell);
  if (later !== null) return later;
  const told = { inputs: maskInputs(inputs, call.agent, shell), error: errorAsJson(error) };
  const now = shell.ports.clock.nowMs();
  const snapshot = standingAfter(fact.snapshot, call.tool, stage);
  // What a stage names comes first; where nothing hears it, it has failed like anything else.
  for (const outcome of new Set([stage?.outcome ?? failedOutcome, failedOutcome])) {
    if (!hasOutcome(fact, call.tool, outcome)) continue;
    const type = outcomeEvent(call.tool, outcome);
    const reacted = fact.workflow.machine.react(snapshot, { type, ...told }, now);
    if (reacted.kind === 'failed') return { ...reacted, event: type };
    if (reacted.kind === 'moved') return movedTo(call.session, reacted.snapshot, fact, type, shell);
  }
  return null;
}

/** A stage that is tried again later: its session waits for the time with everything else still possible. */
function laterReaction(
  call: Pick<Call, 'id' | 'tool' | 'session'>,
  fact: StepFact,
  stage: StageEnd | undefined,
  shell: Shell,
): Reaction | null {
  if (stage?.resolution?.kind !== 'retry_later') return null;
  const { afterMs } = stage.resolution;
  const round = (laterOf(fact.snapshot, call.tool)?.round ?? 0) + 1;
  if (round > maxLaterRounds) return null;
  const dueAtMs = shell.ports.clock.nowMs() + afterMs;
  const snapshot = withLater(fact.snapshot, { action: call.tool, call: call.id, round, dueAtMs });
  const moved = movedTo(call.session, Object.freeze(snapshot), fact, outcomeEvent(call.tool, 'retry_later'), shell);
  const facts = { ...moved.facts, retry_at_ms: dueAtMs, round };
  return { ...moved, facts, resolution: { type: 'retry_after', retry_after_seconds: Math.ceil(afterMs / 1_000) } };
}

/** What a step of this action starts from when its end moves the state: with what its stage has set up. */
export function standingAfter(snapshot: Snapshot, action: string, stage: StageEnd | undefined): Snapshot {
  return withContext(withoutLater(snapshot, action), stage?.context ?? {});
}

export function movedTo(
  session: SessionId | null,
  moved: StepFact['snapshot'],
  fact: StepFact,
  event: string,
  shell: Shell,
): Extract<Reaction, { kind: 'moved' }> {
  invariant(session !== null, 'a step has a session');
  const snapshot = draftOf(moved);
  const digest = digestOf(session, snapshot.text, shell);
  const next: StepFact = { ...fact, snapshot: moved, seq: fact.seq + 1, digest };
  const after = withDueFired(next, shell.ports.clock.nowMs());
  const facts = { state_before: fact.digest, state_after: digest, step: after.seq, edge: event };
  return { kind: 'moved', snapshot, after, view: viewAfter(fact, after), facts };
}

/** Whether any edge waits for it: a workflow without pays nothing. */
export function hasOutcome({ workflow }: StepFact, action: string, outcome: string): boolean {
  const event = outcomeEvent(action, outcome);
  return workflow.graph.edges.some((edge) => edge.kind === 'outcome' && edge.action === event);
}

/**
 * Where the session of a step stands now, for an end that comes later than the step: after a doubt, or in another
 * process. Null if its state cannot move: it was reset since, changed its workflow, is not open, or nothing waits for it.
 * Another step that has the turn is waited for.
 */
export async function standingNow(
  call: Pick<StoredCall, 'id' | 'session' | 'tool'>,
  waitMs: number,
  shell: Shell,
): Promise<StepFact | null> {
  const fact = await readStanding(call, shell);
  if (fact === null || !hasOutcome(fact, call.tool, failedOutcome)) return null;
  const { session } = call;
  invariant(session !== null, 'a step has a session');
  const holder = await awaitFreeTurn(session, call.id, waitMs, shell);
  if (holder !== null || (await wasResetAfter(call.id, session, shell.ports.store))) return null;
  return readStanding(call, shell);
}

/** Null unless the session is open and pinned to the workflow that is served. */
export async function readStanding(
  { session: id }: { readonly session: SessionId | null; readonly id: CallId },
  shell: Shell,
): Promise<StepFact | null> {
  const session = id === null ? null : await shell.ports.store.session(id);
  if (session === null || session.workflow === null || session.state !== 'open') return null;
  const fact = await readStep(session, null, null, shell);
  const isPinned = fact !== null && session.workflow.manifest === manifestOf(fact.workflow, shell);
  return isPinned ? fact : null;
}

/** The inputs of a step as they are on record; null if they are not there any more. */
export async function inputsOnRecord(id: CallId, { ports }: Shell): Promise<Json> {
  const args = await ports.store.args(id);
  return args.kind === 'text' ? (JSON.parse(args.text) as Json) : null;
}
