/** Finds the first part of a value that JSON would change or drop. Must not change the value. */
import { pointerOf } from '../../core/schema/json-pointer.ts';

export interface NotJson {
  readonly path: string;
  readonly what: string;
}

const maxDepth = 256;

/**
 * Null when the value is plain JSON; a field that is undefined counts as absent. May throw if reading the value does.
 */
export function findNotJson(value: unknown, steps: readonly string[] = []): NotJson | null {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? null : { path: pointerOf(steps), what: 'a text with a lone surrogate' };
    case 'boolean':
      return null;
    case 'number':
      return Number.isFinite(value) ? null : { path: pointerOf(steps), what: String(value) };
    case 'object':
      return value === null ? null : findInside(value, steps);
    default:
      return { path: pointerOf(steps), what: typeof value };
  }
}

function findInside(value: object, steps: readonly string[]): NotJson | null {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = Array.isArray(value) || prototype === Object.prototype || prototype === null;
  const rewritesItself = typeof (value as { toJSON?: unknown }).toJSON === 'function';
  if (!isPlain || rewritesItself || steps.length > maxDepth) {
    const name: unknown = value.constructor?.name;
    return { path: pointerOf(steps), what: typeof name === 'string' ? name : 'object' };
  }
  for (const [key, child] of Object.entries(value)) {
    if (child === undefined && !Array.isArray(value)) continue;
    if (!key.isWellFormed()) return { path: pointerOf(steps), what: 'a name with a lone surrogate' };
    const found = findNotJson(child, [...steps, key]);
    if (found !== null) return found;
  }
  return null;
}
