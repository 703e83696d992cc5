/** Lists the states that are active, as XState writes them in a snapshot, by the ids that a graph has. */
import { isObject, type Json } from '../../values/json.ts';

/** The ids of all active states, outermost first. */
export function activeIds(value: Json, around = ''): readonly string[] {
  const inside = (name: string) => (around === '' ? name : `${around}.${name}`);
  if (typeof value === 'string') return [inside(value)];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => [inside(name), ...activeIds(each as Json, inside(name))]);
}
