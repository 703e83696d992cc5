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
import type { Moved } from '../../core/workflow/workflow.ts';
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
    }
  /** The author's own code threw: the session is stopped. */
  | (Extract<Moved, { kind: 'failed' }> & { readonly event: string });

/** Null if nothing moves: no edge, or nothing that a machine hears of. */
export function reactTo(
  call: Pick<Call, 'tool' | 'agent' | 'session'>,
  reply: RestingReply,
  { fact, inputs }: Step,
  shell: Shell,
): Reaction | null {
  const error = stepErrorOf(reply);
  if (error === null || !hasOutcome(fact, call.tool, failedOutcome)) return null;
  const now = shell.ports.clock.nowMs();
  const event = {
    type: outcomeEvent(call.tool, failedOutcome),
    inputs: maskInputs(inputs, call.agent, shell),
    error: errorAsJson(error),
  };
  const reacted = fact.workflow.machine.react(fact.snapshot, event, now);
  if (reacted.kind === 'stays') return null;
  if (reacted.kind === 'failed') return { ...reacted, event: event.type };
  return movedTo(call.session, reacted.snapshot, fact, event.type, shell);
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

async function readStanding(
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
