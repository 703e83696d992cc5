/** Which state does a target of a YAML workflow mean? One beside the state it leaves, one inside it (`.child`), or one from the root. */
import type { Json, JsonObject } from '../../core/values/json.ts';
import { nearest } from '../../core/values/nearest.ts';
import { mapOf } from '../yaml/plain-values.ts';

export type FoundTarget = { readonly ok: true; readonly target: string } | { readonly ok: false; readonly fix: string };

/** `route` leads from the root to the state that is left; the target comes back as XState writes it. */
export function findTarget(target: string, route: readonly string[], workflow: string, root: JsonObject): FoundTarget {
  const inside = target.startsWith('.');
  const steps = (inside ? target.slice(1) : target).split('.');
  if (inside) return stateAt([...route, ...steps], root) === null ? unknown(target, route, root) : { ok: true, target };
  if (route.length > 0 && stateAt([...route.slice(0, -1), ...steps], root) !== null) return { ok: true, target };
  if (stateAt(steps, root) === null) return unknown(target, route, root);
  return { ok: true, target: route.length === 0 ? `.${target}` : `#${workflow}.${target}` };
}

function unknown(target: string, route: readonly string[], root: JsonObject): FoundTarget {
  const beside = Object.keys(mapOf(stateAt(route.slice(0, -1), root)?.['states']));
  const inside = Object.keys(mapOf(stateAt(route, root)?.['states'])).map((name) => `.${name}`);
  const known = [...new Set([...beside, ...inside, ...Object.keys(mapOf(root['states']))])];
  const near = nearest(target, known);
  return { ok: false, fix: near === null ? `use one of ${known.join(', ')}` : `did you mean ${near}?` };
}

function stateAt(route: readonly string[], root: JsonObject): JsonObject | null {
  let here: JsonObject = root;
  for (const step of route) {
    const states: JsonObject = mapOf(here['states']);
    const next: Json | undefined = Object.hasOwn(states, step) ? states[step] : undefined;
    if (next === undefined) return null;
    here = mapOf(next);
  }
  return here;
}
