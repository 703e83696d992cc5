/**
 * Which parts of a schema can speak when a given part judges a value? Those inside it and those it refers to.
 * Needed because a complaint names the part it comes from, and not the way by which that part was reached.
 */
import { isObject } from '../values/json.ts';
import { stepsOf, valueAt } from './json-pointer.ts';

/** A complaint from further away is only put less well. */
const maxReached = 2_000;

export type Reachable = ReadonlySet<unknown>;

/** Answers for one schema, remembering each answer: the same part may fail for a thousand items. */
export function createReach(root: unknown): (part: unknown) => Reachable {
  const known = new Map<unknown, Reachable>();
  return (part) => {
    let found = known.get(part);
    if (found === undefined) {
      found = collect(part, root);
      known.set(part, found);
    }
    return found;
  };
}

function collect(part: unknown, root: unknown): Reachable {
  const found = new Set<unknown>();
  const open = [part];
  while (open.length > 0 && found.size < maxReached) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || found.has(next)) continue;
    found.add(next);
    open.push(...Object.values(next), referredBy(next, root));
  }
  return found;
}

function referredBy(schema: unknown, root: unknown): unknown {
  const reference = isObject(schema) ? (schema['$ref'] ?? schema['$dynamicRef'] ?? schema['$recursiveRef']) : undefined;
  return typeof reference === 'string' && reference.startsWith('#') ? valueAt(root, pointerIn(reference)) : undefined;
}

/** The schema itself, or what it refers to, as far as references inside the document lead. */
export function followed(schema: unknown, root: unknown): unknown {
  let here = schema;
  for (let hops = 0; hops < 16; hops++) {
    const next = referredBy(here, root);
    if (next === undefined || !isObject(here) || 'type' in here) return here;
    here = next;
  }
  return here;
}

function pointerIn(reference: string): readonly string[] {
  try {
    return stepsOf(decodeURIComponent(reference.slice(1)));
  } catch {
    return [];
  }
}
