/**
 * The position of a session when a step is requested, and what follows from it: the next actions and the visible
 * state. The shell has read all facts beforehand.
 */
import type { CallId, SessionId } from '../call/call.ts';
import { canonicalText } from '../values/canonical.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { readLater } from './stage-rule.ts';
import type { ActionEntry, Projection, Snapshot, Workflow } from './workflow.ts';

/** A step whose outcome nobody knew: still in doubt, or settled as a success that has not moved the state yet. */
export interface FenceFact {
  readonly operation: string;
  readonly callId: CallId;
  /** Where it was asked for: of a fork, that can be the session it comes from. */
  readonly session: SessionId | null;
  readonly fingerprint: string;
  readonly inDoubt: boolean;
}

/** An operation that an upstream forbade, until its ticket is answered. */
export interface DenialFact {
  readonly operation: string;
  readonly callId: CallId;
  readonly ticket: string;
  readonly queue: string;
}

export interface RunningBody {
  readonly callId: CallId;
  readonly action: string;
  /** Its step is under way: no other of its action is next, whether or not it may overlap. */
  readonly hasTurn: boolean;
}

export interface StepFact {
  readonly workflow: Workflow;
  readonly snapshot: Snapshot;
  /** Where timers that are due will have led before the next step is judged; absent if none is. */
  readonly ahead?: Snapshot;
  readonly seq: number;
  /** False while the session is stopped, cancelled or closed. */
  readonly isOpen: boolean;
  /** Identifies the snapshot in records and histories. */
  readonly digest: string;
  readonly fences: readonly FenceFact[];
  /** Absent if there are none. */
  readonly denials?: readonly DenialFact[];
  /**
   * The step that has the turn, and bodies of this session that nobody waits for any more and that have not come back.
   */
  readonly running: readonly RunningBody[];
  /** The call that still had the session's turn when waiting for it ended; null: the turn is free. */
  readonly takenBy: CallId | null;
  /** Which actions policy could ever permit to the session's agent. */
  readonly isListed: (action: ActionEntry) => boolean;
  /** What differs from the manifest that the session is pinned to; null if nothing does. */
  readonly drift: readonly string[] | null;
}

/** Legal here and now, in the order of declaration: neither fenced nor running. */
export function nextActions(step: StepFact): readonly string[] {
  if (step.drift !== null || !step.isOpen) return [];
  const doubts = step.fences.filter(({ inDoubt }) => inDoubt);
  const fenced = new Set([...doubts, ...(step.denials ?? [])].map(({ operation }) => operation));
  const isHeldBack = ({ name, overlap }: ActionEntry) =>
    step.running.some((body) => body.action === name && (body.hasTurn || !overlap));
  return step.workflow.machine.next(standingOf(step)).filter((name) => {
    const action = step.workflow.actions.get(name);
    if (action === undefined || !step.isListed(action) || isHeldBack(action)) return false;
    return !fenced.has(action.operations);
  });
}

/** Timers that fire in one go, so that a workflow that ticks every millisecond stops nobody. */
export const maxFired = 64;

/**
 * The timers that are due fire before the next step is judged: what is next is what they leave. Nothing moves by
 * asking.
 */
export function withDueFired(step: StepFact, nowMs: number): StepFact {
  const { machine } = step.workflow;
  let ahead = step.snapshot;
  for (let fired = 0; fired < maxFired && !ahead.done; fired++) {
    // A stage that is tried again is a call of its own: where it leads nobody knows.
    const timer = ahead.timers.find((each) => readLater(each) === null);
    if (timer === undefined || timer.dueAtMs > nowMs) break;
    const moved = machine.fire(ahead, timer, nowMs);
    // The session will be stopped for repair.
    if (moved.kind === 'failed') return { ...step, isOpen: false };
    ahead = moved.snapshot;
  }
  return ahead === step.snapshot ? step : { ...step, ahead };
}

/** The snapshot that replies show: state and next actions both come from it. */
export function standingOf(step: StepFact): Snapshot {
  return step.ahead ?? step.snapshot;
}

/** What of the state the workflow's author shows to agents. */
export function stateOf(step: StepFact): Json {
  return project(standingOf(step), step.workflow.projection);
}

function project(snapshot: Snapshot, projection: Projection): Json {
  if (projection === 'none') return null;
  const { value, context } = snapshot;
  if (projection === 'full') return { value, context };
  const shown = projection.filter((field) => Object.hasOwn(context, field));
  return { value, context: Object.fromEntries(shown.map((field) => [field, context[field] ?? null])) };
}

/** The inputs of these actions, as far as they can be written down and stay within so many characters together. */
export function schemasOf(workflow: Workflow, actions: readonly string[], maxChars: number): JsonObject | null {
  // An action may be called __proto__: no name is assigned to.
  const schemas = Object.fromEntries(actions.map((name) => [name, workflow.actions.get(name)?.inputSchema ?? null]));
  return canonicalText(schemas).length <= maxChars ? schemas : null;
}

/** The part of a reply that a step adds to a call. */
export interface StepView {
  readonly state: Json;
  readonly done: boolean;
  /** Only when the set of next actions changed. */
  readonly schemas: JsonObject | null;
}

const maxSchemaChars = 800;

export function viewAfter(before: StepFact, after: StepFact): StepView {
  const was = nextActions(before);
  const next = nextActions(after);
  const same = was.length === next.length && was.every((name, at) => name === next[at]);
  return {
    state: stateOf(after),
    done: standingOf(after).done,
    schemas: same || next.length === 0 ? null : schemasOf(after.workflow, next, maxSchemaChars),
  };
}

/** What is fenced if a step of this action ends in doubt. */
export function operationOf(action: ActionEntry, inputs: Json): string {
  return action.operation ?? action.operationOf(inputs);
}

/**
 * Whether a step with these inputs could be the operation in doubt. Without a key it may be any operation of the
 * action.
 */
export function mayBe(operation: string, action: ActionEntry, inputs: Json): boolean {
  const own = operationOf(action, inputs);
  if (operation === own || operation === action.operations) return true;
  return action.operation === null && own === action.operations && operation.startsWith(`${own}:`);
}

/**
 * The same for a call of a body's own, as its workflow has it: the tool, and what each action that is bound to the tool
 * would say.
 */
export function mayBeOfTool(operation: string, tool: string, { actions }: Workflow, args: Json): boolean {
  const bound = [...actions.values()].filter(({ boundTool }) => boundTool === tool);
  return operation === tool || bound.some((action) => mayBe(operation, action, args));
}
