/**
 * Turns XState's state into a snapshot: active states, context, history and timers, as plain JSON. Fails if it is too
 * large or not JSON.
 */
import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode } from 'xstate';
import { canonicalise } from '../../values/canonical.ts';
import { utf8Length, type Json, type JsonObject } from '../../values/json.ts';
import { ownPart } from '../read/author-code.ts';
import type { MachineDraft } from '../read/machine-draft.ts';
import { copyJson, type CopyLimits } from '../read/copy-json.ts';
import type { Moved, Snapshot, WorkflowTimer } from '../workflow.ts';

/** An action that XState hands to its actor; only delays matter here. */
export interface Effect {
  readonly type: string;
  readonly params: unknown;
}

export function settle(
  state: AnyMachineSnapshot,
  before: readonly WorkflowTimer[],
  effects: readonly Effect[],
  nowMs: number,
  limits: RunLimits,
): Moved {
  const isDone = state.status === 'done';
  const value = copyJson(state.value, limits);
  if (!value.ok) return failed('NotJson', 'the state cannot be written down');
  return withinLimits(
    {
      value: value.value,
      context: ownPart('the context', state.context, limits),
      done: isDone,
      history: historyIds(state.historyValue),
      timers: isDone ? [] : timersAfter(before, effects, nowMs),
    },
    limits,
  );
}

/** Freezes the snapshot, if it is not too much to be kept. */
export function withinLimits(snapshot: Snapshot, limits: RunLimits): Moved {
  const { timers } = snapshot;
  if (timers.length > limits.maxTimers) {
    return failed('TooManyTimers', `${timers.length} timers wait; the limit is ${limits.maxTimers}`);
  }
  Object.freeze(timers);
  Object.freeze(snapshot);
  const written = canonicalise(snapshot, { maxDepth: limits.maxDepth + 4 });
  if (!written.ok) return failed('NotJson', `the state is not JSON at '${written.path}': ${written.problem}`);
  const bytes = utf8Length(written.text);
  if (bytes > limits.maxStateBytes) {
    return failed('StateTooLarge', `the state takes ${bytes} bytes; the limit is ${limits.maxStateBytes}`);
  }
  return { kind: 'moved', snapshot };
}

function timersAfter(
  before: readonly WorkflowTimer[],
  effects: readonly Effect[],
  nowMs: number,
): readonly WorkflowTimer[] {
  const byId = new Map(before.map((timer) => [timer.id, timer]));
  for (const { type, params } of effects) {
    const { sendId, id, event, delay } = params as Readonly<Record<string, unknown>>;
    if (type === 'xstate.cancel') byId.delete(String(sendId));
    if (type !== 'xstate.raise' || typeof delay !== 'number') continue;
    const name = typeof id === 'string' ? id : freeName(byId);
    byId.set(name, timerFor(name, event as JsonObject, delay, nowMs));
  }
  return inOrder([...byId.values()]);
}

export function timerFor(id: string, event: JsonObject, delayMs: number, nowMs: number): WorkflowTimer {
  return Object.freeze({ id, event: Object.freeze(event), dueAtMs: nowMs + Math.ceil(delayMs) });
}

/** The first one is due first: it is the one that the store waits for. */
export function inOrder(timers: readonly WorkflowTimer[]): readonly WorkflowTimer[] {
  return timers.toSorted((a, b) => a.dueAtMs - b.dueAtMs || (a.id < b.id ? -1 : 1));
}

/** For a delayed event that its author gave no id. */
function freeName(taken: ReadonlyMap<string, WorkflowTimer>): string {
  let number = 1;
  while (taken.has(`raise.${number}`)) number++;
  return `raise.${number}`;
}

/** History states and what they remember, by path; in document order, so that the same memory is the same text. */
function historyIds(history: Readonly<Record<string, readonly AnyStateNode[]>>): JsonObject {
  const entries = Object.entries(history).map(([id, nodes]) => {
    const ordered = nodes.toSorted((a, b) => a.order - b.order);
    return [id.slice(id.indexOf('.') + 1), Object.freeze(ordered.map((node) => node.path.join('.')))] as const;
  });
  return Object.freeze(Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))) as JsonObject;
}

/** The way back; what does not exist any more is forgotten. */
export function historyNodes(
  machine: AnyStateMachine,
  draft: MachineDraft,
  history: JsonObject,
): Record<string, AnyStateNode[]> {
  const nodeOf = (id: Json) =>
    typeof id === 'string' && draft.byId.has(id) ? machine.getStateNodeById(`#${machine.id}.${id}`) : null;
  const found: Record<string, AnyStateNode[]> = {};
  for (const [id, remembered] of Object.entries(history)) {
    const node = nodeOf(id);
    if (node === null || !Array.isArray(remembered)) continue;
    const nodes = remembered.map(nodeOf).filter((one) => one !== null);
    if (nodes.length > 0) found[node.id] = nodes;
  }
  return found;
}

export interface RunLimits extends CopyLimits {
  /** An `always` that never rests, or an event that raises itself, ends here. */
  readonly maxMicrosteps: number;
  /** The canonical text of a snapshot takes at most this much. */
  readonly maxStateBytes: number;
  readonly maxTimers: number;
}

export function failed(errorType: string, problem: string): Moved {
  return { kind: 'failed', errorType, problem };
}
