/**
 * Compiles an author's XState machine into the machine of a workflow, or reports every problem. Answers depend on the
 * snapshot alone; no session is kept here.
 */
import type { AnyStateMachine } from 'xstate';
import { isObject, type Json, type JsonObject } from '../values/json.ts';
import { activeStates } from './active-states.ts';
import { messageOf } from './read/author-code.ts';
import { checkDraft } from './read/check-draft.ts';
import { checkSnapshot } from './run/check-snapshot.ts';
import { enterAt } from './run/enter-at.ts';
import type { WorkflowGraph } from './graph.ts';
import { probeWith, probeWithoutInputs, type Probe } from './read/inputs-trap.ts';
import { judgeReach } from './run/judge-reach.ts';
import type { EdgeDraft, GuardRule, MachineDraft, StateDraft } from './read/machine-draft.ts';
import type { RunLimits } from './run/settle-snapshot.ts';
import { copyJson } from './read/copy-json.ts';
import { readMachine } from './read/read-machine.ts';
import { failedOutcome, type Outcomes, readOutcome } from './step-error.ts';
import { runMachine, type Update } from './run/run-machine.ts';
import type { Machine, Reach, Snapshot } from './workflow.ts';
import { writeGraph } from './write-graph.ts';
import { unreachable } from '../values/unreachable.ts';

export interface CompileOptions {
  readonly name: string;
  /** In the order of declaration, each with what it changes in the context. */
  readonly actions: ReadonlyMap<string, Update | null>;
  /** What else its steps may end as, by action: `failed` if not given. */
  readonly outcomes?: Outcomes;
  /** The canonical text of a snapshot takes at most this much. */
  readonly maxStateBytes?: number;
}

export type Compiled =
  | { readonly ok: true; readonly machine: Machine; readonly graph: WorkflowGraph; readonly written: JsonObject }
  /** Each names its place and what to do. */
  | { readonly ok: false; readonly problems: readonly string[]; readonly routes?: ProblemRoutes };

/** By problem, where it has one: the names from the root down to the state that it is about. */
export type ProblemRoutes = ReadonlyMap<string, readonly string[]>;

export const defaultMaxStateBytes = 256 * 1_024;
const maxMicrosteps = 1_000;
const maxContextDepth = 64;
const maxTimers = 256;

/** Of an action that is no stage. */
const plain = [failedOutcome];

const nowhere: Reach = { kind: 'no', blockedBy: [] };

export function compileMachine(machine: AnyStateMachine, options: CompileOptions): Compiled {
  const maxStateBytes = options.maxStateBytes ?? defaultMaxStateBytes;
  const limits: RunLimits = {
    maxDepth: maxContextDepth,
    // No character is written in less than a byte.
    maxChars: maxStateBytes,
    maxStateBytes,
    maxMicrosteps,
    maxTimers,
  };
  const problems: string[] = [];
  const about = new Map<string, StateDraft>();
  const outcomes = new Map(
    [...options.actions.keys()].map((action) => [action, options.outcomes?.get(action) ?? plain]),
  );
  const draft = readSafely(machine, { name: options.name, outcomes }, limits, problems, about);
  if (draft === null || problems.length > 0) {
    const routes = new Map([...about].map(([problem, state]) => [problem, routeOf(state)]));
    return { ok: false, problems: [...new Set(problems)], routes };
  }
  const written = writeMachine(draft);
  const compiled = machineOf(draft, written, options.actions, limits, outcomes);
  // Times are those of a session; that it can begin at all does not depend on them.
  const started = compiled.start(0);
  if (started.kind === 'failed') {
    return { ok: false, problems: [`the workflow cannot begin: ${started.problem} (${started.errorType})`] };
  }
  return { ok: true, machine: compiled, graph: writeGraph(draft, new Set(options.actions.keys())), written };
}

function routeOf({ name, parent }: StateDraft): readonly string[] {
  return parent === null ? [] : [...routeOf(parent), name];
}

/** A machine is the author's own object: reading it may throw. */
function readSafely(
  machine: AnyStateMachine,
  { name, outcomes }: { readonly name: string; readonly outcomes: Outcomes },
  limits: RunLimits,
  problems: string[],
  about: Map<string, StateDraft>,
): MachineDraft | null {
  try {
    const isOutcome = (event: string) => readOutcome(event, outcomes) !== null;
    const draft = readMachine(machine, { name, isOutcome }, limits, problems);
    if (draft !== null) checkDraft(draft, outcomes, problems, about);
    return draft;
  } catch (thrown) {
    problems.push(`the machine cannot be read: ${messageOf(thrown)}`);
    return null;
  }
}

