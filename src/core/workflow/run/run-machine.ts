/**
 * Moves a session by one macrostep of XState: start, step or timer. Returns the next snapshot, or the failure of
 * author code. Does not check whether the step is legal; judge-reach.ts does.
 */
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { Json, JsonObject } from '../../values/json.ts';
import { activeStates } from '../active-states.ts';
import { AuthorFault, faultOf, messageOf, ownPart } from '../read/author-code.ts';
import { buildMachine } from './build-machine.ts';
import { probeWith, type Probe } from '../read/inputs-trap.ts';
import { judgeTest } from './judge-guard.ts';
import type { MachineDraft } from '../read/machine-draft.ts';
import { failed, type RunLimits, historyNodes, settle, type Effect } from './settle-snapshot.ts';
import { copyJson, type CopyLimits } from '../read/copy-json.ts';
import type { Machine, Moved, OutcomeEvent, Snapshot, WorkflowTimer } from '../workflow.ts';

/** What an action changes in the context, beside what its edges do. */
export type Update = (step: { readonly context: JsonObject; readonly inputs: Json; readonly result: Json }) => unknown;

/** What the machine hears: an action that succeeded, or how its step ended otherwise. */
interface Heard {
  readonly type: string;
  readonly inputs: Json;
  readonly result?: Json;
  readonly error?: Json;
}

/** The step that is being taken; there is never more than one at a time. */
interface Step {
  readonly event: Heard;
  /** Null where its guards may see all of the event. */
  readonly probe: Probe | null;
  isTaken: boolean;
}

const stays = Object.freeze({ kind: 'stays' } as const);

/** Inputs and results were limited before they came here. */
const generous: CopyLimits = { maxDepth: 256, maxChars: Number.MAX_SAFE_INTEGER };

export function runMachine(
  draft: MachineDraft,
  updates: ReadonlyMap<string, Update | null>,
  contextOf: (snapshot: Snapshot) => JsonObject | null,
  limits: RunLimits,
  isOutcome: (event: string) => boolean,
): Pick<Machine, 'start' | 'apply' | 'react' | 'fire'> {
  let fault: AuthorFault | null = null;
  let current: Step | null = null;
  const machine: AnyStateMachine = buildMachine(
    draft,
    (event) => updates.has(event) || isOutcome(event),
    limits.maxMicrosteps,
    {
      run(code) {
        try {
          return code();
        } catch (thrown) {
          fault ??= faultOf('the machine', thrown);
          throw thrown;
        }
      },
      took(context, event) {
        const step = current;
        // An event of the same name that the machine raised by itself, or the same step in a second region.
        if (step?.event !== event || step.isTaken) return {};
        step.isTaken = true;
        const update = updates.get(step.event.type);
        return update ? runUpdate(step, update, context) : {};
      },
      holds(rule, context, event) {
        if (current?.event !== event || current.probe === null) return rule.holds(context, event);
        const verdict = judgeTest(rule.name, rule.holds, context, current.probe);
        if (verdict instanceof AuthorFault) throw verdict;
        return verdict === 'yes';
      },
    },
  );

  function runUpdate(step: Step, update: Update, context: JsonObject): JsonObject {
    try {
      return updated(step.event, update, context, limits);
    } catch (thrown) {
      fault ??= faultOf(`update of '${step.event.type}'`, thrown);
      throw thrown;
    }
  }

  /** `move` does what XState has to do; everything that goes wrong in it becomes a failure. */
  function attempt(
    step: Step | null,
    before: readonly WorkflowTimer[],
    nowMs: number,
    move: (scope: never) => AnyMachineSnapshot,
    check: () => Moved | null,
  ): Moved {
    fault = null;
    current = step;
    const effects: Effect[] = [];
    try {
      const state = move(inertScope(effects));
      if (state.status === 'error') return failedBy(fault, state.error, limits);
      return check() ?? impossible(draft, state) ?? settle(state, before, effects, nowMs, limits);
    } catch (thrown) {
      return failedBy(fault, thrown, limits);
    } finally {
      current = null;
    }
  }

  const into: Restoring = { draft, machine, contextOf };

  return {
    start: (nowMs) => attempt(null, [], nowMs, (scope) => machine.getInitialSnapshot(scope, undefined), never),
    apply(snapshot, action, inputs, result, nowMs, shown = inputs) {
      const state = restored(into, snapshot);
      if ('kind' in state) return state;
      const step = stepOf({ type: action, inputs, result }, shown);
      if ('kind' in step) return step;
      return attempt(
        step,
        snapshot.timers,
        nowMs,
        (scope) => machine.transition(state, step.event as never, scope),
        () => (step.isTaken ? null : failed('NotTaken', `no edge of '${action}' was taken: a guard changed its mind`)),
      );
    },
    react(snapshot, heard, nowMs) {
      if (snapshot.done) return stays;
      const state = restored(into, snapshot);
      if ('kind' in state) return state;
      const step = outcomeStep(heard);
      if ('kind' in step) return step;
      const moved = attempt(
        step,
        snapshot.timers,
        nowMs,
        (scope) => machine.transition(state, step.event as never, scope),
        never,
      );
      return moved.kind === 'failed' || step.isTaken ? moved : stays;
    },
    /**
     * A timer that the snapshot does not hold was cancelled in the meantime: nothing moves, and the same snapshot comes
     * back.
     */
    fire(snapshot, timer, nowMs) {
      const isDue = (one: WorkflowTimer) => one.id === timer.id && one.dueAtMs === timer.dueAtMs;
      const found = snapshot.timers.find(isDue);
      if (found === undefined || snapshot.done) return { kind: 'moved', snapshot };
      const state = restored(into, snapshot);
      if ('kind' in state) return state;
      const event = copyJson(found.event, generous);
      if (!event.ok) return failed('NotJson', `the event of timer '${timer.id}' is not JSON`);
      const others = snapshot.timers.filter((one) => !isDue(one));
      return attempt(null, others, nowMs, (scope) => machine.transition(state, event.value as never, scope), never);
    },
  };
}

