/** A value of JSON as a tree, all of it at one place: what is checked by a shape without being YAML. Null if it is too deep. */
import { isObject } from '../../core/values/json.ts';
import type { Place } from '../problem.ts';
import type { Tree, TreeEntry } from './yaml-tree.ts';

export function treeOfJson(value: unknown, at: Place, maxDepth: number): Tree | null {
  const inside = () => at;
  if (value === null || typeof value === 'string' || typeof value === 'boolean')
    return { kind: 'scalar', at, value, inside };
  if (typeof value === 'number') return Number.isFinite(value) ? { kind: 'scalar', at, value, inside } : null;
  if (maxDepth === 0 || typeof value !== 'object') return null;
  if (Array.isArray(value)) {
    const items = value.map((each) => treeOfJson(each, at, maxDepth - 1));
    return items.includes(null) ? null : { kind: 'list', at, items: items as Tree[] };
  }
  const entries = new Map<string, TreeEntry>();
  for (const [key, each] of Object.entries(isObject(value) ? value : {})) {
    const tree = treeOfJson(each, at, maxDepth - 1);
    if (tree === null) return null;
    entries.set(key, { keyAt: at, value: tree });
  }
  return { kind: 'map', at, entries };
}
