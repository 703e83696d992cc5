/**
 * Resolves an XState state value to the active states; null if the value does not fit this machine. Does not look at
 * context or guards.
 */
import type { StateValue } from 'xstate';
import { isObject } from '../values/json.ts';
import type { StateDraft } from './read/machine-draft.ts';

export interface Active {
  readonly states: ReadonlySet<StateDraft>;
  /** The same value with regions in document order: XState lets them act in the order in which it finds them. */
  readonly value: StateValue;
}

/** Null if the value names a state that does not exist, or leaves one out that must be active. */
export function activeStates(root: StateDraft, value: unknown): Active | null {
  const states = new Set<StateDraft>();
  const ordered = collect(root, value, states);
  return ordered === null ? null : { states, value: ordered };
}

function collect(state: StateDraft, value: unknown, into: Set<StateDraft>): StateValue | null {
  into.add(state);
  switch (state.type) {
    case 'compound':
      return collectChild(state, value, into);
    case 'parallel':
      return collectRegions(state, value, into);
    case 'atomic':
    case 'final':
      return isObject(value) && Object.keys(value).length === 0 ? {} : null;
    default:
      // History is never active.
      return null;
  }
}

function collectChild(state: StateDraft, value: unknown, into: Set<StateDraft>): StateValue | null {
  if (typeof value === 'string') {
    const child = state.children.find(({ name }) => name === value);
    if (child?.type !== 'atomic' && child?.type !== 'final') return null;
    into.add(child);
    return value;
  }
  if (!isObject(value)) return null;
  const [name, ...more] = Object.keys(value);
  const child = state.children.find((one) => one.name === name);
  if (name === undefined || more.length > 0 || (child?.type !== 'compound' && child?.type !== 'parallel')) return null;
  const inner = collect(child, value[name], into);
  return inner === null ? null : { [name]: inner };
}

function collectRegions(state: StateDraft, value: unknown, into: Set<StateDraft>): StateValue | null {
  const regions = state.children.filter(({ type }) => type !== 'history');
  if (!isObject(value) || Object.keys(value).length !== regions.length) return null;
  const ordered: Record<string, StateValue> = {};
  for (const region of regions) {
    if (!Object.hasOwn(value, region.name)) return null;
    const inner = collect(region, value[region.name], into);
    if (inner === null) return null;
    ordered[region.name] = inner;
  }
  return ordered;
}

/** Whether the workflow has ended: its root is in a final state, or all regions of its root are. */
export function isFinal(state: StateDraft, active: ReadonlySet<StateDraft>): boolean {
  const children = state.children.filter(({ type }) => type !== 'history');
  if (state.type === 'compound') return children.some((child) => child.type === 'final' && active.has(child));
  if (state.type === 'parallel') return children.every((child) => isFinal(child, active));
  return state.type === 'final';
}