function updated({ type, inputs, result = null }: Heard, update: Update, context: JsonObject, limits: RunLimits) {
  const part = update(Object.freeze({ context, inputs, result }));
  return part === undefined ? {} : ownPart(`update of '${type}'`, part, limits);
}

const never = (): null => null;

/** An action that succeeded; its guards are asked about the inputs as they came. */
function stepOf(heard: Required<Omit<Heard, 'error'>>, shown: Json): Step | Moved {
  const { type, inputs, result } = heard;
  const ownInputs = copyJson(inputs, generous);
  const ownShown = shown === inputs ? ownInputs : copyJson(shown, generous);
  const ownResult = copyJson(result, generous);
  if (!ownInputs.ok || !ownShown.ok || !ownResult.ok)
    return failed('NotJson', `inputs or result of '${type}' are not JSON`);
  const event = Object.freeze({ type, inputs: ownShown.value, result: ownResult.value });
  return { event, probe: probeWith(type, ownInputs.value), isTaken: false };
}

function outcomeStep(heard: OutcomeEvent): Step | Moved {
  const own = copyJson(heard as unknown as Json, generous);
  if (!own.ok) return failed('NotJson', `the outcome '${heard.type}' is not JSON`);
  return { event: own.value as unknown as Heard, probe: null, isTaken: false };
}

/** XState follows edges that lead to states which exclude each other; nothing could be done where they end. */
function impossible(draft: MachineDraft, { value, _nodes: nodes }: AnyMachineSnapshot): Moved | null {
  const active = activeStates(draft.root, value);
  // INVARIANT: what is kept is the whole of what is active.
  if (active !== null && active.states.size === nodes.length) return null;
  const leaves = nodes.filter((node) => !nodes.some((other) => other.parent === node));
  const names = leaves.map((node) => `'${node.path.join('.')}'`);
  return failed('ImpossibleState', `its edges lead to states that cannot be active together: ${names.join(', ')}`);
}

/** A machine to restore snapshots into. */
interface Restoring {
  readonly draft: MachineDraft;
  readonly machine: AnyStateMachine;
  readonly contextOf: (snapshot: Snapshot) => JsonObject | null;
}

/** What was stored may be anything: XState would throw at what it does not know. */
function restored(into: Restoring, snapshot: Snapshot): AnyMachineSnapshot | Moved {
  try {
    return restore(into, snapshot);
  } catch (thrown) {
    return failed('UnknownState', `the session cannot be restored: ${messageOf(thrown)}`);
  }
}

function restore({ draft, machine, contextOf }: Restoring, snapshot: Snapshot): AnyMachineSnapshot | Moved {
  const active = activeStates(draft.root, snapshot.value);
  const context = contextOf(snapshot);
  if (active === null || context === null) {
    return failed('UnknownState', 'the session stands where this workflow has no state; migrate or reset it');
  }
  if (snapshot.done) return failed('Done', 'the workflow has ended');
  const historyValue = historyNodes(machine, draft, snapshot.history);
  return machine.resolveState({ value: active.value, context, historyValue } as never);
}

/** What XState asks of the actor that it believes to run in: nothing happens there but that we hear of delays. */
function inertScope(effects: Effect[]): never {
  const scope = {
    self: undefined,
    id: '',
    sessionId: '',
    logger: () => undefined,
    defer: () => undefined,
    emit: () => undefined,
    stopChild: () => undefined,
    system: { _sendInspectionEvent: () => undefined },
    actionExecutor: ({ type, params }: Effect) => void effects.push({ type, params }),
  };
  return scope as never;
}

function failedBy(fault: AuthorFault | null, thrown: unknown, limits: RunLimits): Moved {
  const known = fault ?? (thrown instanceof AuthorFault ? thrown : null);
  if (known !== null) return failed(known.errorType, `${known.what}: ${known.message}`);
  const message = messageOf(thrown);
  if (message.startsWith('Infinite loop')) {
    return failed('EndlessLoop', `it did not come to rest within ${limits.maxMicrosteps} microsteps`);
  }
  return failed('MachineError', message);
}