function machineOf(
  draft: MachineDraft,
  written: JsonObject,
  updates: ReadonlyMap<string, Update | null>,
  limits: RunLimits,
  outcomes: Outcomes,
): Machine {
  const actions = [...updates.keys()];
  const probes = new Map(actions.map((action) => [action, probeWithoutInputs(action)]));
  const owned = new WeakMap<object, JsonObject>();

  /** Whoever made the snapshot may still write to it; guards see a frozen copy, made once for each. */
  function contextOf({ context }: Snapshot): JsonObject | null {
    if (!isObject(context)) return null;
    const known = owned.get(context);
    if (known !== undefined) return known;
    const copy = copyJson(context, { ...limits, maxChars: Number.MAX_SAFE_INTEGER });
    if (!copy.ok) return null;
    owned.set(context, copy.value as JsonObject);
    return copy.value as JsonObject;
  }

  function judge(snapshot: Snapshot, asked: readonly (readonly [string, Probe])[]): readonly Reach[] {
    const active = activeStates(draft.root, snapshot.value);
    const context = contextOf(snapshot);
    if (active === null || context === null || snapshot.done) return asked.map(() => nowhere);
    const standing = { context, value: active.value, active: active.states };
    return asked.map(([action, probe]) => judgeReach(draft.root, action, { ...standing, probe }));
  }

  const all = [...probes];
  return {
    ...runMachine(draft, updates, contextOf, limits, (event) => readOutcome(event, outcomes) !== null),
    reach(snapshot, action) {
      const probe = probes.get(action);
      return probe === undefined ? nowhere : (judge(snapshot, [[action, probe]])[0] ?? nowhere);
    },
    reachWith(snapshot, action, inputs: Json) {
      if (!probes.has(action)) return nowhere;
      const copy = copyJson(inputs, { maxDepth: 256, maxChars: Number.MAX_SAFE_INTEGER });
      if (!copy.ok) return { kind: 'broken', guard: action, problem: 'the inputs are not JSON', blockedBy: [] };
      return judge(snapshot, [[action, probeWith(action, copy.value)]])[0] ?? nowhere;
    },
    next(snapshot) {
      const found = judge(snapshot, all);
      return actions.filter((_, index) => found[index]?.kind === 'yes' || found[index]?.kind === 'depends');
    },
    enterAt: (earlier, to, nowMs) => enterAt({ draft, written, limits }, earlier, to, nowMs),
    problemWith: (snapshot) => checkSnapshot(draft, snapshot),
  };
}

function writeMachine(draft: MachineDraft): JsonObject {
  return { context: draft.contextWritten, delays: draft.delaysWritten, root: writeState(draft.root) };
}

function writeState(state: StateDraft): JsonObject {
  const { type, initial, history, historyTo, entry, exit, edges, children } = state;
  return {
    type,
    ...(initial === null ? {} : { initial: initial.to.name }),
    ...(initial === null || initial.actions.length === 0
      ? {}
      : { initial_actions: initial.actions.map(({ written }) => written) }),
    ...(history === null ? {} : { history, target: historyTo?.map(({ id }) => id) ?? null }),
    ...(entry.length === 0 ? {} : { entry: entry.map(({ written }) => written) }),
    ...(exit.length === 0 ? {} : { exit: exit.map(({ written }) => written) }),
    ...(edges.length === 0 ? {} : { edges: edges.map(writeEdge) }),
    // In order: regions act in it, and the first state of a list is not the second.
    ...(children.length === 0 ? {} : { states: children.map((child) => [child.name, writeState(child)]) }),
  };
}

function writeEdge({ kind, event, delay, to, guard, actions, reenter }: EdgeDraft): JsonObject {
  return {
    kind,
    ...(event === null ? {} : { event }),
    ...(delay === null ? {} : { delay }),
    to: to === null ? null : to.map(({ id }) => id),
    ...(guard === null ? {} : { guard: writeGuard(guard) }),
    ...(actions.length === 0 ? {} : { actions: actions.map(({ written }) => written) }),
    ...(reenter ? { reenter } : {}),
  };
}

function writeGuard(rule: GuardRule): Json {
  switch (rule.kind) {
    case 'test':
      return rule.written;
    case 'all':
    case 'any':
      return { [rule.kind]: rule.parts.map(writeGuard) };
    case 'not':
      return { not: writeGuard(rule.part) };
    case 'in':
      return { in: rule.state === null ? (rule.value as Json) : `#${rule.state.id}` };
    default:
      return unreachable(rule);
  }
}
