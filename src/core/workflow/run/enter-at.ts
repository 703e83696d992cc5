/**
 * Places a session at a state without taking an edge, after a migration or a changed workflow. Keeps history and sets
 * the timers of the states; runs no entry, exit or `always`.
 */
import type { Json, JsonObject } from '../../values/json.ts';
import { invariant } from '../../values/unreachable.ts';
import { AuthorFault, messageOf, ownPart } from '../read/author-code.ts';
import { checkSnapshot, delaysAt } from './check-snapshot.ts';
import type { DelayRule, MachineDraft } from '../read/machine-draft.ts';
import { failed, type RunLimits, inOrder, timerFor, withinLimits } from './settle-snapshot.ts';
import { copyJson } from '../read/copy-json.ts';
import type { Earlier, Moved, Position, WorkflowTimer } from '../workflow.ts';

/** No event leads there. A delay that looks for one finds what it finds when a session begins. */
const noEvent = Object.freeze({ type: 'xstate.init' });

/** The machine that is entered: as read, and as its manifest writes it. */
interface Entered {
  readonly draft: MachineDraft;
  readonly written: Json;
  readonly limits: RunLimits;
}

/** Never throws. */
export function enterAt(entered: Entered, earlier: Earlier, to: Position, nowMs: number): Moved {
  const { draft, limits } = entered;
  try {
    const { done, history, timers } = earlier.snapshot;
    const raised = raisedIn(timers);
    const problem = checkSnapshot(draft, { value: to.value, context: to.context, done, history, timers: raised });
    if (problem !== null) return failed('UnknownState', problem);
    const value = copyJson(to.value, limits);
    if (!value.ok) return failed('NotJson', 'the state cannot be written down');
    const at: Position = { value: value.value, context: ownPart('the context', to.context, limits) };
    const ofStates = done ? [] : timersOfStates(entered, earlier, at, nowMs);
    return withinLimits({ ...at, done, history, timers: inOrder([...raised, ...ofStates]) }, limits);
  } catch (thrown) {
    if (thrown instanceof AuthorFault) return failed(thrown.errorType, `${thrown.what}: ${thrown.message}`);
    return failed('MachineError', messageOf(thrown));
  }
}

/** A delayed event that an action raised belongs to no state: XState, too, lets it wait when its state is left. */
function raisedIn(timers: readonly WorkflowTimer[]): readonly WorkflowTimer[] {
  if (!Array.isArray(timers)) return timers;
  return timers.filter((timer: WorkflowTimer | null) => !String(timer?.event?.['type']).startsWith('xstate.after.'));
}

function timersOfStates(
  { draft, written }: Entered,
  { snapshot, machine }: Earlier,
  { value, context }: Position,
  nowMs: number,
): readonly WorkflowTimer[] {
  const before = delaysAt(machine, snapshot.value);
  return [...delaysAt(written, value)].flatMap(([id, { delay, says }]) => {
    if (before.get(id)?.says !== says) return timerFor(id, { type: id }, msOf(draft, delay, context), nowMs);
    // INVARIANT: a delay that ran before goes on as it was; one that does not wait any more has fired, and does so
    // once.
    return snapshot.timers.filter((timer) => timer.id === id);
  });
}

function msOf({ delays }: MachineDraft, delay: number | string, context: JsonObject): number {
  const rule: DelayRule | undefined = typeof delay === 'number' ? delay : delays.get(delay);
  invariant(rule !== undefined, `delay '${delay}' of the machine was read`);
  return typeof rule === 'number' ? rule : rule(context, noEvent);
}
