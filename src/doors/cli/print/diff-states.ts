/** Compares two states: every path at which they differ, in order, like the operations of a JSON Patch. Pure. */
import { isObject, type Json } from '../../../core/values/json.ts';
import type { Difference } from './shapes.ts';

/** Members of objects by name, items of lists by place. */
export function diffStates(before: Json, after: Json, path = ''): readonly Difference[] {
  if (Object.is(before, after)) return [];
  const [one, other] = [membersOf(before), membersOf(after)];
  if (one === null || other === null || Array.isArray(before) !== Array.isArray(after))
    return [{ op: 'replace', path, before, after }];
  const names = [...new Set([...one.keys(), ...other.keys()])];
  return names.flatMap((name): readonly Difference[] => {
    const here = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const [was, is] = [one.get(name), other.get(name)];
    if (was === undefined) return is === undefined ? [] : [{ op: 'add', path: here, before: null, after: is }];
    if (is === undefined) return [{ op: 'remove', path: here, before: was, after: null }];
    return diffStates(was, is, here);
  });
}

/** Null for a value without members. */
function membersOf(value: Json): ReadonlyMap<string, Json> | null {
  if (Array.isArray(value)) return new Map((value as readonly Json[]).map((item, at) => [String(at), item]));
  return isObject(value) ? new Map(Object.entries(value as Readonly<Record<string, Json>>)) : null;
}
