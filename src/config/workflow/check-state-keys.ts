/** Checks that the keys of a state fit its type: a final state has no transitions, a history state only remembers. */
import type { JsonObject } from '../../core/values/json.ts';
import { nearest } from '../../core/values/nearest.ts';
import type { Tell } from '../problem.ts';
import { isFilled, keyPlaceOf, placeOf } from '../shape/read-shape.ts';
import { mapOf, textOf } from '../yaml/plain-values.ts';
import type { Path } from './workflow-expressions.ts';
import type { Tree } from '../yaml/yaml-tree.ts';

const everySort = ['type', 'description'];
const keysOf: Readonly<Record<string, readonly string[]>> = {
  final: [...everySort, 'entry', 'exit'],
  history: [...everySort, 'history', 'target'],
  parallel: [...everySort, 'states', 'on', 'after', 'always', 'on_done', 'entry', 'exit'],
  compound: [...everySort, 'initial', 'states', 'on', 'after', 'always', 'on_done', 'entry', 'exit'],
  atomic: [...everySort, 'on', 'after', 'always', 'entry', 'exit'],
};

/** `state` has the keys of a state; invalid ones have been reported. */
export function checkStateKeys(state: JsonObject, path: Path, tree: Tree, tell: Tell): void {
  const states = Object.keys(mapOf(state['states']));
  // None of them has a usable name, which has been reported, so the type of the state is unknown.
  if (states.length === 0 && 'states' in state && isFilled(tree, [...path, 'states'])) return;
  const type = textOf(state['type']) ?? (states.length > 0 ? 'compound' : 'atomic');
  for (const key of Object.keys(state)) {
    if (keysOf[type]?.includes(key) === true) continue;
    const sort = type === 'atomic' ? 'a state without states' : `a ${type} state`;
    tell(keyPlaceOf(tree, [...path, key]), `'${key}' has no meaning in ${sort}`, 'leave it out, or change the type');
  }
  if (type === 'parallel' && states.length === 0)
    tell(placeOf(tree, path), 'a parallel state without states', 'add states, or leave type out');
  if (type === 'compound') checkInitial(state, states, path, { tree, tell });
}

function checkInitial(
  state: JsonObject,
  states: readonly string[],
  path: Path,
  { tree, tell }: { readonly tree: Tree; readonly tell: Tell },
): void {
  const initial = textOf(state['initial']);
  if (initial === null) {
    if (!('initial' in state))
      tell(placeOf(tree, [...path, 'states']), `'initial' is missing beside these states`, `add initial: ${states[0]}`);
  } else if (!states.includes(initial)) {
    const near = nearest(initial, states);
    const fix = near === null ? `use one of ${states.join(', ')}` : `did you mean ${near}?`;
    tell(placeOf(tree, [...path, 'initial']), `there is no state '${initial}' in here`, fix);
  }
}
