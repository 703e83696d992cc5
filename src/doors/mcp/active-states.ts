/**
 * Which states of the drawing are active? Read from the state as the agent is shown it: what the author hides in replies,
 * a drawing must not tell.
 */
import { isObject } from '../../core/values/json.ts';

const maxDepth = 32;

/** The ids of the active states, from the outside in; none if the state is not shown. */
export function activeStates(shown: unknown): readonly string[] {
  return isObject(shown) ? idsOf(shown['value'], '', 0) : [];
}

/** XState writes a name, or an object of names with what is active inside each. */
function idsOf(value: unknown, prefix: string, depth: number): readonly string[] {
  if (typeof value === 'string') return [prefix + value];
  if (!isObject(value) || depth >= maxDepth) return [];
  return Object.entries(value).flatMap(([name, inside]) => [
    prefix + name,
    ...idsOf(inside, `${prefix}${name}.`, depth + 1),
  ]);
}
